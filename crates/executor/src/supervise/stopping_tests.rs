//! How a child is ended, and what is made of an end that is not as it should be.

use std::time::Duration;

use serde_json::{Value, json};
use sortie_protocol::{Ending, EventKind, Hello, RunResult, Up};
use tokio::time::{Instant, advance, sleep};

use crate::{
    fake::{Fake, Mouth},
    launch::{Exit, Signal, Word},
    stage::{Stage, ending, endings},
};

const GRACE: &str = "task.killGraceMs: 4000\n";

fn alone() -> Value {
    json!({"tasks": [{"name": "A", "agent": "n", "task": "t"}]})
}

/// Runs one child to its end; returns how it ended and its warnings.
async fn told<F>(act: impl Fn(Mouth) -> F + Send + Sync + 'static) -> String
where
    F: Future<Output = Exit> + Send + 'static,
{
    let result = Stage::new(GRACE).run(&Fake::new(act), alone()).await;
    let warnings = result.tasks[0].warnings.iter();
    let lines: Vec<String> = [ending(&result.tasks[0])]
        .into_iter()
        .chain(warnings.map(|warning| format!("warning: {warning}")))
        .collect();
    lines.join("\n")
}

/// Starts one child, asks it to stop after a second, and returns the result and how long it took from then.
async fn asked(fake: &Fake) -> (RunResult, Duration) {
    let stage = Stage::new(GRACE);
    let run = stage.start(fake, alone()).unwrap();
    sleep(Duration::from_secs(1)).await;
    let since = Instant::now();
    run.stopper().ask();
    (run.finish().await, since.elapsed())
}

#[tokio::test(start_paused = true)]
async fn who_is_asked_to_stop_can_still_report_what_it_has() {
    let fake = Fake::new(async |mut child| {
        child.hello().await;
        let why = child.cancelled().await;
        sleep(Duration::from_secs(1)).await;
        // It starts nothing more.
        let (ok, text) = child.spawn(alone()).await;
        assert!(!ok);
        child
            .report(Ending::Cancelled, &format!("{why}; {text}"))
            .await;
        Exit::Code(0)
    });
    let (result, took) = asked(&fake).await;
    insta::assert_snapshot!(ending(&result.tasks[0]), @"A cancelled cancelled: it was stopped");
    insta::assert_snapshot!(result.tasks[0].output.as_deref().unwrap(), @"cancelled; nothing was started: this session is being stopped");
    assert_eq!(took, Duration::from_secs(1));
    assert!(fake.book().signals.is_empty());
}

#[tokio::test(start_paused = true)]
async fn who_does_not_answer_is_terminated_and_who_survives_that_is_killed() {
    let fake = Fake::new(async |mut child| {
        child.hello().await;
        child.stay().await
    });
    let (result, took) = asked(&fake).await;
    insta::assert_snapshot!(ending(&result.tasks[0]), @"A cancelled cancelled: it was stopped");
    assert_eq!(took, Duration::from_secs(2));

    let fake = Fake::new(async |mut child| {
        child.ignore_term();
        child.hello().await;
        child.stay().await
    });
    let (result, took) = asked(&fake).await;
    insta::assert_snapshot!(ending(&result.tasks[0]), @"A cancelled cancelled: it was stopped");
    assert_eq!(took, Duration::from_secs(4));
    let signals: Vec<_> = fake
        .book()
        .signals
        .iter()
        .map(|(_, signal)| *signal)
        .collect();
    assert_eq!(signals, [Signal::Terminate, Signal::Kill]);
}

#[tokio::test(start_paused = true)]
async fn a_child_that_never_stops_talking_is_ended_within_its_grace() {
    let fake = Fake::new(async |mut child| {
        child.ignore_term();
        child.hello().await;
        loop {
            for _ in 0..100 {
                child.event(EventKind::Streaming).await;
            }
            advance(Duration::from_millis(1)).await;
        }
    });
    let (result, took) = asked(&fake).await;
    assert_eq!(
        ending(&result.tasks[0]),
        "A cancelled cancelled: it was stopped"
    );
    assert!(took < Duration::from_millis(4_100), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn a_kill_waits_for_nobody_at_any_depth() {
    let fake = Fake::new(async |mut child| {
        child.ignore_term();
        child.hello().await;
        if child.depth() == 1 {
            let mut args = alone();
            args["context"] = "c".into();
            child.spawn(args).await;
        }
        child.stay().await
    });
    let stage = Stage::new(GRACE);
    let run = stage.start(&fake, alone()).unwrap();
    sleep(Duration::from_secs(1)).await;
    run.stopper().ask();
    sleep(Duration::from_secs(1)).await;
    let since = Instant::now();
    run.stopper().kill();
    let result = run.finish().await;
    assert_eq!(since.elapsed(), Duration::ZERO);
    insta::assert_snapshot!(endings(&result.tasks), @r"
    A cancelled cancelled: it was stopped
      A.A cancelled cancelled: it was stopped
    ");
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_dropped_ends_its_children_and_writes_that_down() {
    let fake = Fake::new(async |mut child| {
        child.ignore_term();
        child.hello().await;
        child.stay().await
    });
    let stage = Stage::new("task.maxConcurrency: 1\n");
    let tasks = ["A", "B"].map(|name| json!({"name": name, "agent": "n", "task": "t"}));
    let run = stage.start(&fake, json!({"tasks": tasks})).unwrap();
    sleep(Duration::from_secs(1)).await;
    let mut events = run.events();
    drop(run);
    // Until nobody is left who could tell anything.
    while events.recv().await.is_some() {}
    assert!(fake.book().alive.is_empty());
    assert_eq!(fake.book().launched, ["A"]);
    insta::assert_snapshot!(stage.journal().join("\n"), @r"
    started
    accepted A
    accepted B
    launched A
    ended B cancelled
    ended A cancelled
    ");
}

#[tokio::test(start_paused = true)]
async fn who_never_says_hello_is_ended_after_half_a_minute() {
    let since = Instant::now();
    let told = told(async |child: Mouth| child.stay().await).await;
    insta::assert_snapshot!(told, @"A crashed wire: the process did not say hello within 30 s");
    assert_eq!(since.elapsed(), Duration::from_secs(30));
}

#[tokio::test(start_paused = true)]
async fn another_version_of_the_wire_is_not_spoken() {
    let told = told(async |child: Mouth| {
        child
            .say(Up::Hello(Hello {
                version: 99,
                pid: 1,
                armed: true,
            }))
            .await;
        child.finish("a report that nobody can trust").await;
        child.stay().await
    })
    .await;
    insta::assert_snapshot!(told, @"A crashed wire: the process does not speak the wire: it speaks version 99, not 1");
}

async fn stray(child: &Mouth, count: usize) {
    for n in 0..count {
        child.utter(Word::Stray(format!("Warning: {n}"))).await;
    }
}

#[tokio::test(start_paused = true)]
async fn nine_lines_that_are_no_messages_are_a_warning_and_ten_are_a_crash() {
    let nine = told(async |mut child: Mouth| {
        child.hello().await;
        stray(&child, 9).await;
        child.finish("done").await
    });
    insta::assert_snapshot!(nine.await, @r"
    A completed
    warning: the process wrote what is no message: Warning: 0
    ");
    let ten = told(async |mut child: Mouth| {
        child.hello().await;
        stray(&child, 10).await;
        child.finish("too late").await
    });
    insta::assert_snapshot!(ten.await, @"A crashed wire: the process does not speak the wire: 10 lines were no messages; it wrote what is no message: Warning: 0");
    let afterwards = told(async |mut child: Mouth| {
        child.hello().await;
        child.finish("in time").await;
        stray(&child, 10).await;
        Exit::Code(0)
    });
    insta::assert_snapshot!(afterwards.await, @r"
    A completed
    warning: the process wrote what is no message: Warning: 0
    ");
}

/// C21 b: a valid report stands, whatever the process does after it, and both facts are shown.
#[tokio::test(start_paused = true)]
async fn a_report_stands_with_a_warning_about_the_exit() {
    let told = told(async |mut child: Mouth| {
        child.hello().await;
        child.finish("done").await;
        child.utter(Word::Log(b"disk full\n".to_vec())).await;
        Exit::Code(1)
    });
    insta::assert_snapshot!(told.await, @r"
    A completed
    warning: the process ended with exit code 1 after its report: disk full
    ");
}

#[tokio::test(start_paused = true)]
async fn no_exit_code_alone_makes_a_success() {
    let silent = told(async |mut child: Mouth| {
        child.hello().await;
        Exit::Code(0)
    });
    insta::assert_snapshot!(silent.await, @"A crashed no_report: the process ended without a report");
    let loud = told(async |mut child: Mouth| {
        child.hello().await;
        child
            .utter(Word::Log(b"thread 'main' panicked\n".to_vec()))
            .await;
        Exit::Code(101)
    });
    insta::assert_snapshot!(loud.await, @"A crashed exit_101: the process ended with exit code 101; its last words: thread 'main' panicked");
}

#[tokio::test(start_paused = true)]
async fn who_has_reported_is_only_slow_to_leave() {
    let since = Instant::now();
    let told = told(async |mut child: Mouth| {
        child.ignore_term();
        child.hello().await;
        child.finish("done").await;
        child.stay().await
    });
    insta::assert_snapshot!(told.await, @r"
    A completed
    warning: the process ended with SIGKILL after its report
    ");
    assert_eq!(since.elapsed(), Duration::from_secs(4));
}

#[tokio::test(start_paused = true)]
async fn who_closes_its_end_and_lives_on_is_ended() {
    let told = told(async |mut child: Mouth| {
        child.hello().await;
        child.utter(Word::Silent).await;
        child.stay().await
    });
    insta::assert_snapshot!(told.await, @"A crashed wire: the process does not speak the wire: it closed its end and lived on");
}

#[tokio::test(start_paused = true)]
async fn who_cannot_be_told_what_to_do_is_ended() {
    let told = told(async |mut child: Mouth| {
        child.hello().await;
        child
            .utter(Word::Unsendable(
                "a message of 9 bytes is too long to send".into(),
            ))
            .await;
        child.stay().await
    });
    insta::assert_snapshot!(told.await, @"A failed too_long: it could not be told what to do: a message of 9 bytes is too long to send");
}

#[tokio::test(start_paused = true)]
async fn who_says_hello_and_no_more_is_ended() {
    let told = told(async |mut child: Mouth| {
        child.hello().await;
        child.stay().await
    });
    insta::assert_snapshot!(told.await, @"A timed_out first_activity: no answer began within 120000 ms (`task.firstActivityMs`)");
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_stored_is_not_told() {
    let stage = Stage::new("");
    let folder = stage.project.path("run");
    let fake = Fake::new(move |mut child| {
        let folder = folder.clone();
        async move {
            child.hello().await;
            std::fs::remove_dir_all(folder).unwrap();
            child.finish("nobody will find this").await
        }
    });
    let result = stage.run(&fake, alone()).await;
    assert_eq!(result.tasks[0].output, None);
    insta::assert_snapshot!(stage.without_places(&ending(&result.tasks[0])), @"A failed store: could not make `[PROJECT]/run/A.md.part`: No such file or directory (os error 2)");
}
