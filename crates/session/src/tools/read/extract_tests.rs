use proptest::prelude::*;
use sortie_protocol::Secrets;

use super::*;

/// Reads `range` of `source`.
fn part(source: impl Read, range: Range, limit: usize, keys: &Redactor) -> Extract {
    let wish = Wish {
        range,
        limit,
        keys,
        cancel: &CancellationToken::new(),
        remarks: Vec::new(),
    };
    extract(source, wish).unwrap()
}

fn text(content: &str, range: &str, limit: usize) -> String {
    match part(
        content.as_bytes(),
        range.parse().unwrap(),
        limit,
        &Redactor::default(),
    ) {
        Extract::Text(text) => text,
        other => panic!("{other:?}"),
    }
}

fn lines_of(lines: impl Iterator<Item = String>) -> String {
    lines.flat_map(|line| [line, "\n".to_owned()]).collect()
}

/// Hands out one byte at a time.
struct Drip<'a>(&'a [u8]);

impl Read for Drip<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some((first, rest)) = self.0.split_first() else {
            return Ok(0);
        };
        buffer[0] = *first;
        self.0 = rest;
        Ok(1)
    }
}

#[test]
fn a_long_file_is_cut_between_lines_and_says_how_to_read_on() {
    let content = lines_of((1..=9).map(|n| format!("line {n}")));
    let mut texts = vec![text(&content, "1-", 30), text(&content, "5-", 15)];
    texts.push(text(&content, "5-6", 15));
    insta::assert_snapshot!(texts.join("--\n"), @r#"
    [lines 1-4 of 9]
    line 1
    line 2
    line 3
    line 4
    [more follows; read on with range "5-"]
    --
    [lines 5-6 of 9]
    line 5
    line 6
    [more follows; read on with range "7-"]
    --
    [lines 5-6 of 9]
    line 5
    line 6
    "#);
}

#[test]
fn a_file_of_many_lines_is_cut_too() {
    let content = lines_of((1..=2_500).map(|n| n.to_string()));
    let shown = text(&content, "1-", 1 << 20);
    let lines: Vec<_> = shown.lines().collect();
    insta::assert_snapshot!(format!("{}\n{}", lines[0], lines[2_000..].join("\n")), @r#"
    [lines 1-2000 of 2500]
    2000
    [more follows; read on with range "2001-"]
    "#);
    assert!(text(&content, "2001-", 1 << 20).ends_with("2499\n2500\n"));
}

#[test]
fn a_long_line_is_cut_at_a_character_and_read_on_by_its_bytes() {
    let content = format!("{}\nnext\n", "ä".repeat(8));
    let texts = ["1-", "1:10-", "1:3-6", "1:16-", "2:1-9"].map(|range| text(&content, range, 9));
    insta::assert_snapshot!(texts.join("--\n"), @r#"
    [line 1 of 2]
    äääää
    [line 1 has 16 bytes, and bytes 1-10 are shown; read on with range "1:11-"]
    --
    [line 1, bytes 10-16 of 16]
    äää--
    [line 1, bytes 3-6 of 16]
    ää--
    [line 1, bytes 16-16 of 16]
    --
    [line 2, bytes 1-4 of 4]
    next
    "#);
}

#[test]
fn a_long_line_among_others_is_cut_with_a_mark() {
    let content = format!("one\n{}\r\nthree\n{}", "x".repeat(5_000), "y".repeat(4_001));
    let shown = text(&content, "1-", 1 << 20);
    let shown = shown
        .replace(&"x".repeat(4_000), "[x]")
        .replace(&"y".repeat(4_000), "[y]");
    insta::assert_snapshot!(shown, @r#"
    one
    [x] [… 1001 more bytes of this line: range "2:4001-"]
    three
    [y] [… 1 more bytes of this line: range "4:4001-"]
    "#);
    assert_eq!(
        text(&content, "2", 1 << 20),
        format!("[line 2 of 4]\n{}\r\n", "x".repeat(5_000))
    );
    let rest = text(&content, "2:4001-", 1 << 20);
    assert_eq!(
        rest,
        format!("[line 2, bytes 4001-5001 of 5001]\n{}\r", "x".repeat(1_000))
    );
}

#[test]
fn nothing_and_nonsense_are_told_apart() {
    assert_eq!(text("", "1-", 9), "[empty]\n");
    assert_eq!(text("\n", "1-", 9), "\n");
    let nowhere = |range: &str| {
        part(
            b"a\nb".as_slice(),
            range.parse().unwrap(),
            9,
            &Redactor::default(),
        )
    };
    assert_eq!(nowhere("3-"), Extract::Beyond { lines: 2 });
    assert_eq!(nowhere("3:1-"), Extract::Beyond { lines: 2 });
    assert_eq!(nowhere("2:2-"), Extract::BeyondLine { line: 2, bytes: 1 });
}

#[test]
fn what_else_there_is_to_say_stands_at_the_end() {
    let (keys, cancel) = (Redactor::default(), CancellationToken::new());
    let wish = |remarks: &[&str]| Wish {
        range: Range::ALL,
        limit: 3,
        keys: &keys,
        cancel: &cancel,
        remarks: remarks.iter().map(|&remark| remark.to_owned()).collect(),
    };
    let texts = [
        extract(b"a\xe9".as_slice(), wish(&["old"])).unwrap(),
        extract(b"a\nb\nc\n".as_slice(), wish(&["old", "odd"])).unwrap(),
        extract(b"".as_slice(), wish(&["old"])).unwrap(),
    ]
    .map(|extract| match extract {
        Extract::Text(text) => text,
        other => panic!("{other:?}"),
    });
    insta::assert_snapshot!(texts.join("--\n"), @r#"
    a�
    [not UTF-8: what is no text is shown as �, and `edit` cannot change the file; old]
    --
    [line 1 of 3]
    a
    [more follows; read on with range "2-"; old; odd]
    --
    [empty]
    [old]
    "#);
}

#[test]
fn nothing_is_read_for_nobody() {
    let cancel = CancellationToken::new();
    cancel.cancel();
    let wish = Wish {
        range: Range::ALL,
        limit: 9,
        keys: &Redactor::default(),
        cancel: &cancel,
        remarks: Vec::new(),
    };
    insta::assert_snapshot!(extract(io::repeat(b'x'), wish).unwrap_err(), @"stopped before all of it was read");
}

#[test]
fn no_piece_of_a_key_is_shown_wherever_the_text_is_cut() {
    let mut secrets = Secrets::default();
    secrets.insert("A", "sk-12345678");
    secrets.insert("B", "BEGIN\nmiddle\nEND--");
    let keys = Redactor::new(&secrets);
    let content = "one sk-12345678 two\nBEGIN\nmiddle\nEND--\nsk-12345678\n";
    let spans = |end: u64| {
        (1..=end).flat_map(move |first| (first..=end).map(move |last| Span { first, last }))
    };
    let within = (1..=5).flat_map(|line| spans(19).map(move |bytes| Range::Within { line, bytes }));
    for range in spans(5).map(Range::Lines).chain(within) {
        for limit in 1..=content.len() {
            let text = match part(Drip(content.as_bytes()), range, limit, &keys) {
                Extract::Text(text) => text,
                Extract::BeyondLine { .. } => continue,
                other @ Extract::Beyond { .. } => panic!("{other:?}"),
            };
            for piece in ["sk", "123", "678", "BEG", "middle", "END"] {
                assert!(!text.contains(piece), "{range:?}, {limit}: {text}");
            }
        }
    }
    let Extract::Text(whole) = part(content.as_bytes(), Range::ALL, 1_000, &keys) else {
        panic!("it is text")
    };
    insta::assert_snapshot!(whole, @"
    one [key A] two
    [key B]
    [key A]
    ");
}

#[test]
fn no_piece_of_a_key_is_shown_where_a_line_is_cut_short() {
    let mut secrets = Secrets::default();
    secrets.insert("A", "sk-12345678");
    let keys = Redactor::new(&secrets);
    for before in LINE - 12..LINE + 2 {
        let line = format!("{}sk-12345678{}\n", "x".repeat(before), "y".repeat(5));
        let Extract::Text(text) = part(line.repeat(3).as_bytes(), Range::ALL, 1 << 20, &keys)
        else {
            panic!("it is text")
        };
        for piece in ["sk", "123", "678"] {
            assert!(!text.contains(piece), "{before}: {text}");
        }
    }
}

proptest! {
    #[test]
    fn what_fits_is_untouched_however_it_arrives(content in "(\\PC{0,9}\r?\n){0,9}\\PC{1,9}") {
        prop_assume!(!content.contains('\0'));
        let whole = part(Drip(content.as_bytes()), Range::ALL, 1 << 20, &Redactor::default());
        prop_assert_eq!(whole, Extract::Text(content));
    }

    #[test]
    fn reading_on_shows_every_line_once(lines in prop::collection::vec("[a-z]{0,8}", 1..40), limit in 9_usize..60) {
        let content = lines_of(lines.iter().cloned());
        let mut seen = String::new();
        let mut first = 1;
        loop {
            let shown = text(&content, &format!("{first}-"), limit);
            let more = shown.contains("\n[more follows");
            let body: Vec<_> = shown.lines().filter(|line| !line.starts_with('[')).collect();
            prop_assert!(!body.is_empty());
            for line in &body {
                seen.push_str(line);
                seen.push('\n');
            }
            first += body.len();
            if !more {
                break;
            }
        }
        prop_assert_eq!(seen, content);
    }

    #[test]
    fn every_byte_of_a_long_line_can_be_read(line in "\\PC{1,60}", before in "(\\PC{0,9}\n){0,2}", limit in 1_usize..20) {
        let content = format!("{before}{line}\nafter\n");
        let number = before.matches('\n').count() + 1;
        let mut seen = String::new();
        loop {
            let range = format!("{number}:{}-", seen.len() + 1).parse().unwrap();
            let shown = match part(Drip(content.as_bytes()), range, limit, &Redactor::default()) {
                Extract::Text(text) => text,
                other => panic!("{other:?}"),
            };
            let (heading, body) = shown.split_once('\n').unwrap();
            let more = body.rsplit_once("\n[more of it follows");
            let body = more.map_or(body, |(body, _)| body);
            prop_assert!(!body.is_empty());
            let place = format!("[line {number}, bytes {}-{} of {}]", seen.len() + 1, seen.len() + body.len(), line.len());
            prop_assert_eq!(heading, place);
            seen.push_str(body);
            if more.is_none() {
                break;
            }
        }
        prop_assert_eq!(seen, line);
    }
}
