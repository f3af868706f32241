//! Slots and providers as children feel them. The rules themselves are tested beside the table.

use std::{num::NonZeroU32, sync::Arc, time::Duration};

use serde_json::{Value, json};
use sortie_protocol::{EndedStatus, OutcomeKind, Reply, RunResult};
use tokio::{
    sync::Semaphore,
    time::{Instant, sleep},
};

use crate::{
    RunOptions,
    fake::Fake,
    launch::Exit,
    stage::{Stage, endings},
};

fn batch(count: usize, agent: &str) -> Value {
    let tasks: Vec<_> = (0..count)
        .map(|n| json!({"name": format!("T{n}"), "agent": agent, "task": "t"}))
        .collect();
    json!({"context": "c", "tasks": tasks})
}

fn completed(result: &RunResult) -> usize {
    fn count(tasks: &[sortie_protocol::TaskResult]) -> usize {
        tasks
            .iter()
            .map(|task| usize::from(task.outcome.is_completed()) + count(&task.children))
            .sum()
    }
    count(&result.tasks)
}

const ONE_SLOT: &str = "task: {maxConcurrency: 1, maxRecursionDepth: 3}\n";

/// C26 a: two parents with two children each, one slot.
#[tokio::test(start_paused = true)]
async fn one_slot_suffices_for_a_tree() {
    let fake = Fake::new(async |mut child| {
        child.hello().await;
        child.request().await;
        if child.depth() == 1 {
            assert!(child.spawn(batch(2, "n")).await.0);
            child.request().await;
        }
        child.finish("sum").await
    });
    let result = Stage::new(ONE_SLOT).run(&fake, batch(2, "n")).await;
    assert_eq!(completed(&result), 6);
    let book = fake.book();
    assert_eq!((book.most_open, book.requests), (1, 8));
    // Who has begun is brought to its end before the next begins.
    assert_eq!(
        book.launched,
        ["T0", "T0.T0", "T0.T1", "T1", "T1.T0", "T1.T1"]
    );
}

/// C26 b: finished children hold no slot.
#[tokio::test(start_paused = true)]
async fn thirty_tasks_pass_through_one_slot() {
    let fake = Fake::new(async |mut child| {
        child.hello().await;
        child.request().await;
        child.finish("1").await
    });
    let result = Stage::new(ONE_SLOT).run(&fake, batch(30, "n")).await;
    assert_eq!(completed(&result), 30);
    assert_eq!(fake.book().most_open, 1);
}

/// C26 c: fewer slots bind whoever waits, and spare whoever works.
#[tokio::test(start_paused = true)]
async fn the_number_of_slots_can_be_lowered_while_tasks_run() {
    let fake = Fake::new(async |mut child| {
        child.hello().await;
        child.request().await;
        sleep(Duration::from_secs(10)).await;
        child.request().await;
        child.finish("1").await
    });
    let options = |stage: &Stage| RunOptions {
        max_concurrency: NonZeroU32::new(4),
        ..stage.options()
    };
    let stage = Stage::new("");
    let started = Instant::now();
    let run = stage
        .start_with(&fake, batch(6, "n"), options(&stage))
        .unwrap();
    sleep(Duration::from_secs(5)).await;
    assert_eq!(fake.book().alive.len(), 4);
    run.set_max_concurrency(NonZeroU32::MIN);
    sleep(Duration::from_secs(6)).await;
    assert_eq!(fake.book().alive, ["T4"]);
    let result = run.finish().await;
    assert_eq!(completed(&result), 6);
    assert_eq!(started.elapsed(), Duration::from_secs(30));
}

