use proptest::prelude::*;

use super::*;
use crate::tools::fixture::Bench;

fn captured(bench: &Bench, pieces: &[&[u8]]) -> String {
    let mut capture = Capture::new(&bench.context, "bash");
    for piece in pieces {
        capture.push(piece);
    }
    capture.finish()
}

#[test]
fn what_fits_stays_as_it_is() {
    let bench = Bench::new().with_limit(10);
    assert_eq!(captured(&bench, &[]), "");
    assert_eq!(captured(&bench, &[b"12345", b"6789\n"]), "123456789\n");
    assert_eq!(captured(&bench, &[b"no end"]), "no end\n");
    assert!(bench.kept.pieces().is_empty());
}

#[test]
fn what_does_not_fit_keeps_its_head_and_its_tail_and_goes_on_whole() {
    let bench = Bench::new().with_limit(40);
    let lines: Vec<_> = (1..=100).map(|n| format!("line {n}\n")).collect();
    let pieces: Vec<_> = lines.iter().map(String::as_bytes).collect();
    insta::assert_snapshot!(captured(&bench, &pieces), @"
    line 1
    line 2
    [761 of 792 bytes left out; `agent://A/bash-7` is all of it, for `read`]
    line 99
    line 100
    ");
    assert_eq!(bench.kept.whole("bash-7"), lines.concat());
}

#[test]
fn one_endless_line_is_cut_within() {
    let bench = Bench::new().with_limit(20);
    let long = "ä".repeat(1_000);
    let text = captured(&bench, &[long.as_bytes()]);
    insta::assert_snapshot!(text, @"
    äääää
    [1978 of 2000 bytes left out; `agent://A/bash-7` is all of it, for `read`]
    äääää
    ");
    assert_eq!(bench.kept.whole("bash-7"), long);
}

#[test]
fn much_output_is_sent_in_pieces_and_not_kept() {
    let bench = Bench::new().with_limit(1_000);
    let mut capture = Capture::new(&bench.context, "bash");
    let block = [b'x'; 4_096];
    for _ in 0..1_000 {
        capture.push(&block);
        let held = capture.head.len() + capture.tail.len() + capture.piece.len();
        assert!(held < 4 * PIECE, "{held}");
    }
    assert!(capture.finish().len() < 1_200);
    let pieces = bench.kept.pieces();
    assert_eq!(bench.kept.whole("bash-7").len(), 4_096_000);
    assert!(pieces.iter().all(|(_, text)| text.len() <= PIECE + 4_096));
}

#[test]
fn an_artifact_has_a_limit_too() {
    let bench = Bench::new().with_limit(1_000);
    let mut capture = Capture::new(&bench.context, "bash");
    let block = vec![b'x'; 1 << 20];
    for _ in 0..40 {
        capture.push(&block);
    }
    let text = capture.finish();
    let note = text.lines().nth(1).unwrap();
    insta::assert_snapshot!(note, @"[41942038 of 41943040 bytes left out; `agent://A/bash-7` is the first 33554432 bytes, for `read`]");
    assert_eq!(bench.kept.whole("bash-7").len(), 32 << 20);
}

#[test]
fn keys_are_gone_before_anything_is_cut() {
    let key = "sk-1234567890";
    // Wherever the cuts of the head and the tail fall within the key.
    for before in 0..60 {
        let bench = Bench::new().with_limit(40).with_key("A", key);
        let line = format!("{}{key}{}", "x".repeat(before), "y".repeat(60 - before));
        let pieces: Vec<_> = line.as_bytes().chunks(7).collect();
        let text = captured(&bench, &pieces);
        for shown in [text, bench.kept.whole("bash-7")] {
            let is_seen =
                |len: usize| shown.contains(&key[..len]) || shown.contains(&key[13 - len..]);
            assert!(!is_seen(3), "{before}: {shown}");
        }
        assert!(bench.kept.whole("bash-7").contains("[key A]"));
    }
}

#[test]
fn a_key_that_the_output_ends_within_is_one() {
    let bench = Bench::new().with_key("A", "sk-1234567890");
    assert_eq!(captured(&bench, &[b"a sk-12", b"34"]), "a [key A]\n");
}

proptest! {
    #[test]
    fn characters_survive_any_cut(text in "\\PC{0,60}", step in 1_usize..9) {
        let bench = Bench::new();
        let pieces: Vec<_> = text.as_bytes().chunks(step).collect();
        prop_assert_eq!(captured(&bench, &pieces), ended(text.clone()));
    }

    #[test]
    fn bytes_that_are_no_text_read_as_they_do_whole(bytes in prop::collection::vec(any::<u8>(), 0..60), step in 1_usize..9) {
        let mut decoder = Decoder::default();
        let mut text = String::new();
        for piece in bytes.chunks(step) {
            text.push_str(&decoder.push(piece));
        }
        text.push_str(&decoder.finish());
        prop_assert_eq!(text, String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn an_answer_is_never_much_longer_than_its_limit(
        lines in prop::collection::vec("\\PC{0,30}\n?", 0..40), limit in 0_usize..200,
    ) {
        let bench = Bench::new().with_limit(limit);
        let pieces: Vec<_> = lines.iter().map(String::as_bytes).collect();
        let text = captured(&bench, &pieces);
        prop_assert!(text.len() <= limit + 120, "{}", text.len());
        let whole = lines.concat();
        if whole.len() > limit {
            prop_assert_eq!(bench.kept.whole("bash-7"), whole);
        } else {
            prop_assert_eq!(text, ended(whole));
        }
    }
}
