//! Columns that line up.

use console::{Alignment, measure_text_width, pad_str};

use super::Look;

/// Lines of the same columns.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table under `head`.
    pub(crate) fn under<const N: usize>(head: [&str; N]) -> Self {
        Self {
            rows: vec![head.map(str::to_owned).to_vec()],
        }
    }

    /// Adds a line. Lines may be shorter than others.
    pub(crate) fn push(&mut self, row: Vec<String>) {
        self.rows.push(row);
    }

    /// The lines, each column as wide as its widest cell, two spaces between. The last cell of a line is not padded.
    pub(crate) fn lines(&self) -> Vec<String> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or_default();
        let widths: Vec<usize> = (0..columns)
            .map(|column| {
                let cells = self.rows.iter().filter_map(|row| row.get(column));
                cells
                    .map(|cell| measure_text_width(cell))
                    .max()
                    .unwrap_or_default()
            })
            .collect();
        self.rows
            .iter()
            .map(|row| {
                let padded = row
                    .iter()
                    .zip(&widths)
                    .map(|(cell, &width)| pad_str(cell, width, Alignment::Left, None))
                    .collect::<Vec<_>>();
                padded.join("  ").trim_end().to_owned()
            })
            .collect()
    }

    /// The table as text. Lines are cut at the edge of a terminal, and are whole for a pipe.
    pub(crate) fn text(&self, look: Look) -> String {
        self.lines()
            .into_iter()
            .map(|line| {
                if look.terminal {
                    console::truncate_str(&line, look.width, "…").into_owned() + "\n"
                } else {
                    line + "\n"
                }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::under(["NAME", "SOURCE", "WHAT IT DOES"]);
        table.push(vec![
            "scout".into(),
            "bundled".into(),
            "looks around".into(),
        ]);
        table.push(vec!["数える".into(), "project".into()]);
        let look = Look {
            terminal: true,
            width: 24,
            ..Look::PLAIN
        };
        insta::assert_snapshot!(table.text(look), @"
        NAME    SOURCE   WHAT I…
        scout   bundled  looks …
        数える  project
        ");
    }
}