/// C26 d: a parent waits for two calls at once; its slot is given back once.
#[tokio::test(start_paused = true)]
async fn two_calls_at_once_give_one_slot_back() {
    let fake = Fake::new(async |mut child| {
        child.hello().await;
        child.request().await;
        if child.id == "T0" {
            let calls = [
                child.start(batch(1, "n")).await,
                child.start(batch(1, "n")).await,
            ];
            for call in calls {
                assert!(child.spawned(call).await.0);
            }
            child.request().await;
        }
        sleep(Duration::from_secs(1)).await;
        child.finish("1").await
    });
    let result = Stage::new(ONE_SLOT).run(&fake, batch(2, "n")).await;
    assert_eq!(completed(&result), 4);
    assert_eq!(fake.book().most_open, 1);
    insta::assert_snapshot!(endings(&result.tasks), @r"
    T0 completed
      T0.T0 completed
      T0.T0-2 completed
    T1 completed
    ");
}

/// While one call still waits, the other's answer leads to a request: for that alone it takes a slot.
#[tokio::test(start_paused = true)]
async fn a_request_beside_a_call_that_waits_gives_its_slot_back_afterwards() {
    let fake = Fake::new(async |mut child| {
        child.hello().await;
        if child.id == "T0" {
            let first = child.start(batch(1, "n")).await;
            let second = child.start(batch(1, "n")).await;
            assert!(child.spawned(first).await.0);
            child.request().await;
            assert!(child.spawned(second).await.0);
        }
        child.request().await;
        child.finish("1").await
    });
    let result = Stage::new(ONE_SLOT).run(&fake, batch(1, "n")).await;
    assert_eq!(completed(&result), 3);
}

#[tokio::test(start_paused = true)]
async fn a_slot_is_free_after_a_crash() {
    let fake = Fake::new(async |mut child| {
        child.hello().await;
        assert_eq!(child.admit(0).await, Reply::Go);
        if child.id == "T0" {
            // With its request open.
            return Exit::Signal(11);
        }
        child.end(0, EndedStatus::Answered).await;
        child.finish("1").await
    });
    let stage = Stage::new(&format!(
        "{ONE_SLOT}providers.maxInFlightRequests: {{script: 1}}\n"
    ));
    let result = stage.run(&fake, batch(2, "n")).await;
    insta::assert_snapshot!(endings(&result.tasks), @r"
    T0 crashed SIGSEGV: the process was ended by SIGSEGV
    T1 completed
    ");
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_taken_back_makes_room() {
    let (full, may_drop) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
    let gates = (Arc::clone(&full), Arc::clone(&may_drop));
    let fake = Fake::new(move |mut child| {
        let (full, may_drop) = gates.clone();
        async move {
            child.hello().await;
            match child.id.as_str() {
                "T0" => {
                    assert_eq!(child.admit(0).await, Reply::Go);
                    full.add_permits(2);
                    let _ = may_drop.acquire().await;
                    child.end(0, EndedStatus::Abandoned).await;
                }
                "T1" => {
                    let _ = full.acquire().await;
                    // It would be next, and wants to be no longer.
                    let call = child
                        .call(sortie_protocol::Call::Admit { candidate: 0 })
                        .await;
                    child.say(sortie_protocol::Up::Drop { id: call }).await;
                    // Heard after what came before it.
                    child.record("dropped").await;
                    may_drop.add_permits(1);
                }
                _ => {
                    let _ = full.acquire().await;
                    child.request().await;
                }
            }
            child.finish("1").await
        }
    });
    let stage = Stage::new("providers.maxInFlightRequests: {script: 1}\n");
    let result = stage.run(&fake, batch(3, "n")).await;
    assert_eq!(completed(&result), 3, "{}", endings(&result.tasks));
    assert_eq!(fake.book().most_open, 1);
}

#[tokio::test(start_paused = true)]
async fn a_second_request_beside_the_first_is_not_let_out() {
    let fake = Fake::new(async |mut child| {
        child.hello().await;
        assert_eq!(child.admit(0).await, Reply::Go);
        let why = format!("{:?}", child.admit(0).await);
        child.finish(&why).await
    });
    let result = Stage::new("").run(&fake, batch(1, "n")).await;
    insta::assert_snapshot!(result.tasks[0].output.as_deref().unwrap(), @r#"Skip { why: "another request of this session is not over", ready_in_ms: None }"#);
    assert_eq!(fake.book().most_open, 1);
}

#[tokio::test(start_paused = true)]
async fn who_is_stopped_in_the_queue_never_starts() {
    let fake = Fake::new(async |mut child| {
        child.hello().await;
        child.cancelled().await;
        child.finish("what there was").await
    });
    let stage = Stage::new(ONE_SLOT);
    let run = stage.start(&fake, batch(2, "n")).unwrap();
    sleep(Duration::from_secs(1)).await;
    run.stopper().ask();
    let result = run.finish().await;
    insta::assert_snapshot!(endings(&result.tasks), @r"
    T0 completed
    T1 cancelled cancelled: it was stopped before it started
    ");
    insta::assert_snapshot!(stage.journal().join("\n"), @r"
    started
    accepted T0
    accepted T1
    launched T0
    ended T1 cancelled
    ended T0 completed
    finished
    ");
    assert_eq!(fake.book().launched, ["T0"]);
    assert_eq!(stage.files(), ["T0.jsonl", "T0.md"]);
}

/// C15 a: all six are refused with 20 s; nobody asks again before, and all succeed.
#[tokio::test(start_paused = true)]
async fn one_refusal_rests_the_provider_for_the_whole_family() {
    let refused = EndedStatus::Refused {
        http: 429,
        message: "slow down".into(),
    };
    let started = Instant::now();
    let fake = Fake::new(move |mut child| {
        let refused = refused.clone();
        async move {
            child.hello().await;
            assert_eq!(child.admit(0).await, Reply::Go);
            child.end_and_rest(0, refused, Some(20_000)).await;
            loop {
                match child.admit(0).await {
                    Reply::Go => break,
                    Reply::Skip { ready_in_ms, .. } => {
                        sleep(Duration::from_millis(ready_in_ms.unwrap())).await;
                    }
                    other => panic!("{other:?}"),
                }
            }
            assert!(started.elapsed() >= Duration::from_secs(20));
            child.end(0, EndedStatus::Answered).await;
            child.finish("ok").await
        }
    });
    let stage = Stage::new("task.maxConcurrency: 6\n");
    let result = stage.run(&fake, batch(6, "n")).await;
    assert_eq!(completed(&result), 6);
    assert_eq!(fake.book().requests, 12);
    assert!(started.elapsed() < Duration::from_secs(21));
}

const TWO_PROVIDERS: &str = "providers:
  one: {baseUrl: 'http://127.0.0.1:9/v1', api: openai-completions, apiKey: LOCAL_KEY, models: [{id: a}]}
  two: {baseUrl: 'http://127.0.0.1:9/v1', api: openai-completions, apiKey: LOCAL_KEY, models: [{id: b}]}
";

#[tokio::test(start_paused = true)]
async fn the_receipt_tells_what_was_tried_and_skipped() {
    let fake = Fake::new(async |mut child| {
        child.hello().await;
        let mut at = 0;
        if child.id == "T0" {
            assert_eq!(child.admit(0).await, Reply::Go);
            // A careless provider says the key it was given.
            let refused = EndedStatus::Refused {
                http: 429,
                message: "sk-marked-key is slow".into(),
            };
            child.end_and_rest(0, refused, None).await;
        } else {
            sleep(Duration::from_secs(1)).await;
        }
        while let Reply::Skip { .. } = child.admit(at).await {
            at += 1;
        }
        child.end(at, EndedStatus::Answered).await;
        child.finish("ok").await
    });
    let stage = Stage::new("");
    stage.project.user_file("models.yml", TWO_PROVIDERS).agent(
        "w",
        "---\nname: w\ndescription: works\nmodel: [one/a, two/b]\n---\nx\n",
    );
    let options = RunOptions {
        model: None,
        ..stage.options()
    };
    let run = stage.start_with(&fake, batch(2, "w"), options).unwrap();
    let result = run.finish().await;
    let told: Vec<_> = result
        .tasks
        .iter()
        .map(|task| {
            assert_eq!(task.outcome.kind, OutcomeKind::Completed);
            serde_json::to_string(&task.model).unwrap()
        })
        .collect();
    insta::assert_snapshot!(told.join("\n"), @r#"
    {"requested":"one/a, two/b","selector":"two/b","effort":null,"api":"openai-completions","attempts":[{"selector":"one/a","effort":null,"requests":1,"left":"answered 429: [key LOCAL_KEY] is slow"}]}
    {"requested":"one/a, two/b","selector":"two/b","effort":null,"api":"openai-completions","attempts":[{"selector":"one/a","effort":null,"requests":0,"left":"`one` is cooling down for 29 s"}]}
    "#);
}
