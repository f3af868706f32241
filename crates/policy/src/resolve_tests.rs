use sortie_protocol::{Mode, SpawnRule};

use super::*;
use crate::{
    RootGrant,
    testing::{Bench, root, root_grant, task, why},
};

fn spawning(spawns: SpawnRule) -> Grant {
    Grant::root(RootGrant {
        spawns,
        ..root_grant()
    })
}

#[test]
fn a_task_without_an_agent_goes_to_the_default_of_the_rule() {
    let bench = Bench::new("", &[]);
    let default = |spawns| {
        let request = TaskRequest {
            agent: Some("  ".into()),
            ..task("")
        };
        bench
            .resolve(&spawning(spawns), &request)
            .unwrap()
            .agent_name()
            .to_owned()
    };
    assert_eq!(default(SpawnRule::Any), "task");
    assert_eq!(
        default(SpawnRule::Only(vec!["sonic".into(), "scout".into()])),
        "sonic"
    );
}

#[test]
fn who_may_not_be_started_is_refused() {
    let bench = Bench::new("task: {disabledAgents: [sonic]}", &[]);
    let refused = |grant: &Grant, agent: &str| bench.refused(grant, &task(agent));
    insta::assert_snapshot!(refused(&root(), "scot"), @"there is no agent `scot` (did you mean `scout`? there are `scout`, `reviewer`, `security-reviewer`, `designer`, `librarian`, `task`)");
    insta::assert_snapshot!(refused(&root(), "quite-unlike"), @"there is no agent `quite-unlike` (there are `scout`, `reviewer`, `security-reviewer`, `designer`, `librarian`, `task`)");
    insta::assert_snapshot!(refused(&root(), "sonic"), @"`sonic` is disabled by `task.disabledAgents` (USER/config.yml:1) (choose another agent, or take it off that list)");
    insta::assert_snapshot!(refused(&spawning(SpawnRule::None), "scout"), @"`scout` may not be started: nobody may be started here (do this part yourself)");
    insta::assert_snapshot!(refused(&spawning(SpawnRule::Only(vec!["task".into()])), "scout"), @"`scout` is none of the agents that may be started here (these may: `task`)");
    let blocked = Grant::root(RootGrant {
        blocked: Some("scout".into()),
        ..root_grant()
    });
    insta::assert_snapshot!(refused(&blocked, "scout"), @"`scout` may not start another `scout` (do this part yourself, or hand it to another agent)");
}

/// C09 a and b.
#[test]
fn depth_is_refused_with_the_limit() {
    let boss = [
        ("boss", "tools: [read, task]\nspawns: [boss, leaf]"),
        ("leaf", ""),
    ];
    let none = Bench::new("task: {maxRecursionDepth: 0}", &boss);
    insta::assert_snapshot!(none.refused(&root(), &task("leaf")), @"`leaf` would be at depth 1, and `task.maxRecursionDepth` is 0 (raise the setting; 1 lets a run dispatch tasks that dispatch none)");
    let one = Bench::new("task: {maxRecursionDepth: 1}", &boss);
    let grant = one.policy("boss").grant();
    insta::assert_snapshot!(one.refused(&grant, &task("leaf")), @"`leaf` would be at depth 2, and `task.maxRecursionDepth` is 1 (do this part yourself)");
}

/// C03: an agent that exists but is invalid is not unknown.
#[test]
fn an_invalid_file_is_named_with_its_reason() {
    let dir = tempfile::tempdir().unwrap();
    let agents = dir.path().join(".sortie/agents");
    std::fs::create_dir_all(&agents).unwrap();
    std::fs::write(
        agents.join("verse.md"),
        "---\nname: poet\ntools: [read\n---\nx\n",
    )
    .unwrap();
    let mut bench = Bench::new("", &[]);
    let mut places = bench.config.places.clone();
    places.project_root = dir.path().to_owned();
    places.project_dirs = vec![dir.path().join(".sortie")];
    bench.agents = sortie_discovery::Catalog::discover(&places);
    let refused = bench.refused(&root(), &task("poet"));
    insta::assert_snapshot!(refused.replace(&format!("{}/", dir.path().display()), ""), @".sortie/agents/verse.md:3: `poet` exists but is invalid: unclosed bracket '['");
}

