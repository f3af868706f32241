//! The child that keeps no promise, over a pipe.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use std::{
    fs,
    io::{Read, Write},
    process::{Child, ChildStdout, Command, ExitStatus, Stdio},
    time::Duration,
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::{Value, json};
use sortie_protocol::{
    Call, Down, Ending, Finished, PROTOCOL_VERSION, RecordKind, Reply, Report, Secrets, Start, Up,
    codec::{self, DecodeError, Decoder},
};
use sortie_testkit::{alive, child, wait_until};

const LIMIT: Duration = Duration::from_secs(30);

struct Pipe {
    child: Child,
    stdout: ChildStdout,
    decoder: Decoder,
}

impl Pipe {
    fn to(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            stdout: child.stdout.take().unwrap(),
            child,
            decoder: Decoder::default(),
        }
    }

    /// A child that has said hello and been told what to do.
    fn ordered(orders: &Value) -> Self {
        let mut pipe = Self::to(Command::new(child::binary()));
        let Some(Up::Hello(hello)) = pipe.next() else {
            panic!("no hello");
        };
        assert_eq!(
            (hello.version, hello.pid),
            (PROTOCOL_VERSION, pipe.child.id())
        );
        assert!(hello.armed);
        pipe.send(&Down::Start(Box::new(Start {
            version: PROTOCOL_VERSION,
            plan: plan(),
            secrets: Secrets::default(),
        })));
        pipe.send(&Down::Prompt {
            text: format!("# Background\n\nnone\n\n# Task\n\n{orders}\n\nReport back."),
        });
        pipe
    }

    fn send(&mut self, message: &Down) {
        let mut line = Vec::new();
        codec::encode(message, &mut line).unwrap();
        self.child.stdin.as_mut().unwrap().write_all(&line).unwrap();
    }

    fn next_line(&mut self) -> Option<Result<Up, DecodeError>> {
        loop {
            if let Some(message) = self.decoder.next_message() {
                return Some(message);
            }
            let mut bytes = [0; 8192];
            let len = self.stdout.read(&mut bytes).unwrap();
            if len == 0 {
                return None;
            }
            self.decoder.feed(&bytes[..len]);
        }
    }

    fn next(&mut self) -> Option<Up> {
        self.next_line().map(Result::unwrap)
    }

    fn report(&mut self) -> Report {
        match self.next() {
            Some(Up::Finished(Finished { report })) => report,
            other => panic!("{other:?}"),
        }
    }

    /// Closes the pipe down and waits for the exit.
    fn end(mut self) -> (ExitStatus, String) {
        drop(self.child.stdin.take());
        let mut stderr = String::new();
        self.child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut stderr)
            .unwrap();
        (self.child.wait().unwrap(), stderr)
    }

    fn term(&self) {
        kill(pid(self.child.id()), Signal::SIGTERM).unwrap();
    }
}

fn pid(pid: u32) -> Pid {
    Pid::from_raw(pid.try_into().unwrap())
}

fn plan() -> sortie_protocol::SessionPlan {
    serde_json::from_value(json!({
        "run": "r", "id": "One", "depth": 1, "agent": {"name": "a", "source": "adhoc", "file": null},
        "system": "", "tools": [], "candidates": [], "schema": null, "spawns": "none", "blockedAgent": null,
        "budgets": {},
        "clocks": {"firstActivityMs": 0, "idleMs": 0, "totalMs": 0, "killGraceMs": 0, "bashTimeoutMs": 0},
        "retry": {"maxRetries": 0, "baseDelayMs": 0, "maxDelayMs": 0}, "read": {"summarize": false},
        "cwd": "/", "scratch": "/", "acceptProse": false,
    }))
    .unwrap()
}

#[test]
fn it_can_behave() {
    let mut pipe = Pipe::ordered(&json!({"do": "finish", "text": "all good", "data": {"n": 1}}));
    let report = pipe.report();
    assert_eq!(report.text.as_deref(), Some("all good"));
    assert_eq!(report.data, Some(json!({"n": 1})));
    assert_eq!(pipe.next(), None);
    assert!(pipe.end().0.success());
}

#[test]
fn it_asks_before_each_request_and_spawns_upwards() {
    let mut pipe = Pipe::ordered(&json!({"do": "requests", "count": 2}));
    for n in 0..2 {
        assert_eq!(
            pipe.next(),
            Some(Up::Call {
                id: n,
                call: Call::Admit { candidate: 0 }
            })
        );
        pipe.send(&Down::Reply {
            id: n,
            reply: Reply::Go,
        });
        assert!(matches!(pipe.next(), Some(Up::Ended(ended)) if ended.admit == n));
    }
    assert!(matches!(pipe.report().ending, Ending::Yielded { .. }));

    let mut pipe = Pipe::ordered(&json!({"do": "spawn", "args": {"tasks": []}}));
    let call = Call::Spawn {
        args: json!({"tasks": []}),
    };
    assert_eq!(pipe.next(), Some(Up::Call { id: 1, call }));
    let reply = Reply::Text {
        ok: true,
        text: "three".to_owned(),
    };
    pipe.send(&Down::Reply { id: 1, reply });
    assert!(pipe.report().text.unwrap().contains("three"));
}

#[test]
fn half_a_result_is_no_result() {
    let mut pipe = Pipe::ordered(&json!({"do": "half-result"}));
    assert!(pipe.next_line().is_none());
    assert!(pipe.decoder.rest().starts_with(b"{\"kind\":\"finished\""));
    assert!(pipe.end().0.success());
}

