//! One child and nothing else: how soon it asks its model, and what it holds while it waits for the answer.

use std::{
    io::{Read as _, Write as _},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use sortie_executor::launch;
use sortie_protocol::{
    Call, Down, PROTOCOL_VERSION, Reply, Start, Up,
    codec::{Decoder, encode},
};

use crate::{
    decisions::Decision,
    figures::{Unit, in_turn, millis, timed},
    memory,
    scene::{SORTIE, Scene},
    table::{Bar, Beside, Row, Table},
};

const START: &str = "a child's start to its first request";
const PRIVATE: &str = "a resting child, memory of its own";
const SHARE: &str = "a resting child, its share of all memory (PSS)";

const STARTS: usize = 40;
/// How long a request has been open when its child counts as resting.
const REST: Duration = Duration::from_millis(50);

pub(crate) fn measure(table: &mut Table) {
    if ![START, PRIVATE, SHARE].iter().any(|what| table.wants(what)) {
        return;
    }
    let scene = Scene::silent();
    let decision = Decision::on(&scene);
    let mut resting = Vec::new();
    let (ours, theirs) = in_turn(
        STARTS,
        || {
            let (took, memory) = start(&scene, &decision);
            resting.extend(memory);
            took
        },
        start_nothing,
    );
    table.add(Row {
        what: START,
        unit: Unit::Millis,
        ours,
        beside: Some(Beside {
            what: "start and end of `/bin/true`",
            series: theirs,
        }),
        bars: &[Bar::Figure(5.0), Bar::Ratio(4.0)],
    });
    if resting.is_empty() {
        table.note("A child's memory is shown to root alone.");
        return;
    }
    table.add(Row {
        what: PRIVATE,
        unit: Unit::Mebibytes,
        ours: resting.iter().map(|memory| memory.private).collect(),
        beside: None,
        bars: &[Bar::Figure(2.0)],
    });
    table.add(Row {
        what: SHARE,
        unit: Unit::Mebibytes,
        ours: resting.iter().map(|memory| memory.pss).collect(),
        beside: None,
        bars: &[],
    });
}

/// Starts a child as a root does, and ends it once it rests.
fn start(scene: &Scene, decision: &Decision) -> (f64, Option<memory::Memory>) {
    let before = scene.server.requests().len();
    let opening = opening(decision);
    let mut command = Command::new(SORTIE);
    command
        .arg("session")
        .env_clear()
        .envs(
            decision
                .environment
                .iter()
                .map(|(name, value)| (name, value)),
        )
        .current_dir(&decision.plan.cwd)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let started = Instant::now();
    let mut child = command.spawn().expect("a child starts");
    let mut stdin = child.stdin.take().expect("it was piped");
    stdin.write_all(&opening).expect("it listens");
    let mut root = Root { stdin };
    root.answer_until_let_out(&mut child);
    let requests = scene.server.wait_for_requests(before + 1);
    let took = millis(requests[before].at - started);
    thread::sleep(REST);
    let memory = memory::of(child.id());
    // Without a root it leaves.
    drop(root);
    child.wait().expect("it can be waited for");
    (took, memory)
}

fn opening(decision: &Decision) -> Vec<u8> {
    let start = Start {
        version: PROTOCOL_VERSION,
        plan: decision.plan.clone(),
        secrets: decision.secrets.clone(),
    };
    let prompt = Down::Prompt {
        text: "Copy in.txt.".to_owned(),
    };
    let mut bytes = Vec::new();
    for word in [Down::Start(Box::new(start)), Down::Begin, prompt] {
        encode(&word, &mut bytes).expect("our own words can be sent");
    }
    bytes
}

/// The least that a child needs of a root.
struct Root {
    stdin: std::process::ChildStdin,
}

impl Root {
    /// Takes every record, and lets the first request out.
    fn answer_until_let_out(&mut self, child: &mut Child) {
        let stdout = child.stdout.as_mut().expect("it was piped");
        let mut decoder = Decoder::default();
        let mut piece = [0; 16 << 10];
        loop {
            let read = stdout.read(&mut piece).expect("it can be heard");
            assert_ne!(read, 0, "the child ended before it asked");
            decoder.feed(&piece[..read]);
            while let Some(word) = decoder.next_message::<Up>() {
                match word.expect("it speaks the wire") {
                    Up::Record(record) => self.tell(&Down::Taken { n: record.n }),
                    Up::Call {
                        id,
                        call: Call::Admit { .. },
                    } => {
                        let reply = Reply::Go;
                        return self.tell(&Down::Reply { id, reply });
                    }
                    _ => {}
                }
            }
        }
    }

    fn tell(&mut self, word: &Down) {
        let mut bytes = Vec::new();
        encode(word, &mut bytes).expect("our own words can be sent");
        self.stdin.write_all(&bytes).expect("it listens");
    }
}

/// Starts a program that does nothing, the same way, and waits for it.
fn start_nothing() -> f64 {
    let mut command = Command::new("/bin/true");
    command
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    timed(|| {
        let mut child = command.spawn().expect("`/bin/true` starts");
        child.wait().expect("it can be waited for");
    })
}

/// The environment of a child, built as a root builds it.
pub(crate) fn environment(added: Vec<(String, String)>) -> Vec<(String, String)> {
    launch::built(std::env::vars(), &[], added)
}
