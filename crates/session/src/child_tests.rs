//! Children as the processes they are: this test program, started again as one.

use std::{
    io::{BufRead, BufReader, Read, Write},
    os::unix::process::CommandExt,
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio},
    time::Duration,
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::{Value, json};
use sortie_protocol::{Call, Down, Ending, RecordKind, Reply, Up};
use sortie_testkit::{
    alive::{descendants, is_running},
    wait_until,
};
use tempfile::TempDir;

use crate::root_double::{plan, start};

const SOON: Duration = Duration::from_secs(10);

/// Not a test by itself: the process that the others start.
#[test]
#[ignore = "started by the other tests as a process of its own"]
#[expect(clippy::exit, reason = "a child has nothing to return to")]
fn as_a_child() {
    if std::env::var_os("SORTIE_SESSION").is_some() {
        std::process::exit(i32::from(super::live(|| {})));
    }
    panic!("`SORTIE_SESSION` is not set");
}

struct Session {
    process: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl Session {
    fn start() -> Self {
        let mut command = Self::command();
        let mut process = command.spawn().unwrap();
        let stdin = process.stdin.take();
        let stdout = BufReader::new(process.stdout.take().unwrap());
        Self {
            process,
            stdin,
            stdout,
        }
    }

    fn command() -> Command {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args([
                "--ignored",
                "--exact",
                "child::tests::as_a_child",
                "--nocapture",
                "--test-threads=1",
                "--quiet",
            ])
            .env("SORTIE_SESSION", "r/T")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        command
    }

    /// Hands the assignment down: one `bash` call, and then the report.
    fn assign(&mut self, folder: &Path, command: &str) {
        let turns =
            json!([{"tool": "bash", "args": {"command": command}}, {"finish": {"data": 1}}]);
        self.say(&start(
            plan(folder, &turns),
            sortie_protocol::PROTOCOL_VERSION,
        ));
        self.say(&Down::Prompt {
            text: "do it".into(),
        });
    }

    fn say(&mut self, word: &Down) {
        let mut line = serde_json::to_vec(word).unwrap();
        line.push(b'\n');
        // A child that has ended no longer listens.
        let _ = self.stdin.as_mut().unwrap().write_all(&line);
    }

    /// The next message; `None` at the end. What the test program says around them is skipped.
    fn hear(&mut self) -> Option<Up> {
        loop {
            let mut line = String::new();
            if self.stdout.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            if let Ok(message) = serde_json::from_str(&line) {
                return Some(message);
            }
        }
    }

    /// Does what a root does about a message.
    fn answer(&mut self, message: &Up) {
        match message {
            Up::Record(record) => self.say(&Down::Taken { n: record.n }),
            Up::Call {
                id,
                call: Call::Admit { .. },
            } => self.say(&Down::Reply {
                id: *id,
                reply: Reply::Go,
            }),
            _ => {}
        }
    }

    /// Plays the root until `until` says so.
    fn play(&mut self, mut until: impl FnMut(&Up) -> bool) -> Up {
        loop {
            let message = self.hear().expect("the child ended");
            self.answer(&message);
            if until(&message) {
                return message;
            }
        }
    }

    fn pid(&self) -> u32 {
        self.process.id()
    }

    fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(i32::try_from(self.pid()).unwrap()), signal).unwrap();
    }

    fn exit(&mut self) -> ExitStatus {
        self.process.wait().unwrap()
    }

    fn status(&self, field: &str) -> String {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap();
        let line = status.lines().find(|line| line.starts_with(field)).unwrap();
        line.split_whitespace().nth(1).unwrap().to_owned()
    }
}

/// Leaves processes behind in every way there is, and runs on itself.
const TREE: &str = "sleep 1000 & (sleep 1001 &) ; setsid sleep 1002 & (setsid sh -c 'sleep 1003 & sleep 1004' &) ; sleep 1005";

/// Starts a session that runs [`TREE`] and waits until all six are there.
fn with_a_tree(folder: &Path) -> (Session, Vec<u32>) {
    with_sleepers(folder, TREE, 6)
}

/// Starts a session that runs `command` and waits until `count` processes sleep.
fn with_sleepers(folder: &Path, command: &str, count: usize) -> (Session, Vec<u32>) {
    let mut session = Session::start();
    session.assign(folder, command);
    session.play(|up| matches!(up, Up::Event(event) if matches!(event.kind, sortie_protocol::EventKind::ToolStarted { .. })));
    let sleepers = |pid| {
        descendants(pid)
            .into_iter()
            .filter(|process| process.comm == "sleep")
            .collect::<Vec<_>>()
    };
    assert!(
        wait_until(SOON, || sleepers(session.pid()).len() == count),
        "{:?}",
        descendants(session.pid())
    );
    let tree = descendants(session.pid())
        .into_iter()
        .map(|process| process.pid)
        .collect();
    (session, tree)
}

fn survivors(tree: &[u32]) -> Vec<u32> {
    tree.iter()
        .copied()
        .filter(|&pid| is_running(pid))
        .collect()
}

#[test]
fn it_says_hello_first_and_is_armed() {
    let mut session = Session::start();
    let Some(Up::Hello(hello)) = session.hear() else {
        panic!("no hello")
    };
    assert_eq!(
        (hello.version, hello.pid, hello.armed),
        (1, session.pid(), true)
    );
    // In a program of its own that is the main thread.
    let tasks = std::fs::read_dir(format!("/proc/{}/task", session.pid())).unwrap();
    let names =
        tasks.map(|task| std::fs::read_to_string(task.unwrap().path().join("comm")).unwrap());
    let names: Vec<_> = names.collect();
    assert!(
        names.iter().any(|name| name.trim() == "sortie:session"),
        "{names:?}"
    );
    // A session of its own, and so a group of its own.
    assert_eq!(session.status("NSsid:"), session.pid().to_string());
    assert_eq!(session.status("NSpgid:"), session.pid().to_string());
    drop(session.stdin.take());
    assert_eq!(session.exit().code(), Some(143));
}

