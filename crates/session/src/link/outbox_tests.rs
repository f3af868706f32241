use std::io::Cursor;

use serde_json::{Value, json};
use sortie_protocol::{Ended, EndedStatus, Finished, Report, Usage};
use tokio::{io::AsyncReadExt, io::duplex, time::advance};

use super::*;

fn text(text: &str) -> Up {
    Up::Event(Event {
        kind: EventKind::Text { text: text.into() },
    })
}

fn last() -> Up {
    let report = json!({"ending": {"ending": "cancelled"}});
    Up::Finished(Finished {
        report: serde_json::from_value::<Report>(report).unwrap(),
    })
}

fn ended(admit: u64) -> Up {
    Up::Ended(Ended {
        admit,
        candidate: 0,
        status: EndedStatus::Answered,
        retry_after_ms: None,
        usage: Usage::default(),
    })
}

async fn written(outbox: Outbox) -> Vec<Value> {
    let mut output = Cursor::new(Vec::new());
    let outbox = Arc::new(outbox);
    outbox.close(last());
    outbox.drain(&mut output).await.unwrap();
    output
        .into_inner()
        .split(|&byte| byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect()
}

fn kinds(lines: &[Value]) -> Vec<String> {
    lines
        .iter()
        .map(|line| match line["event"].as_str() {
            Some(event) => format!("{event} {}", line["text"].as_str().unwrap_or_default()),
            None => line["kind"].as_str().unwrap().to_owned(),
        })
        .collect()
}

#[tokio::test(start_paused = true)]
async fn neighbours_are_joined_and_order_is_kept() {
    let outbox = Outbox::default();
    outbox.push(text("a"));
    outbox.push(text("b"));
    outbox.push(Up::Event(Event {
        kind: EventKind::Streaming,
    }));
    outbox.push(ended(1));
    outbox.push(text("c"));
    outbox.push(Up::Event(Event {
        kind: EventKind::Thought { text: "d".into() },
    }));
    let lines = written(outbox).await;
    assert_eq!(
        kinds(&lines),
        ["text ab", "ended", "text c", "thought d", "finished"]
    );
}

#[tokio::test(start_paused = true)]
async fn nothing_follows_the_last_message() {
    let outbox = Outbox::default();
    outbox.close(last());
    outbox.push(ended(1));
    assert_eq!(kinds(&written(outbox).await), ["finished"]);
}

#[tokio::test(start_paused = true)]
async fn a_root_that_does_not_read_costs_events_and_nothing_else() {
    let outbox = Outbox::default();
    let count = 2 * CROWDED as u64;
    for n in 0..count {
        outbox.push(ended(n));
        outbox.push(text("x"));
    }
    let lines = written(outbox).await;
    let told: Vec<_> = lines
        .iter()
        .filter(|line| line["kind"] == "ended")
        .map(|line| line["admit"].as_u64().unwrap())
        .collect();
    assert_eq!(told, (0..count).collect::<Vec<_>>());
    assert!(lines.iter().filter(|line| line["kind"] == "event").count() <= CROWDED);
}

#[tokio::test(start_paused = true)]
async fn what_streams_is_bounded() {
    let outbox = Outbox::default();
    for _ in 0..100 {
        outbox.push(text(&"x".repeat(10_000)));
    }
    let lines = written(outbox).await;
    assert!(lines[0]["text"].as_str().unwrap().len() <= JOINED_LIMIT);
}

#[tokio::test(start_paused = true)]
async fn a_stream_goes_out_at_a_beat_unless_something_follows_it() {
    let (mut theirs, ours) = duplex(1 << 20);
    let outbox = Arc::new(Outbox::default());
    let writer = tokio::spawn(Arc::clone(&outbox).drain(ours));
    let mut read = async |outbox: &Outbox, message: Up| {
        outbox.push(message);
        // Lets the writer run without letting time pass.
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        let mut lines = Vec::new();
        let mut buffer = vec![0; 4096];
        loop {
            tokio::select! {
                biased;
                len = theirs.read(&mut buffer) => lines.extend_from_slice(&buffer[..len.unwrap()]),
                () = std::future::ready(()) => break,
            }
        }
        String::from_utf8(lines).unwrap().lines().count()
    };
    assert_eq!(read(&outbox, text("first")).await, 1);
    assert_eq!(read(&outbox, text("too soon")).await, 0);
    advance(BEAT).await;
    assert_eq!(read(&outbox, text(", and now")).await, 1);
    assert_eq!(read(&outbox, text("carried out")).await, 0);
    assert_eq!(read(&outbox, ended(1)).await, 2);
    outbox.close(last());
    writer.await.unwrap().unwrap();
}
