//! How tests show problems: a line each, with `~` for the folder they happened in.

use std::{fmt::Write, path::Path};

use crate::Problem;

/// `path:line:column: severity: message`, and the advice below.
pub(crate) fn shown<'a>(problems: impl IntoIterator<Item = &'a Problem>, folder: &Path) -> String {
    let mut text = String::new();
    for problem in problems {
        let row = problem.row();
        if let Some(path) = row.path {
            write!(text, "{}:", path.display()).unwrap();
        }
        if let (Some(line), Some(column)) = (row.line, row.column) {
            write!(text, "{line}:{column}:").unwrap();
        }
        let severity = format!("{:?}", row.severity).to_lowercase();
        let gap = if text.ends_with(':') { " " } else { "" };
        writeln!(text, "{gap}{severity}: {}", row.message).unwrap();
        if let Some(help) = row.help {
            writeln!(text, "  {help}").unwrap();
        }
    }
    text.replace(&folder.display().to_string(), "~")
}
