//! One child and nothing else: how soon it asks its model, and what it holds while it waits for the answer.

use std::{
    io::{Read as _, Write as _},
    process::{Child, ChildStdin, Command, Stdio},
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
    memory::{self, Memory},
    scene::{SORTIE, Scene},
    table::{Bar, Beside, Row, Table},
};

const START: &str = "a child's start to its first request";
const PRIVATE: &str = "a resting child among 16: memory of its own";
const SHARE: &str = "a resting child among 16: its share of all memory (PSS)";

const STARTS: usize = 40;
/// What a program maps is shared by all children, so that one alone would be charged for all of it.
const NEIGHBOURS: usize = 15;
/// How long a request has been open when its child counts as resting.
const REST: Duration = Duration::from_millis(50);

pub(crate) fn measure(table: &mut Table) {
    if ![START, PRIVATE, SHARE].iter().any(|what| table.wants(what)) {
        return;
    }
    let scene = Scene::silent();
    let decision = Decision::on(&scene);
    let neighbours: Vec<Resting> = (0..NEIGHBOURS)
        .map(|_| Resting::start(&scene, &decision))
        .collect();
    let mut memory = Vec::new();
    let (ours, theirs) = in_turn(
        STARTS,
        || {
            let child = Resting::start(&scene, &decision);
            thread::sleep(REST);
            memory.extend(memory::of(child.process.id()));
            let took = child.took;
            child.end();
            took
        },
        start_nothing,
    );
    neighbours.into_iter().for_each(Resting::end);
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
    if memory.is_empty() {
        table.note("A child's memory is shown to root alone.");
        return;
    }
    let row = |what, bars, figure: fn(&Memory) -> f64| Row {
        what,
        unit: Unit::Mebibytes,
        ours: memory.iter().map(figure).collect(),
        beside: None,
        bars,
    };
    table.add(row(PRIVATE, &[Bar::Figure(2.0)], |memory| memory.private));
    table.add(row(SHARE, &[], |memory| memory.pss));
}

/// A child that waits for the answer to its first request.
struct Resting {
    process: Child,
    root: Root,
    /// From just before it was started until its request was there, in milliseconds.
    took: f64,
}

impl Resting {
    /// Starts a child as a root does.
    fn start(scene: &Scene, decision: &Decision) -> Self {
        let before = scene.server.requests().len();
        let opening = opening(decision);
        let mut command = Command::new(SORTIE);
        command
            .arg("session")
            .env_clear()
            .envs(decision.environment.iter().cloned())
            .current_dir(&decision.plan.cwd)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let started = Instant::now();
        let mut process = command.spawn().expect("a child starts");
        let mut root = Root {
            stdin: process.stdin.take().expect("it was piped"),
        };
        root.stdin.write_all(&opening).expect("it listens");
        root.answer_until_let_out(&mut process);
        let requests = scene.server.wait_for_requests(before + 1);
        Self {
            process,
            root,
            took: millis(requests[before].at - started),
        }
    }

    /// Leaves it alone, and so it ends.
    fn end(mut self) {
        drop(self.root);
        self.process.wait().expect("it can be waited for");
    }
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
    stdin: ChildStdin,
}

impl Root {
    /// Takes every record, and lets the first request out.
    fn answer_until_let_out(&mut self, process: &mut Child) {
        let stdout = process.stdout.as_mut().expect("it was piped");
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
