use serde_json::{Value, json};
use sortie_protocol::{
    Budgets, TaskRequest,
    script::{ScriptEntry, Turn, When},
};

use super::*;
use crate::{
    Grant, RootGrant, RunModel,
    testing::{Bench, root, root_grant, task},
};

fn site() -> Site<'static> {
    Site {
        run: RunId::from("r1".to_owned()),
        id: TaskId::under(None, "One"),
        cwd: "/work".into(),
        scratch: "/run/scratch/One".into(),
        context: Some("We port it to Rust."),
    }
}

fn parameters(plan: &SessionPlan, name: &str) -> Value {
    let tool = plan.tools.iter().find(|tool| tool.name == name).unwrap();
    Value::clone(&tool.parameters)
}

#[test]
fn a_plan_says_all_that_a_child_will_do() {
    let bench = Bench::new(
        "task: {softRequestBudget: 9, budget: {tokens: 5000}}",
        &[(
            "it",
            "spawns: [scout]\nread-summarize: false\noutput: {properties: {n: {type: number}}, optionalProperties: {}}",
        )],
    );
    let plan = bench.policy("it").plan(&site());
    assert_eq!((plan.agent.name.as_str(), plan.depth), ("it", 1));
    assert_eq!(
        plan.agent.file.as_deref(),
        Some(std::path::Path::new("agents/it.md"))
    );
    for piece in [
        "Work.",
        "We port it to Rust.",
        "`/work`",
        "# Delegating",
        "\"n\": {",
    ] {
        assert!(plan.system.contains(piece), "{piece} in {}", plan.system);
    }
    assert!(!plan.system.contains("{{"), "{}", plan.system);
    assert_eq!(
        plan.budgets,
        Budgets {
            soft_requests: Some(9),
            tokens: Some(5000),
            ..Budgets::default()
        }
    );
    assert_eq!((plan.clocks.idle_ms, plan.clocks.total_ms), (600_000, 0));
    assert!(!plan.read.summarize);
    let names: Vec<_> = plan.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, bench.policy("it").tools());
    let spawn = plan.tools.iter().find(|tool| tool.name == "task").unwrap();
    assert!(
        spawn.description.contains("- `scout` (read-only): Fast"),
        "{}",
        spawn.description
    );
    assert!(
        !spawn.description.contains("`sonic`"),
        "{}",
        spawn.description
    );
    assert_eq!(
        spawn.parameters["properties"]["tasks"]["items"]["properties"]["agent"]["enum"],
        json!(["scout"])
    );
    assert_eq!(
        parameters(&plan, "yield")["properties"]["data"]["required"],
        json!(["n"])
    );
    // It is the same after its way through the pipe.
    let sent = serde_json::to_string(&plan).unwrap();
    assert_eq!(serde_json::from_str::<SessionPlan>(&sent).unwrap(), plan);
}

#[test]
fn every_tool_takes_the_arguments_that_records_and_scripts_use() {
    let bench = Bench::new("", &[]);
    let plan = bench.policy("task").plan(&site());
    let shape: Vec<_> = plan
        .tools
        .iter()
        .map(|tool| {
            let schema = &tool.parameters;
            sortie_schema::check(schema).unwrap();
            let keys: Vec<_> = schema["properties"]
                .as_object()
                .unwrap()
                .keys()
                .cloned()
                .collect();
            format!(
                "{} {} required {}",
                tool.name,
                keys.join(" "),
                schema["required"]
            )
        })
        .collect();
    insta::assert_snapshot!(shape.join("\n"), @r#"
    read path range required ["path"]
    grep pattern path glob context before after ignoreCase literal multiline show limit required ["pattern"]
    glob pattern path limit required ["pattern"]
    write path content required ["path","content"]
    edit path edits required ["path","edits"]
    bash command timeoutS required ["command"]
    todo items required ["items"]
    task context tasks required ["context","tasks"]
    yield type data error required []
    "#);
    let item = &parameters(&plan, "task")["properties"]["tasks"]["items"];
    let keys: Vec<_> = item["properties"]
        .as_object()
        .unwrap()
        .keys()
        .cloned()
        .collect();
    insta::assert_snapshot!(keys.join(" "), @"name agent task outputSchema schemaMode tools label");
    let hints = Bench::new("task: {enableEffort: true}", &[])
        .policy("task")
        .plan(&site());
    assert!(
        parameters(&hints, "task")
            .to_string()
            .contains("\"effort\"")
    );
}

#[test]
fn a_child_gets_the_script_entries_that_it_may_come_to() {
    let entry = |agent: Option<&str>, text: &str| ScriptEntry {
        when: When {
            agent: agent.map(str::to_owned),
            ..When::default()
        },
        turns: vec![Turn {
            text: Some(text.to_owned()),
            ..Turn::default()
        }],
    };
    let mut bench = Bench::new("", &[]);
    bench.scripts.insert(
        "s".into(),
        vec![
            entry(Some("scout"), "no"),
            entry(Some("task"), "yes"),
            entry(None, "also"),
        ]
        .into(),
    );
    let grant = Grant::root(RootGrant {
        model: Some(RunModel::Flag("script/s".into())),
        ..root_grant()
    });
    let plan = bench.resolve(&grant, &task("task")).unwrap().plan(&site());
    let texts: Vec<_> = plan.candidates[0]
        .script
        .iter()
        .filter_map(|entry| entry.turns[0].text.as_deref())
        .collect();
    assert_eq!(texts, ["yes", "also"]);
}

#[test]
fn bundled_quick_agents_and_a_timeout_lower_limits() {
    let bench = Bench::new("task: {maxRuntimeMs: 5000}", &[]);
    assert_eq!(
        bench.policy("scout").plan(&site()).budgets.soft_requests,
        Some(100)
    );
    assert_eq!(
        bench.policy("task").plan(&site()).budgets.soft_requests,
        Some(200)
    );
    let timed = |seconds| {
        let request = TaskRequest {
            timeout: Some(seconds),
            ..task("task")
        };
        bench
            .resolve(&root(), &request)
            .unwrap()
            .plan(&site())
            .clocks
            .total_ms
    };
    assert_eq!(timed(1.5), 1500);
    assert_eq!(timed(60.0), 5000);
    assert_eq!(timed(0.0), 5000);
    assert_eq!(timed(f64::INFINITY), 5000);
}

#[test]
fn plan_mode_stands_at_the_head_of_the_prompt() {
    let bench = Bench::new("", &[]);
    let grant = Grant::root(RootGrant {
        mode: Mode::Plan,
        ..root_grant()
    });
    let plan = bench.resolve(&grant, &task("task")).unwrap().plan(&site());
    assert!(
        plan.system.starts_with(system::PLAN_MODE.trim()),
        "{}",
        plan.system
    );
    assert_eq!(plan.spawns, SpawnRule::None);
}
