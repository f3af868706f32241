//! Entries as the text of a script.

use std::fmt::Write as _;

use serde_json::Value;
use serde_saphyr::ser_options;
use sortie_protocol::script::ScriptEntry;
use thiserror::Error;

use super::read;
use crate::{Node, Source};

/// Entries that cannot be written so that they are read back as they are.
#[derive(Debug, Error)]
#[error("the script cannot be written: {0}")]
pub struct Unwritable(String);

/// `entries` as a file that [`Scripts::load`](super::Scripts::load) reads back, below `preface`: lines for whoever opens
/// it. Text of several lines stands in blocks, to be read and edited.
///
/// What was written is read again before it is handed out, so a file that says something else never leaves here.
pub(super) fn write(preface: &str, entries: &[ScriptEntry]) -> Result<String, Unwritable> {
    let document = document(entries).map_err(|error| Unwritable(error.to_string()))?;
    let mut refused = String::new();
    // Blocks do not hold every text: where one comes back different, all of them are quoted.
    for quote_all in [false, true] {
        let options = ser_options! {
            quote_all: quote_all,
            // A folded text cannot be edited without knowing how it was folded.
            folded_wrap_chars: usize::MAX,
        };
        let mut text = String::new();
        for line in preface.lines() {
            let _ = writeln!(text, "# {line}");
        }
        if let Err(error) = serde_saphyr::to_fmt_writer_with_options(&mut text, &document, options)
        {
            refused = error.to_string();
            continue;
        }
        let source = Source::new("script.yaml", text.as_str());
        match Node::parse(&source).and_then(|_| read(&source)) {
            Ok(same) if same == entries => return Ok(text),
            Ok(_) => "it reads back as another".clone_into(&mut refused),
            Err(problem) => problem.message().clone_into(&mut refused),
        }
    }
    Err(Unwritable(refused))
}

/// The entries without the figures that nobody reported. A result tells those as null, and here they are only in the
/// way.
fn document(entries: &[ScriptEntry]) -> Result<Value, serde_json::Error> {
    let mut document = serde_json::to_value(entries)?;
    let entries = document.as_array_mut().into_iter().flatten();
    let turns = entries.filter_map(|entry| entry["turns"].as_array_mut());
    for turn in turns.flatten() {
        if let Some(usage) = turn.get_mut("usage").and_then(Value::as_object_mut) {
            usage.retain(|_, figure| !figure.is_null());
        }
    }
    Ok(document)
}

#[cfg(test)]
#[path = "write_tests.rs"]
mod tests;
