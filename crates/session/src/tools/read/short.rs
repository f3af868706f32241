//! A long source file as its summary.

use std::{
    fs::File,
    io::{self, Read},
};

use crate::{
    summary::{LONGEST, Language, Source, summarize},
    tools::{ToolContext, arguments::Named},
};

/// The summary of a file that begins with `start` and goes on in `opened`; `None` where it is better shown as it is. What is
/// read for it is added to `start`.
pub(super) fn summary(
    file: &Named<'_>,
    start: &mut Vec<u8>,
    opened: &mut File,
    context: &ToolContext,
) -> io::Result<Option<String>> {
    let Some(language) = Language::of(&file.path).filter(|_| context.summarize) else {
        return Ok(None);
    };
    let more = (LONGEST + 1).saturating_sub(start.len());
    opened.take(more as u64).read_to_end(start)?;
    let Ok(text) = str::from_utf8(start) else {
        return Ok(None);
    };
    Ok(summarize(&Source {
        text,
        language,
        limit: context.output_limit,
        keys: &context.keys,
        cancel: &context.cancel,
    }))
}