#[test]
fn it_ends_badly_with_and_without_a_result() {
    let mut pipe = Pipe::ordered(&json!({"do": "exit-after-result"}));
    assert_eq!(pipe.report().text.as_deref(), Some("done"));
    let (status, stderr) = pipe.end();
    assert_eq!((status.code(), stderr.as_str()), (Some(1), "disk full\n"));

    let mut pipe = Pipe::ordered(&json!({"do": "exit", "code": 7}));
    assert_eq!(pipe.next(), None);
    assert_eq!(pipe.end().0.code(), Some(7));
}

#[test]
fn lines_that_are_no_messages_come_before_the_result() {
    let mut pipe = Pipe::ordered(&json!({"do": "garbage", "count": 3}));
    for _ in 0..3 {
        assert!(matches!(
            pipe.next_line(),
            Some(Err(DecodeError::Foreign { .. }))
        ));
    }
    assert_eq!(pipe.report().text.as_deref(), Some("done"));
}

#[test]
fn it_says_hello_wrongly_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let program = child::told(
        folder.path(),
        &json!({"do": "hello-version", "version": 12}),
    );
    let mut pipe = Pipe::to(Command::new(program));
    assert!(matches!(pipe.next(), Some(Up::Hello(hello)) if hello.version == 12));
    assert!(pipe.end().0.success());

    let mut command = Command::new(child::binary());
    command.args(["--do", r#"{"do": "never-hello"}"#]);
    let mut pipe = Pipe::to(command);
    drop(pipe.child.stdin.take());
    assert!(wait_until(LIMIT, || alive::is_running(pipe.child.id())));
    pipe.child.kill().unwrap();
    assert_eq!(pipe.next(), None);
    assert!(!pipe.child.wait().unwrap().success());
}

#[test]
fn it_heeds_a_cancel_or_ignores_it() {
    let cancel = Down::Cancel {
        reason: "enough".to_owned(),
    };
    let mut pipe = Pipe::ordered(&json!({"do": "wait"}));
    pipe.send(&cancel);
    assert_eq!(pipe.report().ending, Ending::Cancelled);

    let mut pipe = Pipe::ordered(&json!({"do": "ignore-cancel"}));
    pipe.send(&cancel);
    pipe.term();
    assert_eq!(pipe.next(), None);
    assert!(!pipe.end().0.success());
}

#[test]
fn it_survives_a_term_and_the_end_of_its_input() {
    let mut pipe = Pipe::ordered(&json!({"do": "ignore-term"}));
    let id = pipe.child.id();
    let blocks_term = || {
        let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
        let mask = status
            .lines()
            .find_map(|line| line.strip_prefix("SigBlk:"))
            .unwrap_or_default();
        u64::from_str_radix(mask.trim(), 16).is_ok_and(|mask| mask & (1 << 14) != 0)
    };
    assert!(wait_until(LIMIT, blocks_term));
    pipe.term();
    drop(pipe.child.stdin.take());
    assert!(alive::is_running(id));
    pipe.child.kill().unwrap();
    assert!(!pipe.end().0.success());
}

#[test]
fn it_leaves_processes_behind() {
    let folder = tempfile::tempdir().unwrap();
    for (name, orders) in [
        ("a", json!({"do": "grandchild"})),
        ("b", json!({"do": "grandchild", "escape": true})),
        ("c", json!({"do": "leave-on-term"})),
    ] {
        let file = folder.path().join(name);
        let mut orders = orders;
        orders["file"] = json!(file);
        let mut pipe = Pipe::ordered(&orders);
        let grows = || fs::metadata(&file).map_or(0, |file| file.len()) > 1;
        if orders["do"] == "leave-on-term" {
            assert!(wait_until(LIMIT, grows));
            pipe.term();
        } else {
            pipe.report();
        }
        assert!(pipe.child.wait().unwrap().success());
        fs::remove_file(&file).ok();
        let left = || {
            let name = file.display().to_string();
            let all = alive::descendants(1);
            let left = all
                .into_iter()
                .filter(move |process| process.cmdline.contains(&name));
            left.collect::<Vec<_>>()
        };
        assert!(wait_until(LIMIT, || left().len() == 1), "{:?}", left());
        let grandchild = pid(left()[0].pid);
        kill(grandchild, Signal::SIGTERM).unwrap();
        // It is alive and has our pipe: nothing but its death ends the stream.
        assert_eq!(left().len(), 1);
        kill(grandchild, Signal::SIGKILL).unwrap();
        assert!(pipe.next_line().is_none());
        alive::wait_until_none(LIMIT, left);
    }
}

#[test]
fn it_floods() {
    let mut pipe = Pipe::ordered(&json!({"do": "flood-events", "count": 5_000}));
    for _ in 0..5_000 {
        assert!(matches!(pipe.next(), Some(Up::Event(_))));
    }
    pipe.report();

    let mut pipe = Pipe::ordered(&json!({"do": "huge-record", "bytes": 5_000_000}));
    let Some(Up::Record(record)) = pipe.next() else {
        panic!("no record");
    };
    assert!(matches!(record.kind, RecordKind::User { text, .. } if text.len() == 5_000_000));
    pipe.report();

    let pipe = Pipe::ordered(&json!({"do": "flood-stderr", "bytes": 2_000_000}));
    assert!(pipe.end().1.len() >= 2_000_000);
}

#[test]
fn orders_that_it_does_not_know_are_told() {
    let mut pipe = Pipe::ordered(&json!({"do": "a flip"}));
    assert_eq!(pipe.next(), None);
    let (status, stderr) = pipe.end();
    assert_eq!(status.code(), Some(1));
    assert!(stderr.contains("`a flip`"), "{stderr}");
}
