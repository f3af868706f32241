use std::{sync::Arc, time::Duration};

use serde_json::json;
use sortie_config::Source;
use sortie_protocol::{RunEventKind, RunId};
use tokio::time::sleep;

use crate::{
    Door, Run, RunOptions,
    fake::Fake,
    read_batch,
    stage::{Stage, endings},
};

#[tokio::test(start_paused = true)]
async fn results_come_in_the_order_of_the_tasks_whoever_is_done_first() {
    let fake = Fake::new(async |mut child| {
        let seconds = child.hello().await.parse().unwrap();
        sleep(Duration::from_secs(seconds)).await;
        child.finish(&format!("after {seconds}")).await
    });
    let tasks = [30, 10, 20]
        .map(|seconds| json!({"name": format!("T{seconds}"), "task": seconds.to_string()}));
    let result = Stage::new("").run(&fake, json!({"tasks": tasks})).await;
    let told: Vec<_> = result
        .tasks
        .iter()
        .map(|task| (task.id.as_str(), task.output.as_deref().unwrap()))
        .collect();
    assert_eq!(
        told,
        [
            ("T30", "after 30"),
            ("T10", "after 10"),
            ("T20", "after 20")
        ]
    );
    assert_eq!(result.tasks[1].duration_ms, 10_000);
}

