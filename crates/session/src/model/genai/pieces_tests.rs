//! A body that comes byte by byte, with the line ends of a gateway.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    thread,
};

use sortie_protocol::Api;

use super::asking::Asking;

const WORDS: [&str; 3] = ["Do A. ", "Do NOT delete B. ", "Do C."];

/// The frames of an answer that says [`WORDS`], a comment before each.
fn frames(api: Api) -> String {
    let delta = |text: &str| match api {
        Api::AnthropicMessages => format!(
            r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"text_delta","text":"{text}"}}}}"#
        ),
        _ => format!(r#"{{"choices":[{{"index":0,"delta":{{"content":"{text}"}}}}]}}"#),
    };
    let end = match api {
        Api::AnthropicMessages => {
            r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"}}"#.to_owned()
        }
        _ => r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#.to_owned(),
    };
    let named = |data: String| match api {
        Api::AnthropicMessages => {
            let kind = if data.contains("message_delta") {
                "message_delta"
            } else {
                "content_block_delta"
            };
            format!(": still here\r\n\r\nevent: {kind}\r\ndata: {data}\r\n\r\n")
        }
        _ => format!(": still here\r\n\r\ndata: {data}\r\n\r\n"),
    };
    WORDS
        .map(delta)
        .into_iter()
        .chain([end])
        .map(named)
        .collect()
}

/// Takes a request in and answers it, a byte at a time.
fn answer(mut stream: &TcpStream, body: &str) {
    stream.set_nodelay(true).unwrap();
    let mut request = Vec::new();
    let mut some = [0; 4096];
    let is_whole = |request: &[u8]| {
        let text = String::from_utf8_lossy(request);
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            return false;
        };
        let head = head.to_ascii_lowercase();
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "))
            .unwrap();
        body.len() >= length.parse().unwrap()
    };
    while !is_whole(&request) {
        let read = stream.read(&mut some).unwrap();
        request.extend_from_slice(&some[..read]);
    }
    stream
        .write_all(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n",
        )
        .unwrap();
    for byte in body.bytes() {
        stream.write_all(&[byte]).unwrap();
        thread::yield_now();
    }
}

#[tokio::test]
async fn no_word_is_lost_wherever_a_body_is_parted() {
    for api in [Api::OpenaiCompletions, Api::AnthropicMessages] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let server = thread::spawn(move || answer(&listener.accept().unwrap().0, &frames(api)));
        let answer = Asking::at(&url, api).answer().await.unwrap();
        assert_eq!(answer.text, WORDS.concat(), "{api}");
        server.join().unwrap();
    }
}
