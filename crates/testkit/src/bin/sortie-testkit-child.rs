//! A child that speaks the wire and keeps no promise.
//!
//! It does what the first `{"do": ...}` in its prompt says, or what `--do JSON` says when that is given:
//!
//! | `do` | what it does |
//! |---|---|
//! | `finish` | reports `text` and `data` |
//! | `requests` | is admitted to `count` model requests and ends each of them, then reports |
//! | `spawn` | asks the root to dispatch `args`, and reports the answer |
//! | `wait` | waits to be cancelled, and reports that it was |
//! | `half-result` | sends half a `finished` line and exits with 0 |
//! | `exit-after-result` | reports, writes `stderr` (`disk full`), and exits with `code` (1) |
//! | `exit` | exits with `code` (1) and no report |
//! | `garbage` | sends `count` lines that are no messages, then reports |
//! | `never-hello` | says nothing at all; only by `--do` |
//! | `hello-version` | says hello in `version`; only by `--do` |
//! | `ignore-cancel` | never ends, but dies of TERM |
//! | `ignore-term` | never ends, and survives TERM and the end of its input |
//! | `grandchild` | leaves a process behind that ignores TERM, keeps stdout open, and grows `file`; then reports. With `escape` it leaves the session too |
//! | `leave-on-term` | starts the same process, and exits with 0 on TERM |
//! | `flood-stderr` | writes `bytes` to stderr, then reports |
//! | `flood-events` | sends `count` events, then reports |
//! | `huge-record` | sends a record of `bytes`, then reports |
//!
//! Everything that never ends does end after two minutes, so that no failed test leaves a process behind for good.

use std::{
    env,
    error::Error,
    fs::OpenOptions,
    io::{self, Read, Write},
    process::{Command, ExitCode, Stdio},
    thread,
    time::{Duration, Instant},
};

use nix::{
    sys::{
        prctl,
        signal::{SigSet, Signal},
    },
    unistd,
};
use serde_json::Value;
use sortie_protocol::{
    Call, Down, Ended, EndedStatus, Ending, Event, EventKind, Finished, Hello, Origin,
    PROTOCOL_VERSION, Record, RecordKind, Reply, Report, Up, Usage,
    codec::{self, Decoder},
};

/// How long the longest of them lives.
const FUSE: Duration = Duration::from_mins(2);

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<ExitCode> {
    let args: Vec<String> = env::args().skip(1).collect();
    let after = |flag: &str| {
        let at = args.iter().position(|arg| arg == flag)?;
        args.get(at + 1)
    };
    if let Some(file) = after("--grandchild") {
        return grow(file, args.iter().any(|arg| arg == "--escape"));
    }
    let told = after("--do").map(|text| serde_json::from_str::<Value>(text));
    let told = told.transpose()?.unwrap_or_default();
    // The default action ends the process, whatever it is doing and ignoring.
    unistd::alarm::set(u32::try_from(FUSE.as_secs())?);
    let armed = unistd::setsid().is_ok() && prctl::set_pdeathsig(Signal::SIGTERM).is_ok();
    let mut wire = Wire {
        decoder: Decoder::default(),
        stdout: io::stdout(),
    };
    let version = match told["do"].as_str() {
        Some("never-hello") => return Ok(forever()),
        Some("hello-version") => number(&told, "version", 99),
        _ => PROTOCOL_VERSION.into(),
    };
    wire.send(&Up::Hello(Hello {
        version: u32::try_from(version)?,
        pid: std::process::id(),
        armed,
    }))?;
    let prompt = loop {
        match wire.next()? {
            Some(Down::Prompt { text }) => break text,
            Some(Down::Cancel { .. }) => {
                wire.finish(report(Ending::Cancelled))?;
                return Ok(ExitCode::SUCCESS);
            }
            Some(_) => {}
            None => return Ok(ExitCode::SUCCESS),
        }
    };
    let orders = if told.is_null() {
        orders(&prompt)?
    } else {
        told
    };
    obey(&orders, &mut wire)
}

/// The first `{"do": ...}` in a prompt, whatever stands around it.
fn orders(prompt: &str) -> Result<Value> {
    let at = prompt
        .find("{\"do\"")
        .ok_or("the prompt has no `{\"do\": ...}`")?;
    let mut values = serde_json::Deserializer::from_str(&prompt[at..]).into_iter();
    Ok(values.next().ok_or("the prompt has no `{\"do\": ...}`")??)
}

