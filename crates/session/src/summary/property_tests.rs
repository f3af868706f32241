//! What holds for every summary, over programs that are made up and over bytes that are no program.

use proptest::prelude::*;

use super::{
    FEW_LINES,
    checked::{covers, is_a_tenth, ranges},
    tests::summary_of,
};

/// A piece of a program, in every language at once.
#[derive(Clone, Debug)]
enum Piece {
    Comment(usize),
    Blank(usize),
    Import(usize),
    Constant(usize),
    Function { signature: usize, body: usize },
    Type(Vec<Piece>),
}

fn pieces() -> impl Strategy<Value = Vec<Piece>> {
    let leaf = prop_oneof![
        (1_usize..4).prop_map(Piece::Comment),
        (1_usize..3).prop_map(Piece::Blank),
        (1_usize..30).prop_map(Piece::Import),
        (1_usize..40).prop_map(Piece::Constant),
        (1_usize..15, 1_usize..90)
            .prop_map(|(signature, body)| Piece::Function { signature, body }),
    ];
    let piece = leaf.prop_recursive(2, 30, 12, |inner| {
        prop::collection::vec(inner, 1..12).prop_map(Piece::Type)
    });
    prop::collection::vec(piece, 1..60)
}

const NAMES: [&str; 5] = ["a.rs", "a.py", "a.ts", "a.jsx", "a.go"];

/// The program in the language of a file called `name`.
fn program(name: &str, pieces: &[Piece]) -> String {
    let mut writer = Writer {
        language: &name[2..],
        text: String::new(),
        indent: 0,
        serial: 0,
    };
    if writer.language == "go" {
        writer.line("package a");
    }
    writer.all(pieces);
    writer.text
}

struct Writer<'a> {
    language: &'a str,
    text: String,
    indent: usize,
    serial: usize,
}

impl Writer<'_> {
    fn line(&mut self, line: &str) {
        if !line.is_empty() {
            self.text += &"    ".repeat(self.indent);
            self.text += line;
        }
        self.text.push('\n');
    }

    fn lines(&mut self, count: usize, line: &str) {
        for _ in 0..count {
            self.line(line);
        }
    }

    fn all(&mut self, pieces: &[Piece]) {
        for piece in pieces {
            self.piece(piece);
        }
    }

    fn piece(&mut self, piece: &Piece) {
        self.serial += 1;
        let n = self.serial;
        match (piece, self.language) {
            (Piece::Comment(count), "py") => self.lines(*count, "# says … 3-4 something"),
            (Piece::Comment(count), _) => self.lines(*count, "/// says … 3-4 something"),
            (Piece::Blank(count), _) => self.lines(*count, ""),
            (Piece::Import(count), "py") => self.lines(*count, "import os"),
            (Piece::Import(count), "rs") => self.lines(*count, "use a::b;"),
            (Piece::Import(count), "go") => self.lines(*count, "// imports come first"),
            (Piece::Import(_), _) if self.indent > 0 => self.line("limit = 3;"),
            (Piece::Import(count), _) => self.lines(*count, "import a from 'b';"),
            (Piece::Constant(_), "rs") => self.line(&format!("const C{n}: u8 = 1;")),
            (Piece::Constant(count), "py") => {
                self.line(&format!("C{n} = ["));
                self.lines(*count, "    1,");
                self.line("]");
            }
            (Piece::Constant(_), "go") => self.line(&format!("var c{n} = 1")),
            (Piece::Constant(_), _) if self.indent > 0 => self.line(&format!("c{n} = 3;")),
            (Piece::Constant(count), _) => {
                self.line(&format!("const c{n} = ["));
                self.lines(*count, "  1,");
                self.line("];");
            }
            (Piece::Function { signature, body }, _) => self.function(n, *signature, *body),
            (Piece::Type(inner), "py") => self.block(&format!("class T{n}:"), inner, ""),
            (Piece::Type(inner), "rs") => self.block(&format!("mod m{n} {{"), inner, "}"),
            (Piece::Type(inner), "go") => {
                self.line(&format!("type T{n} struct {{"));
                self.lines(inner.len(), "    field int");
                self.line("}");
            }
            (Piece::Type(inner), _) if self.indent > 0 => self.all(&inner[..0]),
            (Piece::Type(inner), _) => {
                let methods: Vec<_> = inner
                    .iter()
                    .filter(|piece| !matches!(piece, Piece::Type(_)))
                    .cloned()
                    .collect();
                self.block(&format!("class T{n} {{"), &methods, "}");
            }
        }
    }

    fn block(&mut self, open: &str, inner: &[Piece], close: &str) {
        self.line(open);
        self.indent += 1;
        self.all(inner);
        if self.language == "py" {
            self.line("pass");
        }
        self.indent -= 1;
        if !close.is_empty() {
            self.line(close);
        }
    }

    fn function(&mut self, n: usize, parameters: usize, body: usize) {
        let (open, parameter, close) = match self.language {
            "rs" => ("fn", "x: u8,", ") {"),
            "py" => ("def", "x,", "):"),
            "go" => ("func", "x int,", ") {"),
            "ts" if self.indent == 0 => ("function", "x: number,", ") {"),
            "jsx" if self.indent == 0 => ("function", "x,", ") {"),
            _ => ("", "x,", ") {"),
        };
        let head = format!("{open} f{n}(");
        self.line(head.trim_start());
        for nth in 0..parameters {
            self.line(&format!(
                "    {}",
                parameter.replacen('x', &format!("x{nth}"), 1)
            ));
        }
        self.line(close);
        self.lines(body, "    step(1);");
        if self.language != "py" {
            self.line("}");
        }
    }
}

/// Asserts all that holds for the summary of `text`, if it has one. Returns whether it has.
fn check(name: &str, text: &str) -> bool {
    let Some(summary) = summary_of(name, text) else {
        return false;
    };
    covers(&summary, text);
    assert!(ranges(&summary).iter().any(|(_, shown)| *shown));
    assert!(summary.len() <= 48 << 10 && summary.len() * 2 <= text.len());
    if text.lines().count() >= 2_000 {
        is_a_tenth(&summary, text);
    }
    true
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_line_is_in_one_range(pieces in pieces(), crlf: bool) {
        for name in NAMES {
            let mut text = program(name, &pieces);
            if crlf {
                text = text.replace('\n', "\r\n");
            }
            let is_summarised = check(name, &text);
            let has_function = pieces.iter().any(|piece| matches!(piece, Piece::Function { .. }));
            if text.lines().count() > FEW_LINES && text.len() > 10_000 && has_function {
                prop_assert!(is_summarised, "{name}: {text}");
            }
        }
    }

    #[test]
    fn no_damage_is_too_odd(pieces in pieces(), damage in prop::collection::vec((any::<prop::sample::Index>(), "\\PC{0,3}|[(){}\\[\\]\"'`\n]"), 1..30)) {
        for name in NAMES {
            let mut text = program(name, &pieces);
            for (place, instead) in &damage {
                let at = text.floor_char_boundary(place.index(text.len() + 1));
                let end = text.ceil_char_boundary((at + 3).min(text.len()));
                text.replace_range(at..end, instead);
            }
            check(name, &text);
        }
    }

    #[test]
    fn no_text_is_too_odd(lines in prop::collection::vec("\\PC{0,60}|[ \\t]*[a-z(){};:.\"'`#/*=<>-]{0,40}", 401..600)) {
        let text = lines.join("\n");
        for name in NAMES {
            check(name, &text);
        }
    }
}
