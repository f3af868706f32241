use std::time::Instant;

use serde_json::json;

use crate::tools::{fixture::Bench, process::started};

/// Whether a process lives: one that is dead but not reaped does not.
fn lives(pid: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).is_ok_and(|stat| {
        !stat
            .rsplit(')')
            .next()
            .unwrap()
            .trim_start()
            .starts_with('Z')
    })
}

fn kill(pid: &str) {
    let pid = nix::unistd::Pid::from_raw(pid.trim().parse().unwrap());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL).unwrap();
}

#[tokio::test]
async fn both_outputs_come_in_the_order_they_were_written() {
    let bench = Bench::new();
    let text = bench
        .done(
            "bash",
            json!({"command": "echo a; echo b >&2; echo c; pwd"}),
        )
        .await;
    let cwd = bench.folder.path().canonicalize().unwrap();
    assert_eq!(text, format!("a\nb\nc\n{}\n", cwd.display()));
}

#[tokio::test]
async fn silence_is_said() {
    let bench = Bench::new();
    assert_eq!(
        bench.done("bash", json!({"command": "true"})).await,
        "[no output]\n"
    );
}

#[tokio::test]
async fn there_is_no_input_to_wait_for() {
    let bench = Bench::new();
    assert_eq!(
        bench
            .done("bash", json!({"command": "cat; echo -n end"}))
            .await,
        "end\n"
    );
}

#[tokio::test]
async fn a_command_that_starts_with_a_dash_is_no_option() {
    let bench = Bench::new();
    let text = bench.done("bash", json!({"command": "-x; echo hi"})).await;
    assert!(text.contains("-x: command not found"), "{text}");
    assert!(text.ends_with("hi\n"), "{text}");
}

