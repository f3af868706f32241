//! Where the header of a file ends and its instructions begin.

use sortie_config::{Problem, Source};

use crate::definition::Span;

/// The longest agent file, in bytes.
pub(crate) const FILE_LIMIT: u64 = 1 << 20;

/// The parts of a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Parts {
    /// The YAML between the fences.
    pub header: Span,
    /// What follows, without blank space around it.
    pub body: Span,
}

/// The text without the bytes that do not matter: a byte-order mark, and carriage returns at line ends.
pub(crate) fn plain(text: &str) -> String {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.contains('\r') {
        text.replace("\r\n", "\n").replace('\r', "\n")
    } else {
        text.to_owned()
    }
}

/// Finds the fences: lines of exactly `---`, the first of them the first line. The last may lack its line end.
pub(crate) fn split(source: &Source) -> Result<Parts, Problem> {
    let text = source.text();
    let mut lines = lines(text);
    let header = match lines.next() {
        Some(first) if is_fence(&text[first.clone()]) => first.end,
        first => return Err(no_header(source, first.unwrap_or(0..0))),
    };
    for line in lines {
        let written = &text[line.clone()];
        if is_fence(written) {
            return Ok(Parts {
                header: header..line.start,
                body: trimmed(text, line.end),
            });
        }
        if written.starts_with("---") {
            return Err(
                Problem::error("a line that begins with `---` but is no fence")
                    .at(source, line.start..line.start + written.trim_end().len())
                    .help("the header ends with a line of exactly `---`"),
            );
        }
    }
    Err(Problem::error("the header is not closed")
        .at(source, 0..3)
        .help("end it with a line of exactly `---`, and put the instructions below it"))
}

/// The byte at a line and a column, both from 1.
pub(crate) fn offset(text: &str, line: u64, column: u64) -> usize {
    let skip = |n: u64| usize::try_from(n.saturating_sub(1)).unwrap_or(usize::MAX);
    let start: usize = text
        .split_inclusive('\n')
        .take(skip(line))
        .map(str::len)
        .sum();
    let columns = text[start..].chars().take(skip(column));
    start + columns.map(char::len_utf8).sum::<usize>()
}

fn no_header(source: &Source, first: Span) -> Problem {
    let end = first.start + source.text()[first.clone()].trim_end().len();
    Problem::error("there is no header")
        .at(source, first.start..end)
        .help("begin the file with `---`, then `name:` and `description:`, then `---`")
}

fn is_fence(line: &str) -> bool {
    line.trim_end() == "---"
}

/// The spans of the lines, each with its line end.
fn lines(text: &str) -> impl Iterator<Item = Span> {
    text.split_inclusive('\n').scan(0, |at, line| {
        let start = *at;
        *at += line.len();
        Some(start..*at)
    })
}

fn trimmed(text: &str, start: usize) -> Span {
    let rest = &text[start..];
    let begin = start + (rest.len() - rest.trim_start().len());
    begin..begin + rest.trim().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Result<[String; 2], String> {
        let source = Source::new("a.md", plain(text));
        match split(&source) {
            Ok(Parts { header, body }) => {
                Ok([header, body].map(|part| source.text()[part].to_owned()))
            }
            Err(problem) => {
                let (line, column) = problem.position().unwrap();
                Err(format!("{line}:{column}: {}", problem.message()))
            }
        }
    }

    fn pair(text: &str) -> [String; 2] {
        parts(text).unwrap()
    }

    #[test]
    fn bytes_that_do_not_matter_change_nothing() {
        for text in [
            "---\nname: a\n---\nBody\n",
            "\u{feff}---\r\nname: a\r\n---\r\nBody\r\n",
            "---  \nname: a\n--- \n\n Body \n\n",
            "---\rname: a\r---\rBody",
        ] {
            assert_eq!(pair(text), ["name: a\n", "Body"], "{text:?}");
        }
    }

    #[test]
    fn the_last_fence_may_lack_its_line_end() {
        assert_eq!(pair("---\nname: a\n---"), ["name: a\n", ""]);
        assert_eq!(pair("---\n---"), ["", ""]);
    }

    #[test]
    fn later_fences_belong_to_the_body() {
        assert_eq!(pair("---\na: 1\n---\nx\n---\ny"), ["a: 1\n", "x\n---\ny"]);
    }

    #[test]
    fn what_is_no_header_is_said_where_it_stands() {
        let fault = |text| parts(text).unwrap_err();
        assert_eq!(fault(""), "1:1: there is no header");
        assert_eq!(fault("\n---\n---\n"), "1:1: there is no header");
        assert_eq!(fault("# Title\n"), "1:1: there is no header");
        assert_eq!(fault("----\na: 1\n---\n"), "1:1: there is no header");
        assert_eq!(fault("---\nname: a\n"), "1:1: the header is not closed");
        assert_eq!(
            fault("---\na: 1\n---- \nx\n"),
            "3:1: a line that begins with `---` but is no fence"
        );
    }
}
