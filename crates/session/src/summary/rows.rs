//! The lines of a text, counted from 0 as tree-sitter does.

use std::{borrow::Cow, ops::RangeInclusive};

use sortie_protocol::redact::Redactor;

/// The most that is shown of one declaration, in bytes.
const CLIP: usize = 160;

/// The lines of a text.
#[derive(Debug)]
pub(super) struct Rows<'a> {
    text: &'a str,
    /// Where each line starts; and, last, where the text ends.
    starts: Vec<usize>,
    /// What must not be shown, where any of it is in the text.
    keys: Option<&'a Redactor>,
}

impl<'a> Rows<'a> {
    pub(super) fn of(text: &'a str, keys: &'a Redactor) -> Self {
        let mut starts = vec![0];
        starts.extend(text.match_indices('\n').map(|(end, _)| end + 1));
        if starts.last() != Some(&text.len()) {
            starts.push(text.len());
        }
        Self {
            text,
            starts,
            keys: matches!(keys.clean(text), Cow::Owned(_)).then_some(keys),
        }
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// How long these are together, in bytes.
    pub(super) fn len(&self, rows: RangeInclusive<usize>) -> usize {
        self.starts[rows.end() + 1] - self.starts[*rows.start()]
    }

    /// Whether there is nothing in it.
    pub(super) fn is_blank(&self, row: usize) -> bool {
        self.row(row).trim().is_empty()
    }

    /// One of them.
    pub(super) fn row(&self, row: usize) -> &'a str {
        &self.text[self.starts[row]..self.starts[row + 1]]
    }

    /// Some of them on one line, without keys and cut where that is long.
    pub(super) fn told(&self, rows: RangeInclusive<usize>) -> String {
        let part = self.starts[*rows.start()]..self.starts[rows.end() + 1];
        let clean = match self.keys {
            None => Cow::Borrowed(&self.text[part]),
            Some(keys) => {
                let around = self.text.len().min(part.end + keys.longest());
                let from = part.start.saturating_sub(keys.longest());
                let part = part.start - from..part.end - from;
                let clean = keys.clean_part(&self.text.as_bytes()[from..around], part);
                Cow::Owned(String::from_utf8_lossy(&clean).into_owned())
            }
        };
        let mut told = String::new();
        for word in clean.split_whitespace() {
            if told.len() > CLIP {
                break;
            }
            if !told.is_empty() {
                told.push(' ');
            }
            // This mark is ours.
            told.push_str(&word.replace('…', "..."));
        }
        told.retain(|c| !c.is_control());
        if told.len() > CLIP {
            told.truncate(told.floor_char_boundary(CLIP));
            told.push_str("...");
        }
        told
    }
}

#[cfg(test)]
mod tests {
    use sortie_protocol::Secrets;

    use super::*;

    #[test]
    fn lines_are_counted_as_they_are_read() {
        let keys = Redactor::default();
        let count = |text| Rows::of(text, &keys).count();
        assert_eq!(["", "\n", "a", "a\n", "a\n\nb"].map(count), [0, 1, 1, 1, 3]);
    }

    #[test]
    fn what_is_told_is_one_line_without_keys() {
        let mut secrets = Secrets::default();
        secrets.insert("A", "sk-12345678");
        secrets.insert("B", "one\ntwo\nthree");
        let keys = Redactor::new(&secrets);
        let text = format!(
            "fn a(\r\n\tx: u8, // sk-12345678 …\n) {{\n{}\none\ntwo\nthree\n",
            "y".repeat(500)
        );
        let rows = Rows::of(&text, &keys);
        insta::assert_snapshot!(rows.told(0..=2), @"fn a( x: u8, // [key A] ... ) {");
        insta::assert_snapshot!(rows.told(5..=5), @"[key B]");
        assert_eq!(rows.told(3..=3), "y".repeat(CLIP) + "...");
    }
}
