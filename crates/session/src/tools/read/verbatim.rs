//! Built without summaries: every file is shown as it is.

use std::{fs::File, io};

use crate::tools::{ToolContext, arguments::Named};

/// No summary, whatever the file is.
#[expect(
    clippy::unnecessary_wraps,
    reason = "its twin in `short.rs` reads the file"
)]
pub(super) fn summary(
    _file: &Named<'_>,
    _start: &mut Vec<u8>,
    _opened: &mut File,
    _context: &ToolContext,
) -> io::Result<Option<String>> {
    Ok(None)
}
