use std::time::Duration;

use serde_json::json;
use sortie_protocol::codec::{Decoder, encode};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, DuplexStream, ReadHalf, WriteHalf, duplex, split},
    time::timeout,
};

use super::*;

struct Root {
    link: Link,
    opening: mpsc::UnboundedReceiver<Down>,
    up: ReadHalf<DuplexStream>,
    down: WriteHalf<DuplexStream>,
    decoder: Decoder,
}

impl Root {
    fn new() -> Self {
        let (ours, theirs) = duplex(64 << 10);
        let (input, output) = split(theirs);
        let Opened { link, opening, .. } = Link::open(input, output);
        let (up, down) = split(ours);
        Self {
            link,
            opening,
            up,
            down,
            decoder: Decoder::default(),
        }
    }

    async fn say(&mut self, word: Down) {
        let mut line = Vec::new();
        encode(&word, &mut line).unwrap();
        self.down.write_all(&line).await.unwrap();
    }

    async fn hear(&mut self) -> Up {
        let mut buffer = vec![0; 4096];
        loop {
            if let Some(message) = self.decoder.next_message() {
                return message.unwrap();
            }
            let len = self.up.read(&mut buffer).await.unwrap();
            assert!(len > 0, "the child closed its end");
            self.decoder.feed(&buffer[..len]);
        }
    }
}

fn spawn(n: u64) -> Call {
    Call::Spawn { args: json!(n) }
}

fn text(text: &str) -> Reply {
    Reply::Text {
        ok: true,
        text: text.into(),
    }
}

#[tokio::test(start_paused = true)]
async fn answers_find_their_calls_in_any_order() {
    let mut root = Root::new();
    let (first, second) = (root.link.call(spawn(1)), root.link.call(spawn(2)));
    let (one, two) = (first.id(), second.id());
    assert_ne!(one, two);
    root.say(Down::Reply {
        id: two,
        reply: text("two"),
    })
    .await;
    root.say(Down::Reply {
        id: 999,
        reply: text("nobody asked"),
    })
    .await;
    root.say(Down::Reply {
        id: one,
        reply: text("one"),
    })
    .await;
    assert_eq!(second.answer().await, text("two"));
    assert_eq!(first.answer().await, text("one"));
    assert_eq!(
        root.hear().await,
        Up::Call {
            id: one,
            call: spawn(1)
        }
    );
    assert_eq!(
        root.hear().await,
        Up::Call {
            id: two,
            call: spawn(2)
        }
    );
    // Answered calls are not taken back.
    root.link.send(Up::Delivered { id: "next".into() });
    assert_eq!(root.hear().await, Up::Delivered { id: "next".into() });
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_dropped_is_taken_back() {
    let mut root = Root::new();
    let call = root.link.call(spawn(1));
    let id = call.id();
    drop(call);
    let waiting = root.link.call(spawn(2));
    let second = waiting.id();
    assert!(
        timeout(Duration::from_millis(1), waiting.answer())
            .await
            .is_err()
    );
    assert_eq!(root.hear().await, Up::Call { id, call: spawn(1) });
    assert_eq!(root.hear().await, Up::Drop { id });
    assert_eq!(
        root.hear().await,
        Up::Call {
            id: second,
            call: spawn(2)
        }
    );
    assert_eq!(root.hear().await, Up::Drop { id: second });
}

#[tokio::test(start_paused = true)]
async fn a_record_is_taken_once_the_root_says_so_and_stays_taken() {
    let mut root = Root::new();
    let early = timeout(Duration::from_secs(1), root.link.taken(2)).await;
    assert!(early.is_err());
    root.say(Down::Taken { n: 3 }).await;
    root.link.taken(2).await;
    root.link.taken(3).await;
    root.say(Down::Taken { n: 1 }).await;
    root.link.taken(3).await;
}

#[tokio::test(start_paused = true)]
async fn pieces_of_an_artifact_follow_each_other() {
    let mut root = Root::new();
    root.link.append("bash-1", "é1");
    root.link.clone().append("bash-1", "two");
    root.link.append("bash-2", "other");
    let mut pieces = Vec::new();
    for _ in 0..3 {
        match root.hear().await {
            Up::Artifact { name, offset, text } => pieces.push(format!("{name} {offset} {text}")),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(pieces, ["bash-1 0 é1", "bash-1 3 two", "bash-2 0 other"]);
}

#[tokio::test(start_paused = true)]
async fn what_comes_down_is_sorted() {
    let mut root = Root::new();
    assert!(!root.link.has_mail());
    root.say(Down::Steer {
        text: "left".into(),
    })
    .await;
    root.say(Down::Deliver {
        id: "d".into(),
        text: "done".into(),
    })
    .await;
    root.say(Down::Prompt {
        text: "do it".into(),
    })
    .await;
    assert_eq!(
        root.opening.recv().await,
        Some(Down::Prompt {
            text: "do it".into()
        })
    );
    let mail: Vec<_> = root.link.take_mail().into();
    let delivery = Mail::Deliver {
        id: "d".into(),
        text: "done".into(),
    };
    assert_eq!(mail, [Mail::Steer("left".into()), delivery]);
    assert!(!root.link.has_mail());
    root.say(Down::Cancel {
        reason: "enough".into(),
    })
    .await;
    root.link.cancelled().cancelled().await;
    drop((root.up, root.down));
    root.link.gone().cancelled().await;
}
