//! A summary, written down.

use std::{collections::BTreeMap, fmt::Write as _, ops::RangeInclusive};

use super::{language::Kind, outline::Declaration, rows::Rows};

/// The most lines that `read` shows at once.
const READ_LINES: usize = 2_000;
/// How deep a line is indented at most.
const INDENTED: usize = 8;

/// Everything that a summary is made of.
#[derive(Debug)]
pub(super) struct Sheet<'a> {
    pub(super) rows: &'a Rows<'a>,
    pub(super) declarations: &'a [Declaration],
    /// The most that `read` shows at once, in bytes: a longer range is left out as several.
    pub(super) limit: usize,
}

/// How large a summary is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) bytes: usize,
    pub(super) lines: usize,
}

impl Extent {
    pub(super) fn fits(self, room: Self) -> bool {
        self.bytes <= room.bytes && self.lines <= room.lines
    }
}

/// What stands between two declarations that are shown.
struct Gap {
    rows: RangeInclusive<usize>,
    /// What is declared there and not shown. What lies in one that is not shown is not counted again.
    hidden: BTreeMap<Kind, usize>,
}

impl Sheet<'_> {
    /// How large the summary is that shows the declarations `shown`.
    pub(super) fn extent(&self, shown: &[usize]) -> Extent {
        let text = self.text(shown);
        Extent {
            bytes: text.len(),
            lines: text.matches('\n').count(),
        }
    }

    /// The summary that shows the declarations `shown`, given by their places in order.
    pub(super) fn text(&self, shown: &[usize]) -> String {
        let lines = self.rows.count();
        let mut text = format!(
            "[summary of {lines} lines: declarations by line number; `… A-B` stands for lines left out. Read them with range \"A-B\"; `edit` needs the real text]\n"
        );
        let mut hidden = self.hidden(shown).into_iter();
        let first = shown.first().map_or(lines, |&place| self.start(place));
        let head = hidden.next().unwrap_or_default();
        if first > 0 {
            let gap = Gap {
                rows: 0..=first - 1,
                hidden: head,
            };
            text.push_str(self.gap(&gap).trim_start());
            text.push('\n');
        }
        for (nth, &place) in shown.iter().enumerate() {
            let declaration = &self.declarations[place];
            let next = shown.get(nth + 1).map_or(lines, |&next| self.start(next));
            let gap = Gap {
                rows: declaration.rows.end() + 1..=next - 1,
                hidden: hidden.next().unwrap_or_default(),
            };
            self.line(&mut text, declaration, &gap);
        }
        text
    }

    fn start(&self, place: usize) -> usize {
        *self.declarations[place].rows.start()
    }

    /// What is not shown before, between, and after the declarations `shown`.
    fn hidden(&self, shown: &[usize]) -> Vec<BTreeMap<Kind, usize>> {
        let mut counts = vec![BTreeMap::new()];
        let mut shown = shown.iter().peekable();
        let mut is_shown = vec![false; self.declarations.len()];
        for (place, declaration) in self.declarations.iter().enumerate() {
            if shown.next_if(|next| **next == place).is_some() {
                is_shown[place] = true;
                counts.push(BTreeMap::new());
            } else if let Some(kind) = declaration.kind
                && declaration.parent.is_none_or(|parent| is_shown[parent])
                && let Some(last) = counts.last_mut()
            {
                *last.entry(kind).or_default() += 1;
            }
        }
        counts
    }

    fn line(&self, text: &mut String, declaration: &Declaration, gap: &Gap) {
        let mut rows = declaration.rows.clone();
        // A blank line more is nothing that anybody would read.
        let is_blank = gap.rows.clone().all(|row| self.rows.is_blank(row));
        if is_blank {
            rows = *rows.start()..=*gap.rows.end();
        }
        let indent = "  ".repeat(declaration.depth.min(INDENTED));
        let told = self.rows.told(declaration.rows.clone());
        // Writing to a string cannot fail.
        let _ = write!(text, "{}: {indent}{told}", numbers(&rows));
        if !is_blank {
            text.push_str(&self.gap(gap));
        }
        text.push('\n');
    }

    /// A gap, as ranges that can be read at once each, and what is in it.
    fn gap(&self, gap: &Gap) -> String {
        let mut ranges = Vec::new();
        let mut first = *gap.rows.start();
        for row in gap.rows.clone() {
            let is_full = row - first >= READ_LINES || self.rows.len(first..=row) > self.limit;
            if is_full && row > first {
                ranges.push(numbers(&(first..=row - 1)));
                first = row;
            }
        }
        ranges.push(numbers(&(first..=*gap.rows.end())));
        let mut text = format!(" … {}", ranges.join(", "));
        if !gap.hidden.is_empty() {
            let counts: Vec<_> = gap
                .hidden
                .iter()
                .map(|(kind, count)| kind.counted(*count))
                .collect();
            let _ = write!(text, " ({})", counts.join(", "));
        }
        text
    }
}

/// Lines as people count them.
fn numbers(rows: &RangeInclusive<usize>) -> String {
    match (rows.start() + 1, rows.end() + 1) {
        (first, last) if first == last => first.to_string(),
        (first, last) => format!("{first}-{last}"),
    }
}
