use proptest::prelude::*;
use sortie_protocol::Secrets;

use super::*;

fn text(content: &str, range: &str, limit: usize) -> String {
    match extract(
        content.as_bytes(),
        range.parse().unwrap(),
        limit,
        &Redactor::default(),
    )
    .unwrap()
    {
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
fn a_long_line_is_cut_at_a_character() {
    insta::assert_snapshot!(text(&format!("{}\nnext\n", "ä".repeat(100)), "1-", 9), @r#"
    [line 1 of 2]
    ääää
    [line 1 is longer than 9 bytes and was cut; for the rest of it use a command]
    "#);
}

#[test]
fn nothing_and_nonsense_are_told_apart() {
    assert_eq!(text("", "1-", 9), "[empty file]\n");
    assert_eq!(text("\n", "1-", 9), "\n");
    let beyond = extract(
        b"a\nb".as_slice(),
        "3-".parse().unwrap(),
        9,
        &Redactor::default(),
    )
    .unwrap();
    assert_eq!(beyond, Extract::Beyond { lines: 2 });
    let binary = extract(b"a\0b".as_slice(), Range::ALL, 9, &Redactor::default()).unwrap();
    assert_eq!(binary, Extract::Binary);
}

#[test]
fn no_piece_of_a_key_is_shown_wherever_the_text_is_cut() {
    let mut secrets = Secrets::default();
    secrets.insert("A", "sk-12345678");
    secrets.insert("B", "BEGIN\nmiddle\nEND--");
    let keys = Redactor::new(&secrets);
    let content = "one sk-12345678 two\nBEGIN\nmiddle\nEND--\nsk-12345678\n";
    for first in 1..=5 {
        for last in first..=5 {
            for limit in 1..=content.len() {
                let range = Range { first, last };
                let extract = extract(Drip(content.as_bytes()), range, limit, &keys).unwrap();
                let Extract::Text(text) = extract else {
                    panic!("{extract:?}")
                };
                for piece in ["sk", "123", "678", "BEG", "middle", "END"] {
                    assert!(!text.contains(piece), "{first}-{last}, {limit}: {text}");
                }
            }
        }
    }
    let whole = extract(content.as_bytes(), Range::ALL, 1_000, &keys).unwrap();
    let Extract::Text(whole) = whole else {
        panic!("{whole:?}")
    };
    insta::assert_snapshot!(whole, @"
    one [key A] two
    [key B]
    [key A]
    ");
}

proptest! {
    #[test]
    fn what_fits_is_untouched_however_it_arrives(content in "(\\PC{0,9}\r?\n){0,9}\\PC{1,9}") {
        prop_assume!(!content.contains('\0'));
        let whole = extract(Drip(content.as_bytes()), Range::ALL, 1 << 20, &Redactor::default()).unwrap();
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
}
