//! Reading a header that is not quite YAML.
//!
//! `description: Checks three things: sizes, dates, totals` is an error in YAML, and what people write. Such a line is
//! read as plain text, with a warning that offers the quoted form, provided that it is one whole line and its key is
//! one that holds text. Nothing else is guessed at: a broken list or a repeated key refuses the file.

use sortie_config::{Node, Problem, Source};

use crate::{
    definition::{Field, Span},
    header,
};

/// Keys that hold one line of text.
const TEXT_KEYS: [&str; 10] = [
    "name",
    "description",
    "model",
    "thinking-level",
    "thinkingLevel",
    "thinking",
    "effort",
    "prewalk",
    "advisor",
    "color",
];

/// A header as read.
#[derive(Debug)]
pub(crate) struct Header {
    /// What YAML reads.
    pub node: Node,
    /// Lines that were read as plain text.
    pub lines: Vec<PlainLine>,
}

/// A line that was read as plain text.
#[derive(Debug)]
pub(crate) struct PlainLine {
    pub key: Field<String>,
    pub value: Field<String>,
}

impl PlainLine {
    /// What its author should know.
    pub(crate) fn warning(&self, source: &Source) -> Problem {
        let (key, text) = (&self.key.value, &self.value.value);
        let quoted = serde_json::Value::from(text.as_str());
        Problem::warning(format!(
            "the text of `{key}` is not valid YAML as it stands"
        ))
        .at(source, self.value.span.clone())
        .help(format!(
            "it was read as one line of text; write `{key}: {quoted}`"
        ))
    }
}

/// Reads the YAML at `span` of `source`.
pub(crate) fn parse(source: &Source, span: Span) -> Result<Header, Problem> {
    let fault = match Node::parse_part(source, span.clone()) {
        Ok(node) => {
            return Ok(Header {
                node,
                lines: Vec::new(),
            });
        }
        Err(fault) => located(&fault, source),
    };
    let lines = plain_lines(source.text(), span.clone());
    if lines.is_empty() {
        return Err(fault);
    }
    // The same text with those lines blank: every position stays what it was.
    let mut text = source.text().to_owned().into_bytes();
    for line in &lines {
        text[line.key.span.start..line.value.span.end].fill(b' ');
    }
    let blanked = Source::new(source.path(), String::from_utf8(text).unwrap_or_default());
    match Node::parse_part(&blanked, span) {
        Ok(node) => Ok(Header { node, lines }),
        // Those lines are forgiven, so what is wrong is what is left.
        Err(left) => Err(located(&left, source)),
    }
}

/// The same fault, shown in the text as it was written.
fn located(fault: &Problem, source: &Source) -> Problem {
    let (line, column) = fault.position().unwrap_or((1, 1));
    let at = header::offset(source.text(), line, column);
    advised(fault.clone()).at(source, at..at)
}

/// The parser's words, with advice where they alone would not help whoever wrote the file.
fn advised(fault: Problem) -> Problem {
    if fault
        .message()
        .starts_with("mapping values are not allowed")
    {
        return fault.help("put text that holds `: ` in quotes, and begin every key of the header in the first column");
    }
    fault
}

/// Lines `key: text` whose text YAML cannot read and whose meaning is plain all the same.
fn plain_lines(text: &str, span: Span) -> Vec<PlainLine> {
    let mut found = Vec::new();
    let mut start = span.start;
    let mut lines = text[span].split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let continues = lines
            .peek()
            .is_some_and(|next| next.starts_with([' ', '\t']) && !next.trim().is_empty());
        if !continues && let Some(plain) = plain_line(line, start) {
            found.push(plain);
        }
        start += line.len();
    }
    found
}

fn plain_line(line: &str, start: usize) -> Option<PlainLine> {
    let (key, rest) = line.split_once(':')?;
    let value = rest.trim();
    let breaks_yaml = value.contains(": ")
        || value.ends_with(':')
        || value.starts_with(['@', '`', '%'])
        || value.starts_with("- ");
    let is_structure = value.starts_with(['"', '\'', '[', '{', '|', '>', '!', '&', '*', '#']);
    if !TEXT_KEYS.contains(&key) || !rest.starts_with([' ', '\t']) || !breaks_yaml || is_structure {
        return None;
    }
    let from = start + key.len() + 1 + (rest.len() - rest.trim_start().len());
    Some(PlainLine {
        key: Field::new(key.to_owned(), start..start + key.len()),
        value: Field::new(value.to_owned(), from..from + value.len()),
    })
}
