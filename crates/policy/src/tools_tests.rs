use proptest::prelude::*;

use super::*;
use crate::{
    RootGrant,
    testing::{Bench, definition, root, root_grant, shown, task, why},
};

fn mode(mode: Mode) -> Grant {
    Grant::root(RootGrant {
        mode,
        ..root_grant()
    })
}

/// C04.
#[test]
fn every_spelling_gives_the_same_tools_in_one_order() {
    let bench = Bench::new(
        "",
        &[
            ("a", "tools: write, read ,bash,"),
            ("b", "tools: [bash, READ, write, read]"),
            ("c", "tools:\n  - shell\n  - write\n  - read"),
        ],
    );
    for name in ["a", "b", "c"] {
        assert_eq!(
            bench.policy(name).tools(),
            ["read", "write", "bash", "yield"],
            "{name}"
        );
    }
}

/// C05.
#[test]
fn absent_empty_and_unknown_tools() {
    let bench = Bench::new(
        "",
        &[
            ("inherit", ""),
            ("none", "tools: []"),
            ("nul", "tools:"),
            ("typo", "tools: [read, raed, grpe]"),
            ("lost", "tools: [serch, wrte]"),
            ("odd", "tools: [xyzzy]"),
            ("scoped", "tools: [read, 'bash(git log:*)']"),
            ("later", "tools: [lsp, mcp__a__b]"),
            ("empty-lead", "tools: []\nspawns: '*'"),
        ],
    );
    let tools = |name: &str| bench.policy(name).tools();
    assert_eq!(
        tools("inherit"),
        [
            "read", "grep", "glob", "write", "edit", "bash", "todo", "yield"
        ]
    );
    assert_eq!(tools("none"), ["yield"]);
    assert_eq!(tools("nul"), ["yield"]);
    assert_eq!(tools("typo"), ["read", "yield"]);
    assert_eq!(tools("later"), ["yield"]);
    assert_eq!(tools("empty-lead"), ["yield"]);
    assert_eq!(*bench.policy("empty-lead").spawns(), SpawnRule::None);
    insta::assert_snapshot!(bench.policy("typo").warnings().join("\n"), @"
    agents/typo.md:4: `raed` is no tool; it is left out (did you mean `read`?)
    agents/typo.md:4: `grpe` is no tool; it is left out (did you mean `grep`?)
    ");
    insta::assert_snapshot!(bench.policy("nul").warnings().join("\n"), @"agents/nul.md:4: `tools` has no value, so this agent has no tool but `yield` (write `tools: []` to say so, or remove the key for every tool that the caller may give)");
    insta::assert_snapshot!(why(&bench.policy("later"), "withheld"), @r#"
    "lsp": not built yet (agents/later.md:4)
    "mcp__a__b": not built yet (agents/later.md:4)
    "#);
    let refused = |name: &str| bench.refused(&root(), &task(name));
    insta::assert_snapshot!(refused("lost"), @"agents/lost.md:4: `lost` lists no tool that exists: `serch`, `wrte` (did you mean `write`?)");
    insta::assert_snapshot!(refused("odd"), @"agents/odd.md:4: `odd` lists no tool that exists: `xyzzy` (write `tools: []` for an agent without tools)");
    insta::assert_snapshot!(refused("scoped"), @"agents/scoped.md:4: `scoped` lists `bash(git log:*)`, and patterns are not enforced yet (name the tool without a pattern to give it whole, or remove it)");
}

/// C09 a and c: the tool and the rule go together, and both end at the depth cap.
#[test]
fn the_task_tool_is_gated_by_the_file_and_by_depth() {
    let files = [
        ("boss", "tools: [read, task]\nspawns: [boss, leaf]"),
        ("leaf", ""),
        ("lead", "tools: [read]\nspawns: leaf"),
    ];
    let bench = Bench::new("task: {maxRecursionDepth: 2}", &files);
    let boss = bench.policy("boss");
    assert_eq!(boss.tools(), ["read", "task", "yield"]);
    assert_eq!(bench.policy("lead").tools(), ["read", "task", "yield"]);
    assert_eq!(boss.blocked_agent(), None);
    let leaf = bench.resolve(&boss.grant(), &task("leaf")).unwrap();
    assert!(!leaf.tools().contains(&"task"));
    assert_eq!(*leaf.spawns(), SpawnRule::None);
    assert_eq!(leaf.blocked_agent(), Some("leaf"));

    let deepest = bench.resolve(&boss.grant(), &task("boss")).unwrap();
    assert_eq!(deepest.tools(), ["read", "yield"]);
    insta::assert_snapshot!(why(&deepest, "withheld"), @r#""task": it is at depth 2, and `task.maxRecursionDepth` ends there (USER/config.yml:1)"#);
    let shallow = Bench::new("", &files);
    let middle = shallow
        .resolve(&shallow.policy("boss").grant(), &task("boss"))
        .unwrap();
    insta::assert_snapshot!(why(&middle, "withheld"), @r#""task": it is at depth 2, and `task.maxRecursionDepth` ends there"#);

    let endless = Bench::new("task: {maxRecursionDepth: -1}", &files);
    let mut grant = root();
    for _ in 0..20 {
        let boss = endless.resolve(&grant, &task("boss")).unwrap();
        assert!(boss.tools().contains(&"task"));
        grant = boss.grant();
    }
}

/// C10: a mode binds everybody below; a narrow coordinator does not.
#[test]
fn a_read_only_run_reaches_grandchildren() {
    let bench = Bench::new(
        "",
        &[
            ("mid", "tools: [read, task]\nspawns: '*'"),
            ("pen", "tools: [read, write, bash]"),
        ],
    );
    let mid = bench.resolve(&mode(Mode::ReadOnly), &task("mid")).unwrap();
    assert_eq!(mid.tools(), ["read", "task", "yield"]);
    let pen = bench.resolve(&mid.grant(), &task("pen")).unwrap();
    assert_eq!(pen.tools(), ["read", "yield"]);
    assert!(pen.is_read_only());
    insta::assert_snapshot!(why(&pen, "tools.asked"), @r#"["read","write","bash"]: `tools` of the agent (agents/pen.md:4)"#);
    insta::assert_snapshot!(why(&pen, "withheld"), @r#"
    "write": this run is read-only
    "bash": this run is read-only; until there is a sandbox, `bash` could write
    "#);
    insta::assert_snapshot!(pen.warnings().join("\n"), @"without `write`, `bash`, which its list names: this run is read-only");

    let mid = bench.resolve(&mode(Mode::Normal), &task("mid")).unwrap();
    let pen = bench.resolve(&mid.grant(), &task("pen")).unwrap();
    assert_eq!(pen.tools(), ["read", "write", "bash", "yield"]);
}

#[test]
fn what_a_file_marks_as_a_ceiling_binds_below_and_a_plain_list_does_not() {
    let bench = Bench::new(
        "task: {maxRecursionDepth: 4}",
        &[
            (
                "cap",
                "tools: [read, bash, task]\nspawns: '*'\nceiling: true",
            ),
            ("looker", "read-only: true\nspawns: '*'"),
            ("list", "tools: read\nspawns: '*'"),
            ("pen", "tools: [read, write, bash]"),
        ],
    );
    let below = |name: &str| {
        let parent = bench.policy(name);
        bench.resolve(&parent.grant(), &task("pen")).unwrap()
    };
    assert_eq!(below("cap").tools(), ["read", "bash", "yield"]);
    insta::assert_snapshot!(why(&below("cap"), "withheld"), @r#""write": `ceiling` of the agent (agents/cap.md:6)"#);
    assert_eq!(below("looker").tools(), ["read", "yield"]);
    insta::assert_snapshot!(why(&below("looker"), "withheld"), @r#"
    "write": `read-only` of the agent (agents/looker.md:4)
    "bash": `read-only` of the agent; until there is a sandbox, `bash` could write (agents/looker.md:4)
    "#);
    assert_eq!(below("list").tools(), ["read", "write", "bash", "yield"]);
    assert_eq!(
        bench.policy("looker").tools(),
        ["read", "grep", "glob", "todo", "task", "yield"]
    );
    assert!(bench.policy("list").is_read_only());
}

#[test]
fn a_planning_parent_hands_down_reading_alone() {
    let bench = Bench::new("", &[("worker", "spawns: '*'"), ("shell", "tools: bash")]);
    let worker = bench.resolve(&mode(Mode::Plan), &task("worker")).unwrap();
    assert_eq!(worker.tools(), ["read", "grep", "glob", "yield"]);
    assert_eq!(*worker.spawns(), SpawnRule::None);
    let shell = bench.resolve(&mode(Mode::Plan), &task("shell")).unwrap();
    assert_eq!(shell.tools(), ["yield"]);
    insta::assert_snapshot!(shell.warnings().join("\n"), @"without `bash`, which its list names: this run is in plan mode");
}

#[test]
fn a_request_may_only_narrow() {
    let bench = Bench::new("", &[("lead", "tools: [read, bash]\nspawns: '*'")]);
    let asked = |tools: &[&str]| {
        let mut request = task("lead");
        request.tools = Some(tools.iter().map(|&tool| tool.to_owned()).collect());
        bench.resolve(&root(), &request)
    };
    let policy = asked(&["Read", "write"]).unwrap();
    assert_eq!(policy.tools(), ["read", "yield"]);
    assert_eq!(*policy.spawns(), SpawnRule::None);
    insta::assert_snapshot!(policy.warnings().join("\n"), @"without `write`, which the task asks for and the agent does not have");
    assert_eq!(asked(&[]).unwrap().tools(), ["yield"]);
    let refused = |tools: &[&str]| shown(&asked(tools).unwrap_err());
    insta::assert_snapshot!(refused(&["raed", "zzzzzz", "bash(ls)"]), @"
    the task lists `raed`, which is no tool (did you mean `read`?)
    the task lists `zzzzzz`, which is no tool (leave `tools` out for all that the agent has)
    the task lists `bash(ls)`, and patterns are not enforced yet (name the tool without a pattern to give it whole, or leave it out)
    ");
}

fn any_mode() -> impl Strategy<Value = Mode> {
    prop::sample::select(vec![Mode::Normal, Mode::Plan, Mode::ReadOnly])
}

fn any_tools() -> impl Strategy<Value = String> {
    let names: Vec<_> = TOOLS
        .iter()
        .map(|tool| tool.name)
        .chain(["nonsense"])
        .collect();
    prop_oneof![
        Just(String::new()),
        Just("tools:\n".to_owned()),
        prop::sample::subsequence(names, 0..6)
            .prop_map(|names| format!("tools: [{}]\n", names.join(", "))),
    ]
}

fn any_header() -> impl Strategy<Value = String> {
    let spawns = prop::sample::select(vec![
        "",
        "spawns: '*'\n",
        "spawns: [a, b]\n",
        "spawns: ''\n",
    ]);
    let flags = prop::sample::select(vec![
        "",
        "read-only: true\n",
        "read-only: false\n",
        "ceiling: true\n",
    ]);
    (any_tools(), spawns, flags)
        .prop_map(|(tools, spawns, flags)| format!("{tools}{spawns}{flags}"))
}

proptest! {
    #[test]
    fn no_policy_leaves_its_grant_and_no_grant_widens(
        headers in prop::collection::vec(any_header(), 1..5),
        narrowed in prop::option::of(prop::sample::subsequence(vec!["read", "bash", "task"], 0..3)),
        mode in any_mode(),
    ) {
        use std::sync::LazyLock;

        static BENCH: LazyLock<Bench> =
            LazyLock::new(|| Bench::new("task: {maxRecursionDepth: 3}", &[]));
        let mut grant = Grant::root(RootGrant { mode, ..root_grant() });
        for (place, header) in headers.iter().enumerate() {
            let name = ["a", "b"][place % 2];
            let mut agents = BENCH.agents.clone();
            agents.add(definition(name, header));
            let world = World { agents: &agents, ..BENCH.world() };
            let mut request = task(name);
            request.tools = narrowed
                .as_ref()
                .map(|tools| tools.iter().map(|&tool| tool.to_owned()).collect());
            let Ok(policy) = crate::resolve(&world, &grant, &request) else {
                break;
            };
            prop_assert!(policy.is_within(&grant), "{policy:?} {grant:?}");
            let below = policy.grant();
            prop_assert!(below.ceiling().is_within(grant.ceiling()));
            prop_assert_eq!(below.depth(), grant.depth() + 1);
            prop_assert!(policy.depth() <= 3);
            grant = below;
        }
    }
}
