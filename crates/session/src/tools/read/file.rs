//! What is in a file.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Cursor, Read},
    os::unix::fs::OpenOptionsExt,
};

use nix::fcntl::OFlag;

use super::{
    Part,
    extract::{Extract, Wish, extract},
    folder::{self, other_kind},
    magic::binary_kind,
    missing::missing,
    short,
    utf16::{Order, Utf16},
};
use crate::tools::{ToolContext, arguments::Named};

/// How much of a file's start tells what it is, in bytes.
const SNIFFED: u64 = 8 << 10;
const BOM: &[u8] = "\u{FEFF}".as_bytes();

/// Shows what stands at a path.
pub(super) fn show(file: &Named<'_>, part: Part, context: &ToolContext) -> Result<String, String> {
    let unreadable = |error: io::Error| format!("`{}` cannot be read: {error}", file.text);
    let found = match fs::metadata(&file.path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(missing(file, &context.cwd));
        }
        Err(error) => return Err(unreadable(error)),
    };
    if found.is_dir() {
        return folder::list(&file.path, file.text, part.range());
    }
    // Opening a pipe or a device would wait for somebody, or do something.
    if let Some(kind) = other_kind(&found) {
        return Err(format!("`{}` is a {kind}, not a file", file.text));
    }
    let mut opened = open(file).map_err(unreadable)?;
    let mut start = Vec::new();
    (&mut opened)
        .take(SNIFFED)
        .read_to_end(&mut start)
        .map_err(unreadable)?;
    let mut remarks = Vec::new();
    let extract = if let Some(order) = Order::of_mark(&start) {
        remarks.push(format!(
            "decoded from {}; `edit` cannot change the file",
            order.name()
        ));
        let rest = Cursor::new(start.split_off(2)).chain(opened);
        let decoded = Utf16::new(rest, order);
        extract(decoded, wish(part, context, remarks))
    } else if let Some(kind) = binary_kind(&start) {
        let size = found.len();
        return Err(format!(
            "`{}` is {kind} of {size} bytes, no text",
            file.text
        ));
    } else {
        if start.starts_with(BOM) {
            start.drain(..BOM.len());
            if part.range().lines().first == 1 {
                remarks.push(
                    "the file starts with a byte order mark, which is not shown and which `edit` keeps".into(),
                );
            }
        }
        if part == Part::Best
            && let Some(summary) =
                short::summary(file, &mut start, &mut opened, context).map_err(unreadable)?
        {
            return Ok(summary);
        }
        let source = Cursor::new(start).chain(opened);
        extract(source, wish(part, context, remarks))
    };
    told(extract.map_err(unreadable)?, file.text)
}

/// Opens a file without waiting, whatever has come in its place meanwhile.
fn open(file: &Named<'_>) -> io::Result<File> {
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags(OFlag::O_NONBLOCK.bits())
        .open(&file.path)?;
    if opened.metadata()?.is_file() {
        Ok(opened)
    } else {
        Err(io::Error::other("it is no file any more"))
    }
}

/// `part` of a text, as `context` allows it.
pub(super) fn wish(part: Part, context: &ToolContext, remarks: Vec<String>) -> Wish<'_> {
    Wish {
        range: part.range(),
        limit: context.output_limit,
        keys: &context.keys,
        cancel: &context.cancel,
        remarks,
    }
}

/// What came out of the text called `name`.
pub(super) fn told(extract: Extract, name: &str) -> Result<String, String> {
    match extract {
        Extract::Text(text) => Ok(text),
        Extract::Beyond { lines } => Err(format!(
            "`range` starts after the end of `{name}`, which is line {lines}"
        )),
        Extract::BeyondLine { line, bytes } => Err(format!(
            "`range` starts after the end of line {line} of `{name}`, which has {bytes} bytes"
        )),
    }
}
