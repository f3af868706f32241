//! Clocks and budgets, in virtual time.

use std::time::Duration;

use serde_json::json;
use sortie_protocol::{BudgetKind, EndedStatus, Ending, EventKind, Reply};
use tokio::time::{Instant, sleep};

use crate::{
    fake::{Fake, Mouth},
    launch::Exit,
    stage::{Stage, ending, endings},
};

const HOUR: Duration = Duration::from_hours(1);

/// Runs one child under `settings`; returns how it ended, and after how many milliseconds.
async fn told<F>(settings: &str, act: impl Fn(Mouth) -> F + Send + Sync + 'static) -> (String, u64)
where
    F: Future<Output = Exit> + Send + 'static,
{
    let batch = json!({"tasks": [{"name": "A", "agent": "n", "task": "t"}]});
    let result = Stage::new(settings).run(&Fake::new(act), batch).await;
    (ending(&result.tasks[0]), result.tasks[0].duration_ms)
}

/// Does nothing until it is asked to stop, and then reports.
async fn wait(mut child: Mouth) -> Exit {
    child.cancelled().await;
    child.report(Ending::Cancelled, "so far").await;
    Exit::Code(0)
}

#[tokio::test(start_paused = true)]
async fn a_model_that_never_answers_trips_the_first_activity_clock() {
    let (told, ms) = told("", async |mut child: Mouth| {
        child.hello().await;
        sleep(Duration::from_mins(1)).await;
        assert_eq!(child.admit(0).await, Reply::Go);
        wait(child).await
    })
    .await;
    insta::assert_snapshot!(told, @"A timed_out first_activity: no answer began within 120000 ms (`task.firstActivityMs`)");
    assert_eq!(ms, 60_000 + 120_000);
}

#[tokio::test(start_paused = true)]
async fn a_model_that_falls_silent_trips_the_idle_clock() {
    let (told, ms) = told("", async |mut child: Mouth| {
        child.hello().await;
        assert_eq!(child.admit(0).await, Reply::Go);
        let text = |text: &str| EventKind::Text { text: text.into() };
        let thought = EventKind::Thought { text: "hm".into() };
        for kind in [thought, EventKind::Streaming, text("a"), text("b")] {
            // A second before each clock would run out.
            sleep(Duration::from_secs(119)).await;
            child.event(kind).await;
        }
        wait(child).await
    })
    .await;
    insta::assert_snapshot!(told, @"A timed_out idle: the model fell silent in its answer for 600000 ms (`task.idleMs`)");
    assert_eq!(ms, 4 * 119_000 + 600_000);
}

#[tokio::test(start_paused = true)]
async fn the_total_clock_runs_whatever_the_child_does() {
    let settings = "task: {maxRuntimeMs: 5000, killGraceMs: 2000}\n";
    let (told, ms) = told(settings, async |mut child: Mouth| {
        child.hello().await;
        child.request().await;
        child.stay().await
    })
    .await;
    insta::assert_snapshot!(told, @"A timed_out total: it was not done within 5000 ms (`task.maxRuntimeMs`)");
    // And half the grace, since it did not answer.
    assert_eq!(ms, 6_000);
}

#[tokio::test(start_paused = true)]
async fn the_clocks_stand_still_while_a_child_waits_for_anything_but_an_answer() {
    let fake = Fake::new(async |mut child| {
        child.hello().await;
        child.request().await;
        // A tool.
        sleep(HOUR).await;
        if child.id == "A" {
            // Its children, and then a slot: B has it.
            let nested =
                json!({"context": "c", "tasks": [{"name": "x", "agent": "n", "task": "t"}]});
            assert!(child.spawn(nested).await.0);
        }
        // And its provider, which the other keeps busy.
        assert_eq!(child.admit(0).await, Reply::Go);
        for _ in 0..4_000 {
            sleep(Duration::from_millis(900)).await;
            child.event(EventKind::Streaming).await;
        }
        child.end(0, EndedStatus::Answered).await;
        child.finish("done").await
    });
    for slots in [1, 2] {
        let stage = Stage::new(&format!(
            "task: {{firstActivityMs: 1000, idleMs: 1000, maxConcurrency: {slots}}}\n\
             providers.maxInFlightRequests: {{script: 1}}\n"
        ));
        let tasks = ["A", "B"].map(|name| json!({"name": name, "agent": "n", "task": "t"}));
        let since = Instant::now();
        let result = stage.run(&fake, json!({"tasks": tasks})).await;
        assert_eq!(
            endings(&result.tasks),
            "A completed\n  A.x completed\nB completed"
        );
        // Three requests of an hour each, one after the other.
        assert!(since.elapsed() > 3 * HOUR);
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_taken_back_stops_its_clock() {
    let (told, _) = told("", async |mut child: Mouth| {
        child.hello().await;
        let call = child
            .call(sortie_protocol::Call::Admit { candidate: 0 })
            .await;
        assert_eq!(child.reply(call).await, Reply::Go);
        child.say(sortie_protocol::Up::Drop { id: call }).await;
        sleep(HOUR).await;
        child.request().await;
        child.finish("done").await
    })
    .await;
    assert_eq!(told, "A completed");
}

async fn spend(mut child: Mouth) -> Exit {
    child.hello().await;
    loop {
        match child.admit(0).await {
            Reply::Go => child.end(0, EndedStatus::Answered).await,
            Reply::Spent { budget } => {
                child.report(Ending::Budget { budget }, "so far").await;
                return Exit::Code(0);
            }
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn nobody_is_let_out_whose_budget_is_used_up() {
    for (settings, budget, requests) in [
        ("task.budget.requests: 2\n", BudgetKind::Requests, 2),
        // Fifteen tokens each.
        ("task.budget.tokens: 40\n", BudgetKind::Tokens, 3),
    ] {
        let batch = json!({"tasks": [{"name": "A", "agent": "n", "task": "t"}]});
        let result = Stage::new(settings).run(&Fake::new(spend), batch).await;
        let task = &result.tasks[0];
        assert_eq!(task.requests, requests);
        assert_eq!(task.output.as_deref(), Some("so far"));
        let told = ending(task);
        assert!(
            told.contains(&format!("(`task.budget.{}`)", budget.as_str())),
            "{told}"
        );
    }
}
