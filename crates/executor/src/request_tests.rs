use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

const MODEL: Door = Door::Model { effort: false };

fn read(text: &str) -> Batch {
    read_batch(&Source::new("batch.yaml", text), Door::CommandLine)
        .checked()
        .unwrap()
}

fn called(args: &Value, door: Door) -> Result<Batch, Vec<Problem>> {
    read_batch_node(&Node::from(args.clone()), None, door).checked()
}

/// Every problem on a line, with its place where it has one.
fn told(problems: &[Problem]) -> String {
    let line = |problem: &Problem| {
        let place = problem
            .position()
            .map(|(line, column)| format!("{line}:{column}: "));
        let help = problem.advice().map(|help| format!(" ({help})"));
        format!(
            "{}{}{}",
            place.unwrap_or_default(),
            problem.message(),
            help.unwrap_or_default()
        )
    };
    problems.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn faults(text: &str) -> String {
    told(
        &read_batch(&Source::new("batch.yaml", text), Door::CommandLine)
            .checked()
            .unwrap_err(),
    )
}

fn refused(args: &Value) -> String {
    told(&called(args, MODEL).unwrap_err())
}

#[test]
fn a_whole_batch_is_read() {
    let batch = read(
        "context: All of it\nmodel: local/small\nmode: read-only\noutputSchema: {type: object}\nschemaMode: strict\n\
         tasks:\n  - name: One\n    label: first\n    agent: scout\n    task: look\n    outputSchema: true\n    \
         schemaMode: permissive\n    effort: hi\n    isolated: false\n    tools: [read, bash]\n  - task: 007\n",
    );
    assert_eq!(
        batch,
        Batch {
            context: Some("All of it".into()),
            model: Some("local/small".into()),
            mode: Mode::ReadOnly,
            output_schema: Some(json!({"type": "object"})),
            schema_mode: Some(SchemaMode::Strict),
            tasks: vec![
                TaskRequest {
                    name: Some("One".into()),
                    label: Some("first".into()),
                    agent: Some("scout".into()),
                    task: "look".into(),
                    output_schema: Some(true.into()),
                    schema_mode: Some(SchemaMode::Permissive),
                    effort: Some(EffortHint::Hi),
                    isolated: Some(false),
                    tools: Some(vec!["read".into(), "bash".into()]),
                    ..TaskRequest::default()
                },
                TaskRequest {
                    task: "007".into(),
                    ..TaskRequest::default()
                },
            ],
        }
    );
}

#[test]
fn a_lone_task_is_a_batch_of_one() {
    let lone = read(
        "task: look\nagent: scout\ncontext: all\nmodel: local/small\nmode: plan\noutputSchema: {}\n",
    );
    assert_eq!(lone.model.as_deref(), Some("local/small"));
    assert_eq!(lone.mode, Mode::Plan);
    assert_eq!(lone.context.as_deref(), Some("all"));
    assert_eq!(lone.output_schema, None);
    assert_eq!(lone.tasks[0].output_schema, Some(json!({})));
    assert_eq!(lone.tasks[0].agent.as_deref(), Some("scout"));
    // No list of tasks is as good as a null one.
    assert_eq!(read("prompt: look\ntasks: ~\n").tasks[0].task, "look");
}

#[test]
fn words_of_other_harnesses_are_understood() {
    let args = json!({"context": "c", "description": "Look", "prompt": "look around", "subagent_type": "scout"});
    let task = called(&args, MODEL).unwrap().tasks.remove(0);
    assert_eq!(task.label.as_deref(), Some("Look"));
    assert_eq!(task.task, "look around");
    assert_eq!(task.agent.as_deref(), Some("scout"));
    let tasks =
        read("tasks: [{task: a, agentId: x, title: t}, {task: b, agent_type: y, agent: y}]").tasks;
    assert_eq!(
        (tasks[0].agent.as_deref(), tasks[0].label.as_deref()),
        (Some("x"), Some("t"))
    );
    assert_eq!(tasks[1].agent.as_deref(), Some("y"));
}

#[test]
fn json_text_is_unwrapped_once_and_null_is_absent() {
    let task = json!({"task": "a", "outputSchema": "{\"type\": \"object\"}", "effort": null, "model": null, "what": null});
    let expected = vec![TaskRequest {
        task: "a".into(),
        output_schema: Some(json!({"type": "object"})),
        ..TaskRequest::default()
    }];
    for args in [
        json!({"context": "c", "tasks": [task]}),
        json!({"context": "c", "tasks": [task.to_string()]}),
        json!({"context": "c", "tasks": json!([task]).to_string()}),
        json!(json!({"context": "c", "tasks": [task]}).to_string()),
    ] {
        assert_eq!(called(&args, MODEL).unwrap().tasks, expected, "{args}");
    }
    // Once, and an assignment that happens to be JSON stays text.
    let twice = json!(json!(json!({"task": "a"}).to_string()).to_string());
    assert_snapshot!(refused(&twice), @r#"a batch is a map, and this is text (write `tasks: [{task: "what to do"}]`, or `task: what to do` for a lone one)"#);
    assert_eq!(read("task: '{\"task\": 1}'").tasks[0].task, "{\"task\": 1}");
}

#[test]
fn everything_wrong_with_a_batch_is_told_at_once() {
    let text = "\
context: [1]
mode: plann
schemaMode: loose
outputSchema: 5
agent: scout
modle: x
tasks:
  - name: a/b
    task: ''
    effort: extreme
    isolated: true
    tols: [read]
    schema: {}
  - name: Scan
    task: [x]
    agent: ' '
    tools: read
    isolated: maybe
    outputSchema: some words
    model: local/small
    timeout: 5
    apply: true
    context: here
  - name: scan
    prompt: b
    task: c
    agentId: x
    agent_type: y
    tools: [read, '', [1]]
    wibble: 1
  - name: run
  - just words
  - ~
";
    assert_snapshot!(faults(text), @r#"
    1:10: `context` should be text, and is a list
    2:7: `mode` should be `normal`, `plan` or `read-only`, and is `plann`
    3:13: `schemaMode` should be `permissive` or `strict`, and is `loose`
    4:15: `outputSchema` should be a schema: a map, `true` or `false`, and is `5`
    5:1: `agent` belongs to a task, and not to the batch (put it into each of the `tasks`)
    6:1: `modle` is no key (did you mean `model`?)
    8:11: `tasks[0].name` is `a/b`, and a name is made of ASCII letters, digits, `_`, and `-`
    9:11: `tasks[0].task` is empty (say what to do, where, and what to hand back)
    10:13: `tasks[0].effort` should be `lo`, `med` or `hi`, and is `extreme`
    11:15: `tasks[0].isolated` cannot be `true`: isolated tasks are not built yet (leave it out; the task then works in the folder of the run)
    12:5: `tasks[0].tols` is no key (did you mean `tools`?)
    13:5: `tasks[0].schema` is no key (did you mean `outputSchema`?)
    15:11: `tasks[1].task` should be text, and is a list
    16:12: `tasks[1].agent` is empty (name one, or leave it out)
    17:12: `tasks[1].tools` should be a list of tool names, and is `read`
    18:15: `tasks[1].isolated` should be `true` or `false`, and is `maybe`
    19:19: `tasks[1].outputSchema` should be a schema: a map, `true` or `false`, and is `some words`
    20:5: `tasks[1].model` is not offered here (`model` of the batch is for all its tasks; the setting `task.agentModelOverrides` is for one agent)
    21:5: `tasks[1].timeout` is not offered here (the setting `task.maxRuntimeMs` limits every task)
    22:5: `tasks[1].apply` is not offered here (leave it out; isolated tasks are not built yet)
    23:5: `tasks[1].context` belongs to the batch, and not to a task (put it beside `tasks`)
    24:11: `tasks[2].name` is `scan`, which `tasks[1].name` is too (names have to differ by more than case; leave one out, and it is given a name)
    26:5: `tasks[2].task` differs from `tasks[2].prompt`, which means the same (write `task` alone)
    28:5: `tasks[2].agent_type` differs from `tasks[2].agentId`, which means the same (write `agent` alone)
    29:19: `tasks[2].tools[1]` is empty (name one, or leave it out)
    29:23: `tasks[2].tools[2]` should be text, and is a list
    30:5: `tasks[2].wibble` is no key (the keys are `name`, `label`, `agent`, `task`, `outputSchema`, `schemaMode`, `effort`, `isolated`, `tools`)
    31:5: `tasks[3]` has no `task` (say what to do, where, and what to hand back)
    31:11: `tasks[3].name` is `run`, and this name is reserved
    32:5: `tasks[4]` should be a map, and is text (write `{task: "what to do"}`)
    33:5: `tasks[5]` should be a map, and is nothing (write `{task: "what to do"}`)
    "#);
}

#[test]
fn what_is_no_batch_is_told_what_one_is() {
    assert_snapshot!(faults(""), @r#"1:1: the batch is empty (write `tasks: [{task: "what to do"}]`, or `task: what to do` for a lone one)"#);
    assert_snapshot!(faults("look around"), @r#"1:1: a batch is a map, and this is text (write `tasks: [{task: "what to do"}]`, or `task: what to do` for a lone one)"#);
    assert_snapshot!(faults("- task: a\n"), @r#"1:1: a batch is a map, and this is a list (write `tasks: [{task: "what to do"}]`, or `task: what to do` for a lone one)"#);
    assert_snapshot!(faults("tasks: []\n"), @"1:8: `tasks` is empty (list at least one task)");
    assert_snapshot!(faults("tasks: {task: a}\n"), @r#"1:8: `tasks` should be a list, and is a map (write `tasks: [{task: "what to do"}]`, or `task: what to do` for a lone one)"#);
    assert_snapshot!(faults("context: all\n"), @r#"1:1: the batch has no `tasks` (write `tasks: [{task: "what to do"}]`, or `task: what to do` for a lone one)"#);
    assert_snapshot!(faults("task: ~\n"), @r#"1:1: the batch has no `tasks` (write `tasks: [{task: "what to do"}]`, or `task: what to do` for a lone one)"#);
    assert_snapshot!(faults("taks: [{task: a}]\n"), @"1:1: `taks` is no key (did you mean `tasks`?)");
    assert_snapshot!(faults("tasks: [{task: a}]\ntask: b\n"), @"2:1: `task` belongs to a task, and not to the batch (put it into each of the `tasks`)");
    assert_snapshot!(faults("[a]: 1\ntask: b\n"), @"1:1: a key should be text, and this is a list");
    assert_snapshot!(faults("tasks:\n  - task: 'a\n"), @"2:11: unclosed quote");
    assert_snapshot!(faults("task: a\ntask: b\n"), @"2:1: `task` is said twice (keep one of the two)");
}

#[test]
fn a_model_is_held_to_what_it_is_offered() {
    assert_snapshot!(refused(&json!({"tasks": [{"task": "a"}]})), @"`context` is missing (say there what every task needs to know: the goal, the constraints, what is known so far)");
    assert_snapshot!(refused(&json!({"context": " ", "task": "a"})), @"`context` is missing (say there what every task needs to know: the goal, the constraints, what is known so far)");
    assert_snapshot!(refused(&json!({"context": ["c"], "task": "a"})), @"`context` should be text, and is a list");
    assert_snapshot!(refused(&json!({"context": {}, "task": "a"})), @"`context` should be text, and is a map");
    let args = json!({
        "context": "c", "model": "big", "mode": "normal",
        "tasks": [{"task": "a", "effort": "hi", "model": "big", "name": "x".repeat(70)}],
    });
    assert_snapshot!(refused(&args), @"
    `model` is not offered to a model (leave it out; the run decides it)
    `mode` is not offered to a model (leave it out; the run decides it)
    `tasks[0].effort` is switched off (leave it out; the setting `task.enableEffort` switches it on)
    `tasks[0].model` is not offered to a model (leave it out; the run decides it)
    `tasks[0].name` is longer text, and a name has 1 to 48 characters
    ");
    assert_snapshot!(refused(&json!({"context": "c", "task": "a", "effort": "hi", "model": "big"})), @"
    `effort` is switched off (leave it out; the setting `task.enableEffort` switches it on)
    `model` is not offered to a model (leave it out; the run decides it)
    ");
    let hint = json!({"context": "c", "tasks": [{"task": "a", "effort": "hi"}]});
    let batch = called(&hint, Door::Model { effort: true }).unwrap();
    assert_eq!(batch.tasks[0].effort, Some(EffortHint::Hi));
}

#[test]
fn what_was_json_text_is_at_fault_where_the_text_stands() {
    let text = "tasks:\n  - '{\"task\": \"\", \"agnet\": \"x\"}'\n";
    assert_snapshot!(faults(text), @"
    2:5: `tasks[0].agnet` is no key (did you mean `agent`?)
    2:5: `tasks[0].task` is empty (say what to do, where, and what to hand back)
    ");
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{1,8}",
        "(?s).{1,20}",
        Just("true".into()),
        Just("007".into()),
        Just("~".into())
    ]
    .prop_filter("not blank", |text: &String| !text.trim().is_empty())
}

fn schema() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<bool>().prop_map(Value::from),
        (word(), any::<i32>(), word()).prop_map(
            |(name, n, text)| json!({"properties": {name: {"const": [n, text, null, 1.5]}}})
        ),
    ]
}

fn maybe<T: std::fmt::Debug>(value: impl Strategy<Value = T>) -> impl Strategy<Value = Option<T>> {
    prop::option::of(value)
}

fn schema_mode() -> impl Strategy<Value = Option<SchemaMode>> {
    maybe(prop::sample::select(vec![
        SchemaMode::Permissive,
        SchemaMode::Strict,
    ]))
}

fn task() -> impl Strategy<Value = TaskRequest> {
    let names = (
        maybe("[A-Za-z][a-z0-9_-]{3,9}x"),
        maybe("(?s).{0,20}"),
        maybe(word()),
        word(),
    );
    let effort = maybe(prop::sample::select(vec![
        EffortHint::Lo,
        EffortHint::Med,
        EffortHint::Hi,
    ]));
    let rest = (
        maybe(schema()),
        schema_mode(),
        effort,
        maybe(Just(false)),
        maybe(prop::collection::vec(word(), 0..3)),
    );
    (names, rest).prop_map(
        |((name, label, agent, task), (output_schema, schema_mode, effort, isolated, tools))| {
            TaskRequest {
                name,
                label,
                agent,
                task,
                output_schema,
                schema_mode,
                effort,
                isolated,
                tools,
                ..TaskRequest::default()
            }
        },
    )
}

fn batch() -> impl Strategy<Value = Batch> {
    let mode = prop::sample::select(vec![Mode::Normal, Mode::Plan, Mode::ReadOnly]);
    let tasks = prop::collection::vec(task(), 1..4);
    (
        maybe("(?s).{0,20}"),
        maybe(word()),
        mode,
        maybe(schema()),
        schema_mode(),
        tasks,
    )
        .prop_map(
            |(context, model, mode, output_schema, schema_mode, mut tasks)| {
                for (i, task) in tasks.iter_mut().enumerate() {
                    task.name = task.name.take().map(|name| format!("{name}{i}"));
                }
                Batch {
                    context,
                    model,
                    mode,
                    output_schema,
                    schema_mode,
                    tasks,
                }
            },
        )
}

fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word().prop_map(Value::from),
        Just(json!("{\"tasks\": [{\"task\": 1}]}")),
        Just(json!("[[]]")),
    ];
    let key = prop_oneof![
        4 => prop::sample::select(vec![
            "context", "model", "mode", "outputSchema", "schemaMode", "tasks", "name", "label", "agent", "task", "effort",
            "isolated", "tools", "prompt", "subagent_type", "title", "apply",
        ]).prop_map(str::to_owned),
        1 => word(),
    ];
    leaf.prop_recursive(4, 40, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(key.clone(), inner, 0..6).prop_map(|map| json!(map)),
        ]
    })
}

#[test]
fn what_a_program_puts_together_is_held_to_the_same_rules() {
    let task = |name: &str| TaskRequest {
        name: Some(name.into()),
        task: "x".into(),
        ..TaskRequest::default()
    };
    let batch = Batch {
        tasks: ["../../up", "A", "a", "Main"].map(task).into(),
        ..Batch::default()
    };
    assert_snapshot!(told(Draft::from(batch).problems()), @"
    `tasks[0].name` is `../../up`, and a name is made of ASCII letters, digits, `_`, and `-`
    `tasks[2].name` is `a`, which `tasks[1].name` is too (names have to differ by more than case; leave one out, and it is given a name)
    `tasks[3].name` is `Main`, and this name is reserved
    ");
}

proptest! {
    #[test]
    fn what_we_write_reads_back_equal(batch in batch()) {
        let value = serde_json::to_value(&batch).unwrap();
        prop_assert_eq!(called(&value, Door::CommandLine), Ok(batch.clone()));
        let text = serde_json::to_string_pretty(&value).unwrap();
        prop_assert_eq!(read_batch(&Source::new("batch.json", text), Door::CommandLine).checked(), Ok(batch));
    }

    #[test]
    fn anything_is_read_or_refused(value in anything()) {
        for door in [Door::CommandLine, MODEL, Door::Model { effort: true }] {
            match called(&value, door) {
                // What passed is a batch that runs.
                Ok(batch) => {
                    prop_assert!(!batch.tasks.is_empty());
                    prop_assert!(batch.tasks.iter().all(|task| !task.task.trim().is_empty()));
                }
                Err(problems) => prop_assert!(!problems.is_empty()),
            }
            let source = Source::new("batch.json", value.to_string());
            let draft = read_batch(&source, door);
            prop_assert!(draft.problems().iter().all(|problem| problem.position().is_some()));
            prop_assert!(draft.places.len() == draft.batch.tasks.len());
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in "(?s).{0,80}") {
        let _ = read_batch(&Source::new("batch.yaml", text), Door::CommandLine);
    }
}