#[test]
fn commands_are_started_with_an_empty_signal_mask() {
    let folder = TempDir::new().unwrap();
    let mut session = Session::start();
    session.assign(folder.path(), "grep SigBlk /proc/self/status");
    let answer = session.play(
        |up| matches!(up, Up::Record(record) if matches!(record.kind, RecordKind::ToolResult(_))),
    );
    let Up::Record(record) = answer else {
        unreachable!()
    };
    let RecordKind::ToolResult(result) = record.kind else {
        unreachable!()
    };
    assert_eq!(result.text.trim(), "SigBlk:\t0000000000000000");
    session.signal(Signal::SIGTERM);
    session.exit();
}

#[test]
fn on_term_it_takes_everything_below_with_it() {
    let folder = TempDir::new().unwrap();
    let (mut session, tree) = with_a_tree(folder.path());
    session.signal(Signal::SIGTERM);
    assert_eq!(session.exit().code(), Some(143));
    assert_eq!(survivors(&tree), Vec::<u32>::new());
}

#[test]
fn what_its_own_end_cut_off_is_never_told_as_done() {
    // Whom it takes longest to end is what the session waits for while it could go on.
    let command = "(trap '' TERM; exec sleep 1006) & setsid sleep 1002 & sleep 1007";
    for _ in 0..20 {
        let folder = TempDir::new().unwrap();
        let (mut session, tree) = with_sleepers(folder.path(), command, 3);
        session.signal(Signal::SIGTERM);
        let mut after = Vec::new();
        while let Some(message) = session.hear() {
            session.answer(&message);
            after.push(message);
        }
        assert_eq!(session.exit().code(), Some(143));
        assert!(after.is_empty(), "{after:?}");
        assert_eq!(survivors(&tree), Vec::<u32>::new());
    }
}

#[test]
fn so_it_does_when_the_root_closes_the_pipe() {
    let folder = TempDir::new().unwrap();
    let (mut session, tree) = with_a_tree(folder.path());
    drop(session.stdin.take());
    assert_eq!(session.exit().code(), Some(143));
    assert_eq!(survivors(&tree), Vec::<u32>::new());
}

#[test]
fn after_the_report_nothing_is_left_and_the_report_is_the_last_line() {
    let folder = TempDir::new().unwrap();
    let mut session = Session::start();
    session.assign(
        folder.path(),
        "sleep 1000 & (setsid sleep 1001 &) ; echo started",
    );
    let mut tree = Vec::new();
    let pid = session.pid();
    let last = session.play(|up| {
        if matches!(up, Up::Record(record) if matches!(record.kind, RecordKind::ToolResult(_)))
            && tree.is_empty()
        {
            tree = descendants(pid)
                .into_iter()
                .map(|process| process.pid)
                .collect();
        }
        matches!(up, Up::Finished(_))
    });
    let Up::Finished(finished) = last else {
        unreachable!()
    };
    assert_eq!(
        finished.report.ending,
        Ending::Yielded {
            tries: 1,
            faults: vec![]
        }
    );
    let mut rest = String::new();
    session.stdout.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "");
    assert_eq!(session.exit().code(), Some(0));
    assert_eq!(tree.len(), 2);
    assert_eq!(survivors(&tree), Vec::<u32>::new());
}

#[test]
fn adopted_zombies_are_reaped_on_the_way() {
    let folder = TempDir::new().unwrap();
    let mut session = Session::start();
    // The orphan ends once the session has adopted it, and the command once the orphan is a zombie.
    let leave = r#"
        (sh -c "echo \$\$ > pid; until grep -q '^PPid:.$PPID\$' /proc/\$\$/status; do :; done" &)
        until test -s pid && grep -q '^State:.Z' "/proc/$(cat pid)/status"; do :; done
    "#;
    let look = "test -e /proc/$(cat pid) && echo still there || echo gone";
    let turns: Vec<Value> = vec![
        json!({"tool": "bash", "args": {"command": leave}}),
        json!({"tool": "bash", "args": {"command": look}}),
        json!({"finish": {"data": 1}}),
    ];
    session.say(&start(plan(folder.path(), &json!(turns)), 1));
    session.say(&Down::Prompt {
        text: "do it".into(),
    });
    let mut last = String::new();
    session.play(|up| {
        if let Up::Record(record) = up
            && let RecordKind::ToolResult(result) = &record.kind
            && result.name == "bash"
        {
            last.clone_from(&result.text);
        }
        matches!(up, Up::Finished(_))
    });
    assert_eq!(last.trim(), "gone");
    assert_eq!(session.exit().code(), Some(0));
}

#[test]
fn a_root_that_is_gone_already_is_noticed() {
    let mut session = Session::command();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(writer);
    let mut process = session.stdin(reader).spawn().unwrap();
    assert_eq!(process.wait().unwrap().code(), Some(143));
}

#[test]
fn a_child_started_as_a_group_leader_refuses() {
    let mut command = Session::command();
    let output = command
        .process_group(0)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
        .wait_with_output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8(output.stderr).unwrap();
    let line = stderr
        .lines()
        .find(|line| line.starts_with("sortie session"))
        .unwrap();
    insta::assert_snapshot!(line, @"sortie session: the session leads a process group and cannot set itself apart; start it without a group of its own");
}