#[test]
fn every_fault_is_told_at_once() {
    let bench = Bench::new(
        "task: {disabledAgents: [bad]}",
        &[("bad", "tools: [raed]\nmodel: mock/nothing")],
    );
    let mut request = task("bad");
    request.output_schema = Some(serde_json::json!([]));
    request.isolated = Some(true);
    request.effort = Some(EffortHint::Hi);
    request.tools = Some(vec!["wirte".into()]);
    let grant = Grant::root(RootGrant {
        spawns: SpawnRule::None,
        blocked: Some("bad".into()),
        ..root_grant()
    });
    let refused = bench.refused(&grant, &request);
    insta::assert_snapshot!(refused, @"
    `bad` may not start another `bad` (do this part yourself, or hand it to another agent)
    `bad` may not be started: nobody may be started here (do this part yourself)
    `bad` is disabled by `task.disabledAgents` (USER/config.yml:1) (choose another agent, or take it off that list)
    agents/bad.md:4: `bad` lists no tool that exists: `raed` (did you mean `read`?)
    the task lists `wirte`, which is no tool (did you mean `write`?)
    `outputSchema` is no schema: a schema is an object, `true` or `false`; this is an array
    `isolated`: isolated tasks are not built yet (leave `isolated` out, and keep tasks of one batch to different files)
    `effort` of a task is closed: `task.enableEffort` is off (turn the setting on, or leave `effort` out)
    agents/bad.md:5: `bad` cannot use its model `mock/nothing`: it is in no catalogue (choose another model, or end the list with `@parent` to fall back on the caller's)
    ");
}

#[test]
fn every_part_has_its_reason() {
    let bench = Bench::new(
        "task: {budget: {requests: 7}, idleMs: 1000}",
        &[("it", "read-summarize: false\nspawns: it")],
    );
    let policy = bench.policy("it");
    let all: Vec<_> = policy.explain().iter().map(|reason| reason.field).collect();
    insta::assert_snapshot!(all.join(" "), @"agent depth tools.asked spawns.asked tools spawns mode schema model effort task.softRequestBudget task.budget.requests task.firstActivityMs task.idleMs read.summarize blockedAgent");
    for field in all {
        assert!(!why(&policy, field).is_empty());
    }
    insta::assert_snapshot!(why(&policy, "task.idleMs"), @"1000: `task.idleMs` (USER/config.yml:1)");
    insta::assert_snapshot!(why(&policy, "task.firstActivityMs"), @"120000: `task.firstActivityMs` is not set");
    insta::assert_snapshot!(why(&policy, "read.summarize"), @"false: `read-summarize` of the agent (agents/it.md:4)");
    insta::assert_snapshot!(why(&policy, "spawns.asked"), @r#""it": `spawns` of the agent (agents/it.md:5)"#);
    let row = serde_json::to_value(&policy.explain()[0]).unwrap();
    assert_eq!(
        row,
        serde_json::json!({"field": "agent", "value": "it", "why": {"text": "the task names it"}})
    );
}

#[test]
fn the_environment_says_where_a_child_stands() {
    let bench = Bench::new(
        "",
        &[
            ("self", "spawns: [self, scout]"),
            ("any", "spawns: '*'"),
            ("leaf", ""),
        ],
    );
    let environment = |name: &str| {
        let pairs: Vec<_> = bench
            .policy(name)
            .environment()
            .into_iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        pairs.join(" ")
    };
    assert_eq!(
        environment("self"),
        "SORTIE_DEPTH=1 SORTIE_SPAWNS=self,scout"
    );
    assert_eq!(environment("any"), "SORTIE_DEPTH=1 SORTIE_SPAWNS=*");
    assert_eq!(
        environment("leaf"),
        "SORTIE_DEPTH=1 SORTIE_SPAWNS= PI_BLOCKED_AGENT=leaf"
    );
    assert_eq!(
        environment("reviewer"),
        "SORTIE_DEPTH=1 SORTIE_SPAWNS=scout PI_BLOCKED_AGENT=reviewer"
    );
}

#[test]
fn a_planning_parent_is_read_only_too() {
    let bench = Bench::new("", &[]);
    let grant = Grant::root(RootGrant {
        mode: Mode::Plan,
        ..root_grant()
    });
    assert!(bench.resolve(&grant, &task("task")).unwrap().is_read_only());
    assert!(!bench.policy("task").is_read_only());
    assert!(
        bench.policy("scout").is_read_only() && bench.policy("security-reviewer").is_read_only()
    );
}
