//! The table that is printed.

use std::fmt;

use crate::figures::{Series, Unit};

/// One thing that was measured.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) what: &'static str,
    pub(crate) unit: Unit,
    pub(crate) ours: Series,
    pub(crate) beside: Option<Beside>,
    /// What it is held to.
    pub(crate) bars: &'static [Bar],
}

/// What it is compared with.
#[derive(Debug)]
pub(crate) struct Beside {
    pub(crate) what: &'static str,
    pub(crate) series: Series,
}

/// What a median is held to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Bar {
    /// At most this, in the row's unit.
    Figure(f64),
    /// At most this, times the median of the baseline.
    Ratio(f64),
}

impl Row {
    fn ratio(&self) -> Option<f64> {
        let beside = self.beside.as_ref()?;
        Some(self.ours.median() / beside.series.median())
    }

    /// The bars, each with whether it is kept.
    fn verdict(&self) -> String {
        let verdicts = self.bars.iter().map(|bar| {
            let (text, kept) = match *bar {
                Bar::Figure(most) => (format!("{most} {}", self.unit), self.ours.median() <= most),
                Bar::Ratio(most) => (
                    format!("{most} ×"),
                    self.ratio().is_some_and(|ratio| ratio <= most),
                ),
            };
            format!("{text}: {}", if kept { "kept" } else { "**missed**" })
        });
        verdicts.collect::<Vec<_>>().join(", ")
    }
}

/// Every row so far.
#[derive(Debug)]
pub(crate) struct Table {
    wanted: Vec<String>,
    rows: Vec<Row>,
    notes: Vec<String>,
}

impl Table {
    /// An empty table for the rows that have one of `words` in their name; without words, for all. Flags are cargo's.
    pub(crate) fn for_rows(words: impl Iterator<Item = String>) -> Self {
        Self {
            wanted: words.filter(|word| !word.starts_with('-')).collect(),
            rows: Vec::new(),
            notes: Vec::new(),
        }
    }

    pub(crate) fn wants(&self, what: &str) -> bool {
        self.wanted.is_empty() || self.wanted.iter().any(|word| what.contains(word))
    }

    pub(crate) fn add(&mut self, row: Row) {
        self.rows.push(row);
    }

    /// Says what is missing, and why.
    pub(crate) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "| what | median | min | max | beside | its median | ratio | bar |\n|---|--:|--:|--:|---|--:|--:|---|"
        )?;
        for row in &self.rows {
            let Row {
                what, unit, ours, ..
            } = row;
            write!(
                f,
                "| {what} | {:.2} {unit} | {:.2} | {:.2} ",
                ours.median(),
                ours.min(),
                ours.max()
            )?;
            match (&row.beside, row.ratio()) {
                (Some(beside), Some(ratio)) => write!(
                    f,
                    "| {} | {:.2} {unit} | {ratio:.2} ",
                    beside.what,
                    beside.series.median()
                )?,
                _ => write!(f, "| | | ")?,
            }
            writeln!(f, "| {} |", row.verdict())?;
        }
        for note in &self.notes {
            writeln!(f, "\n{note}")?;
        }
        Ok(())
    }
}