#[tokio::test(start_paused = true)]
async fn one_bad_task_of_a_batch_starts_nothing_and_every_fault_is_told() {
    let stage = Stage::new("task.disabledAgents: [scout]\n");
    let fake = Fake::new(async |child| child.stay().await);
    let batch = json!({"tasks": [
        {"name": "Good", "agent": "n", "task": "x"},
        {"name": "Lost", "agent": "nn", "task": "x"},
        {"agent": "scout", "task": "x", "effort": "hi"},
    ]});
    let problems = stage.start(&fake, batch).unwrap_err();
    insta::assert_snapshot!(stage.shown(&problems), @"
    task `Lost`: there is no agent `nn`
    `tasks[2]`: `scout` is disabled by `task.disabledAgents` ([HOME]/.sortie/agent/config.yml:2)
    `tasks[2]`: `effort` of a task is closed: `task.enableEffort` is off
    ");
    assert!(fake.book().launched.is_empty());
    assert!(!stage.project.path("run").exists());
    assert!(!stage.project.agent_dir().join("runs").exists());
    // What was refused takes no name.
    let alone = json!({"agent": "nn", "task": "x"});
    let problems = stage.start(&fake, json!({"tasks": [alone]})).unwrap_err();
    insta::assert_snapshot!(stage.shown(&problems), @"there is no agent `nn`");
}

#[tokio::test]
async fn a_model_that_cannot_be_used_is_the_fault_of_whoever_wrote_it() {
    let stage = Stage::new("");
    let refused = |text: &str, flag: Option<&str>| {
        let options = RunOptions {
            model: flag.map(str::to_owned),
            ..stage.options()
        };
        let draft = read_batch(&Source::new("batch.yaml", text), Door::CommandLine);
        let launcher = Arc::new(Fake::new(async |child| child.stay().await));
        let run = RunId::generate();
        let problems = Run::start_on(launcher, run, stage.config(), draft, options).unwrap_err();
        let rows: Vec<_> = problems
            .iter()
            .map(|problem| {
                let place = problem
                    .whereabouts()
                    .unwrap_or_else(|| "nowhere".to_owned());
                format!("{place}: {}", problem.message())
            })
            .collect();
        rows.join("\n")
    };
    let two = "tasks: [{agent: n, task: x}, {task: x}]\nmodel: foo\n";
    insta::assert_snapshot!(refused(two, None), @"batch.yaml:2: `model` of the batch names `foo`: it is in no catalogue");
    insta::assert_snapshot!(refused(two, Some("bar")), @"nowhere: `--model` names `bar`: it is in no catalogue");
    insta::assert_snapshot!(refused(two, Some("")), @"nowhere: `--model` is empty");
    // That it is empty is told once.
    let empty = "tasks: [{agent: n, task: x}]\nmodel: ''\n";
    insta::assert_snapshot!(refused(empty, None), @"
    batch.yaml:2: `model` is empty
    batch.yaml:1: no model is configured
    ");
}

#[tokio::test(start_paused = true)]
async fn ids_are_made_of_names_and_never_given_twice() {
    let fake = Fake::new(async |mut child| {
        child.hello().await;
        if child.id == "Lead" {
            let one = json!({"context": "c", "tasks": [{"name": "x", "agent": "n", "task": "t"}, {"agent": "n", "task": "t"}]});
            child.spawn(one.clone()).await;
            child.spawn(one).await;
        }
        child.finish("ok").await
    });
    let batch = json!({"tasks": [
        {"name": "Lead", "agent": "n", "task": "t"},
        {"agent": "n", "task": "t"},
        {"agent": "n", "task": "t"},
    ]});
    let result = Stage::new("").run(&fake, batch).await;
    insta::assert_snapshot!(endings(&result.tasks), @r"
    Lead completed
      Lead.x completed
      Lead.N completed
      Lead.x-2 completed
      Lead.N-2 completed
    N completed
    N-2 completed
    ");
}

#[tokio::test(start_paused = true)]
async fn a_run_is_journaled_in_the_order_in_which_it_happened() {
    let stage = Stage::new("");
    let fake = Fake::new(async |mut child| {
        child.hello().await;
        if child.id == "A" {
            child
                .spawn(json!({"context": "c", "tasks": [{"name": "b", "agent": "n", "task": "t"}]}))
                .await;
        }
        child.finish("ok").await
    });
    let run = stage
        .start(
            &fake,
            json!({"tasks": [{"name": "A", "agent": "n", "task": "t"}]}),
        )
        .unwrap();
    let mut events = run.events();
    run.finish().await;
    insta::assert_snapshot!(stage.journal().join("\n"), @r"
    started
    accepted A
    launched A
    accepted A.b
    launched A.b
    ended A.b completed
    ended A completed
    finished
    ");
    let mut told = Vec::new();
    while let Ok(event) = events.try_recv() {
        assert_eq!(event.seq, told.len() as u64 + 1);
        let kind = serde_json::to_value(&event.kind).unwrap();
        let task = event
            .task
            .map(|task| format!(" {task}"))
            .unwrap_or_default();
        told.push(format!("{}{task}", kind["type"].as_str().unwrap()));
    }
    insta::assert_snapshot!(told.join("\n"), @r"
    started
    queued A
    launched A
    queued A.b
    waiting A
    launched A.b
    ended A.b
    ended A
    finished
    ");
}

#[tokio::test(start_paused = true)]
async fn an_output_is_on_disk_before_anybody_hears_of_it() {
    let stage = Stage::new("");
    let folder = stage.project.path("run");
    let looked_at = folder.clone();
    let fake = Fake::new(move |mut child| {
        let folder = looked_at.clone();
        async move {
            child.hello().await;
            if child.id == "A" {
                let (ok, _) = child
                    .spawn(json!({"context": "c", "tasks": [{"name": "b", "agent": "n", "task": "t"}]}))
                    .await;
                assert!(ok);
                let output = std::fs::read_to_string(folder.join("A.b.md")).unwrap();
                return child.finish(&format!("it said {output}")).await;
            }
            child.record("something was said").await;
            let transcript = std::fs::read_to_string(folder.join("A.b.jsonl")).unwrap();
            assert!(transcript.contains("something was said"));
            child.finish("whole").await
        }
    });
    let run = stage
        .start(
            &fake,
            json!({"tasks": [{"name": "A", "agent": "n", "task": "t"}]}),
        )
        .unwrap();
    let mut events = run.events();
    let finish = tokio::spawn(run.finish());
    let mut ended = Vec::new();
    while let Some(event) = events.recv().await {
        if let RunEventKind::Ended { .. } = event.kind {
            let id = event.task.unwrap();
            assert!(folder.join(format!("{id}.md")).exists());
            assert!(stage.journal().contains(&format!("ended {id} completed")));
            ended.push(id.to_string());
        }
        if event.kind == RunEventKind::Finished {
            break;
        }
    }
    assert_eq!(ended, ["A.b", "A"]);
    let result = finish.await.unwrap();
    assert_eq!(result.tasks[0].output.as_deref(), Some("it said whole"));
    assert_eq!(stage.files(), ["A.b.jsonl", "A.b.md", "A.jsonl", "A.md"]);
}