fn obey(orders: &Value, wire: &mut Wire) -> Result<ExitCode> {
    let count = number(orders, "count", 1);
    let mut last = yielded(orders);
    match orders["do"].as_str().unwrap_or_default() {
        "finish" => {}
        "requests" => {
            for n in 0..count {
                wire.request(n)?;
            }
        }
        "spawn" => {
            let args = orders["args"].clone();
            let answer = wire.ask(1, Call::Spawn { args })?;
            last.text = Some(serde_json::to_string(&answer)?);
        }
        "wait" => {
            while let Some(message) = wire.next()? {
                if matches!(message, Down::Cancel { .. }) {
                    last = report(Ending::Cancelled);
                    break;
                }
            }
        }
        "half-result" => {
            let line = line(&Up::Finished(Finished { report: last }))?;
            wire.write(&line[..line.len() / 2])?;
            return Ok(ExitCode::SUCCESS);
        }
        "exit-after-result" => {
            wire.finish(last)?;
            let words = orders["stderr"].as_str().unwrap_or("disk full");
            writeln!(io::stderr(), "{words}")?;
            return exit_code(orders);
        }
        "exit" => return exit_code(orders),
        "garbage" => {
            for n in 0..count {
                wire.write(format!("Warning: line {n} is not JSON\n").as_bytes())?;
            }
        }
        "ignore-cancel" => {
            while wire.next()?.is_some() {}
            return Ok(ExitCode::SUCCESS);
        }
        "ignore-term" => {
            block_term()?;
            return Ok(forever());
        }
        "grandchild" => leave_behind(orders)?,
        "leave-on-term" => {
            // Blocked before the other process starts, so that it cannot come too early.
            let term = block_term()?;
            leave_behind(orders)?;
            term.wait()?;
            return Ok(ExitCode::SUCCESS);
        }
        "flood-stderr" => {
            let line = [b"x".repeat(1023), b"\n".to_vec()].concat();
            for _ in 0..number(orders, "bytes", 1 << 20).div_ceil(1024) {
                io::stderr().write_all(&line)?;
            }
        }
        "flood-events" => {
            for n in 0..count {
                let text = format!("piece {n}");
                let kind = EventKind::Text { text };
                wire.send(&Up::Event(Event { kind }))?;
            }
        }
        "huge-record" => {
            let bytes = usize::try_from(number(orders, "bytes", 4 << 20))?;
            wire.send(&Up::Record(Record {
                n: 1,
                at: 0,
                kind: RecordKind::User {
                    origin: Origin::Assignment,
                    text: "x".repeat(bytes),
                },
            }))?;
        }
        other => return Err(format!("`{other}` is nothing that this child can do").into()),
    }
    wire.finish(last)?;
    Ok(ExitCode::SUCCESS)
}

fn number(orders: &Value, key: &str, default: u64) -> u64 {
    orders[key].as_u64().unwrap_or(default)
}

fn exit_code(orders: &Value) -> Result<ExitCode> {
    Ok(u8::try_from(number(orders, "code", 1))?.into())
}

fn yielded(orders: &Value) -> Report {
    let faults = Vec::new();
    Report {
        text: Some(orders["text"].as_str().unwrap_or("done").to_owned()),
        data: orders.get("data").cloned(),
        ..report(Ending::Yielded { tries: 1, faults })
    }
}

const fn report(ending: Ending) -> Report {
    Report {
        ending,
        text: None,
        data: None,
        sections: Vec::new(),
        last_text: None,
        warnings: Vec::new(),
    }
}

/// A blocked signal stays pending, and who starts with it blocked keeps it so: as good as ignored.
fn block_term() -> Result<SigSet> {
    let mut term = SigSet::empty();
    term.add(Signal::SIGTERM);
    term.thread_block()?;
    Ok(term)
}

fn forever() -> ExitCode {
    thread::sleep(FUSE);
    ExitCode::SUCCESS
}

/// Starts the process that outlives its parent.
fn leave_behind(orders: &Value) -> Result<()> {
    let file = orders["file"]
        .as_str()
        .ok_or("`file` names what the grandchild grows")?;
    let mut command = Command::new(env::current_exe()?);
    command.args(["--grandchild", file]).stdin(Stdio::null());
    if orders["escape"] == true {
        command.arg("--escape");
    }
    command.spawn()?;
    Ok(())
}

/// The grandchild: appends a byte every 100 ms.
fn grow(file: &str, escape: bool) -> Result<ExitCode> {
    block_term()?;
    if escape {
        unistd::setsid()?;
    }
    let end = Instant::now() + FUSE;
    let mut file = OpenOptions::new().create(true).append(true).open(file)?;
    while Instant::now() < end {
        file.write_all(b".")?;
        thread::sleep(Duration::from_millis(100));
    }
    Ok(ExitCode::SUCCESS)
}

/// Both pipes.
struct Wire {
    decoder: Decoder,
    stdout: io::Stdout,
}

impl Wire {
    /// The next message. `None`: there will be no more.
    fn next(&mut self) -> Result<Option<Down>> {
        loop {
            if let Some(message) = self.decoder.next_message() {
                return Ok(Some(message?));
            }
            let mut bytes = vec![0; 64 << 10];
            let len = io::stdin().read(&mut bytes)?;
            if len == 0 {
                return Ok(None);
            }
            self.decoder.feed(&bytes[..len]);
        }
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.stdout.write_all(bytes)?;
        Ok(self.stdout.flush()?)
    }

    fn send(&mut self, message: &Up) -> Result<()> {
        self.write(&line(message)?)
    }

    fn finish(&mut self, report: Report) -> Result<()> {
        self.send(&Up::Finished(Finished { report }))
    }

    /// Asks the root, and waits for its answer.
    fn ask(&mut self, id: u64, call: Call) -> Result<Reply> {
        self.send(&Up::Call { id, call })?;
        while let Some(message) = self.next()? {
            match message {
                Down::Reply {
                    id: answered,
                    reply,
                } if answered == id => return Ok(reply),
                _ => {}
            }
        }
        Err("the root left without an answer".into())
    }

    /// One model request that nobody sends.
    fn request(&mut self, n: u64) -> Result<()> {
        let candidate = 0;
        let answer = self.ask(n, Call::Admit { candidate })?;
        if answer != Reply::Go {
            return Err(format!("request {n} was not admitted: {answer:?}").into());
        }
        self.send(&Up::Ended(Ended {
            admit: n,
            candidate,
            status: EndedStatus::Answered,
            retry_after_ms: None,
            usage: Usage {
                input: Some(10),
                output: Some(5),
                ..Usage::default()
            },
        }))
    }
}

fn line(message: &Up) -> Result<Vec<u8>> {
    let mut line = Vec::new();
    codec::encode(message, &mut line)?;
    Ok(line)
}
