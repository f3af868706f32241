use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn decode_all(bytes: &[u8], step: usize) -> Vec<Result<Value, DecodeError>> {
    let mut decoder = Decoder::default();
    let mut out = Vec::new();
    for chunk in bytes.chunks(step.max(1)) {
        decoder.feed(chunk);
        while let Some(message) = decoder.next_message() {
            out.push(message);
        }
    }
    out
}

#[test]
fn a_long_document_travels_in_parts_of_bounded_length() {
    let document = json!({"kind": "x", "text": "\"é\\\n".repeat(400_000)});
    let mut buffer = Vec::new();
    encode(&document, &mut buffer).unwrap();
    let lines: Vec<_> = buffer.split(|&b| b == b'\n').collect();
    assert!(lines.len() > 3, "{} lines", lines.len());
    assert!(lines.iter().all(|line| line.len() <= LINE_LIMIT));
    let mut back = decode_all(&buffer, 64 << 10);
    assert_eq!(back.len(), 1);
    assert_eq!(back.pop().unwrap().unwrap(), document);
}

#[test]
fn a_stray_line_costs_one_message_and_no_more() {
    let bytes = b"hello there\n{\"a\":1}\n\n{\"b\":\n{\"c\":3}\n";
    let back = decode_all(bytes, 3);
    let shown: Vec<_> = back
        .iter()
        .map(|message| {
            message
                .as_ref()
                .map_or_else(|_| "fault".to_owned(), Value::to_string)
        })
        .collect();
    assert_eq!(shown, ["fault", r#"{"a":1}"#, "fault", r#"{"c":3}"#]);
}

#[test]
fn a_line_without_end_is_reported_once_and_not_kept() {
    let mut decoder = Decoder::default();
    let mut faults = 0;
    for _ in 0..40 {
        decoder.feed(&vec![b'x'; 100_000]);
        while let Some(message) = decoder.next_message::<Value>() {
            assert!(matches!(message, Err(DecodeError::TooLong)));
            faults += 1;
        }
        assert!(decoder.rest().len() <= LINE_LIMIT);
    }
    decoder.feed(b"tail\n{\"ok\":true}\n");
    assert_eq!(
        decoder.next_message::<Value>().unwrap().unwrap(),
        json!({"ok": true})
    );
    assert_eq!(faults, 1);
}

#[test]
fn parts_out_of_order_are_a_fault() {
    let lines = b"{\"kind\":\"part\",\"i\":1,\"of\":2,\"text\":\"x\"}\n{\"ok\":1}\n";
    let back = decode_all(lines, 1000);
    assert!(matches!(
        back[0],
        Err(DecodeError::OutOfOrder {
            expected: 0,
            found: 1
        })
    ));
    assert_eq!(*back[1].as_ref().unwrap(), json!({"ok": 1}));
}

proptest! {
    #[test]
    fn messages_come_back_whatever_the_cuts(texts in prop::collection::vec(".{0,40}", 0..12), step in 1_usize..64) {
        let documents: Vec<Value> = texts.iter().map(|text| json!({"text": text})).collect();
        let mut buffer = Vec::new();
        for document in &documents {
            encode(document, &mut buffer).unwrap();
        }
        let back: Vec<Value> = decode_all(&buffer, step).into_iter().map(Result::unwrap).collect();
        prop_assert_eq!(back, documents);
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..400), step in 1_usize..32) {
        decode_all(&bytes, step);
    }
}
