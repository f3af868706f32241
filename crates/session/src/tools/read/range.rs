//! Which part of a text is asked for.

use std::{fmt, str::FromStr};

/// The part of a text that one call shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Range {
    /// Whole lines.
    Lines(Span),
    /// A part of one line: what is too long to be shown at once.
    Within {
        /// The line, from 1.
        line: u64,
        /// Its bytes. A character belongs to the part that its first byte is in.
        bytes: Span,
    },
}

/// Numbers from 1, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    /// The first.
    pub(super) first: u64,
    /// The last; `u64::MAX` stands for the end.
    pub(super) last: u64,
}

impl Span {
    /// From the first to the end.
    pub(super) const ALL: Self = Self {
        first: 1,
        last: u64::MAX,
    };

    /// What of it comes after `last`, which is not its end.
    pub(super) fn after(self, last: u64) -> Self {
        Self {
            first: last + 1,
            ..self
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let number = |text: &str| text.trim().parse().ok();
        let (first, last) = match text.split_once('-') {
            None => (number(text)?, number(text)?),
            Some((first, last)) if last.trim().is_empty() => (number(first)?, u64::MAX),
            Some((first, last)) => (number(first)?, number(last)?),
        };
        (first > 0 && last >= first).then_some(Self { first, last })
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.first, self.last) {
            (first, last) if first == last => write!(f, "{first}"),
            (first, u64::MAX) => write!(f, "{first}-"),
            (first, last) => write!(f, "{first}-{last}"),
        }
    }
}

impl Range {
    /// Every line.
    pub(super) const ALL: Self = Self::Lines(Span::ALL);

    /// The lines that it touches.
    pub(super) fn lines(self) -> Span {
        match self {
            Self::Lines(lines) => lines,
            Self::Within { line, .. } => Span {
                first: line,
                last: line,
            },
        }
    }
}

impl FromStr for Range {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let range = match text.split_once(':') {
            None => Span::parse(text).map(Self::Lines),
            // One byte alone is nothing that anybody wants: `10:40` would mean lines.
            Some((_, bytes)) if !bytes.contains('-') => None,
            Some((line, bytes)) => line
                .trim()
                .parse()
                .ok()
                .filter(|line| *line > 0)
                .zip(Span::parse(bytes))
                .map(|(line, bytes)| Self::Within { line, bytes }),
        };
        range.ok_or_else(|| {
            format!(
                "`range` is `{text}`, expected lines from 1 as `10-40`, `10-` or `10`, or bytes of one line as `10:2001-4000`"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_parts_of_a_line_are_told_apart() {
        let span = |first, last| Span { first, last };
        for (text, range) in [
            ("10-40", Range::Lines(span(10, 40))),
            (" 10 - ", Range::Lines(span(10, u64::MAX))),
            ("7", Range::Lines(span(7, 7))),
            (
                "12:2001-4000",
                Range::Within {
                    line: 12,
                    bytes: span(2_001, 4_000),
                },
            ),
            (
                "12:5-",
                Range::Within {
                    line: 12,
                    bytes: span(5, u64::MAX),
                },
            ),
        ] {
            assert_eq!(text.parse(), Ok(range), "{text}");
        }
        for text in [
            "0-4", "5-4", "all", "-4", "10:40", "0:1-2", "1:0-2", "1:3-2", "1-2:3-4",
        ] {
            assert!(text.parse::<Range>().is_err(), "{text}");
        }
        insta::assert_snapshot!("10:40".parse::<Range>().unwrap_err(), @"`range` is `10:40`, expected lines from 1 as `10-40`, `10-` or `10`, or bytes of one line as `10:2001-4000`");
    }
}