#[tokio::test]
async fn a_failure_says_how_it_ended_and_shows_the_output() {
    let bench = Bench::new();
    let mut texts = Vec::new();
    for command in [
        "echo out; exit 3",
        "kill -9 $$",
        "echo last words; kill -SEGV $$",
    ] {
        texts.push(bench.failed("bash", json!({"command": command})).await);
    }
    insta::assert_snapshot!(texts.concat(), @r#"
    exit code 3
    out
    killed by SIGKILL
    [no output]
    killed by SIGSEGV
    last words
    "#);
}

#[tokio::test]
async fn a_background_process_neither_delays_the_answer_nor_dies_of_it() {
    let bench = Bench::new();
    let before = Instant::now();
    let text = bench
        .done(
            "bash",
            json!({"command": "(sleep 1000 & echo $! > pid); echo hi"}),
        )
        .await;
    assert!(before.elapsed().as_secs() < 5, "{:?}", before.elapsed());
    insta::assert_snapshot!(text, @r#"
    hi
    [something it left in the background still runs; what that writes from now on is not kept]
    "#);
    let pid = bench.content("pid");
    assert!(lives(&pid));
    kill(&pid);
}

#[tokio::test]
async fn a_background_process_may_go_on_writing() {
    let bench = Bench::new();
    // It would die of SIGPIPE at its second line if nobody held the reading end.
    let command = "(while read -r line; do echo $line; done < go; echo survived > proof; echo > back) & echo $! > pid";
    let pipes = "mkfifo go back; ";
    bench
        .done("bash", json!({"command": format!("{pipes}{command}")}))
        .await;
    let read = "for i in 1 2 3; do echo $i; done > go; cat back > /dev/null; cat proof";
    assert_eq!(
        bench.done("bash", json!({"command": read})).await,
        "survived\n"
    );
}

#[tokio::test]
async fn a_timeout_ends_the_whole_group() {
    let bench = Bench::new();
    let command = "sleep 1000 & echo $! > pid; echo started; sleep 1000";
    let text = bench
        .failed("bash", json!({"command": command, "timeoutS": 1.5}))
        .await;
    insta::assert_snapshot!(text, @r#"
    timed out after 1.5 s and was ended by SIGTERM
    started
    "#);
    assert!(!lives(&bench.content("pid")));
}

#[tokio::test]
async fn who_does_not_listen_is_killed() {
    let bench = Bench::new();
    let before = Instant::now();
    let command = "trap '' TERM; echo deaf; while :; do sleep 1; done";
    let text = bench
        .failed("bash", json!({"command": command, "timeoutS": 1.5}))
        .await;
    assert!(before.elapsed().as_secs() < 10, "{:?}", before.elapsed());
    insta::assert_snapshot!(text, @r#"
    timed out after 1.5 s and was killed by SIGKILL, since it did not end when asked to
    deaf
    "#);
}

#[tokio::test]
async fn who_is_asked_may_have_last_words() {
    let bench = Bench::new();
    let command = "trap 'echo goodbye; exit 0' TERM; sleep 1000 & wait";
    let text = bench
        .failed("bash", json!({"command": command, "timeoutS": 1.5}))
        .await;
    insta::assert_snapshot!(text, @r#"
    timed out after 1.5 s and was ended by SIGTERM
    goodbye
    "#);
}

#[tokio::test]
async fn a_cancel_ends_it_with_what_it_has() {
    let bench = Bench::new();
    let context = bench.context.clone();
    let started = bench.path("started");
    let canceller = async {
        while !started.exists() {
            tokio::task::yield_now().await;
        }
        context.cancel.cancel();
    };
    let args = json!({"command": "echo work; touch started; sleep 1000"});
    let (text, ()) = tokio::join!(bench.failed("bash", args), canceller);
    insta::assert_snapshot!(text, @r#"
    cancelled, and was ended by SIGTERM
    work
    "#);
    let again = bench
        .failed("bash", json!({"command": "touch twice"}))
        .await;
    insta::assert_snapshot!(again, @"cancelled before it started");
    assert!(!bench.path("twice").exists());
}

#[tokio::test]
async fn a_dropped_call_leaves_nobody_behind() {
    let bench = Bench::new();
    let run = bench.run(
        "bash",
        json!({"command": "sleep 1000 & echo $! > pid; sleep 1000"}),
    );
    let pid = bench.path("pid");
    let seen = async {
        while std::fs::read_to_string(&pid).unwrap_or_default().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        _ = run => unreachable!("it sleeps"),
        () = seen => {}
    }
    let pid = bench.content("pid");
    while lives(&pid) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn somebody_who_writes_without_end_does_not_hide_the_exit() {
    let bench = Bench::new().with_limit(1_000);
    let command = "yes & echo $! > pid; sleep 0.1";
    let text = bench.done("bash", json!({"command": command})).await;
    let pid = bench.content("pid");
    assert!(lives(&pid));
    kill(&pid);
    assert!(text.len() < 1_500, "{}", text.len());
}

#[tokio::test]
async fn a_command_that_writes_without_end_is_stopped_by_its_clock() {
    let bench = Bench::new().with_limit(1_000);
    let text = bench
        .failed("bash", json!({"command": "yes", "timeoutS": 1.5}))
        .await;
    assert!(
        text.starts_with("timed out after 1.5 s and was ended by SIGTERM\ny\n"),
        "{text}"
    );
    assert!(text.len() < 1_500, "{}", text.len());
}

#[tokio::test]
async fn its_process_is_ours_while_it_runs() {
    let bench = Bench::new();
    let text = bench
        .done("bash", json!({"command": "echo $$; cat /proc/$$/stat"}))
        .await;
    let mut lines = text.lines();
    let pid: i32 = lines.next().unwrap().parse().unwrap();
    let group: i32 = lines
        .next()
        .unwrap()
        .split(' ')
        .nth(4)
        .unwrap()
        .parse()
        .unwrap();
    assert_eq!(group, pid, "it leads its group");
    assert!(!started().is_ours(pid), "its status was taken");

    let run = bench.run("bash", json!({"command": "echo $$ > pid; sleep 1000"}));
    let seen = async {
        loop {
            let pid = std::fs::read_to_string(bench.path("pid")).unwrap_or_default();
            if let Ok(pid) = pid.trim().parse() {
                break started().is_ours(pid);
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        _ = run => unreachable!("it sleeps"),
        ours = seen => assert!(ours),
    }
}

#[tokio::test]
async fn bad_arguments_are_named() {
    let bench = Bench::new();
    let mut faults = Vec::new();
    for args in [
        json!({}),
        json!({"command": ["ls"]}),
        json!({"command": "  "}),
        json!({"command": "echo \0"}),
        json!({"command": "ls", "timeoutS": 0}),
        json!({"command": "ls", "timeoutS": "5"}),
        json!({"command": "ls", "timeout": 5}),
    ] {
        faults.push(bench.failed("bash", args).await);
    }
    insta::assert_snapshot!(faults.join("\n"), @r#"
    `command` is missing, expected a text
    `command` is a list, expected a text
    `command` is empty, expected a shell command
    `command` holds a NUL byte, which no command line can
    `timeoutS` is `0`, expected a number of seconds above 0
    `timeoutS` is a text, expected a number of seconds above 0
    unknown argument `timeout` (did you mean `timeoutS`?), expected `command`, `timeoutS`
    "#);
}

#[tokio::test]
async fn a_working_folder_that_is_gone_is_said() {
    let mut bench = Bench::new();
    bench.context.cwd = "/nowhere/at/all".into();
    insta::assert_snapshot!(bench.failed("bash", json!({"command": "ls"})).await, @"the shell cannot be started: the working folder `/nowhere/at/all` is gone");
}
