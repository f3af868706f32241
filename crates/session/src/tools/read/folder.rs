//! The names in a folder.

use std::{
    ffi::OsString,
    fmt::Write as _,
    fs::{self, Metadata},
    io,
    os::unix::fs::FileTypeExt,
    path::Path,
};

use super::range::{Range, Span};

/// How many entries are shown at once.
const ENTRIES: u64 = 500;

/// Lists a folder: hidden entries too, sorted by name, and not what is in its folders. `range` counts the entries.
pub(super) fn list(folder: &Path, name: &str, range: Range) -> Result<String, String> {
    let Range::Lines(wanted) = range else {
        return Err(format!(
            "`{name}` is a folder; `range` counts its entries, as `501-`"
        ));
    };
    let mut names = names(folder).map_err(|error| format!("`{name}` cannot be read: {error}"))?;
    names.sort_unstable();
    let all = names.len() as u64;
    if all == 0 {
        return Ok("[empty folder]\n".into());
    }
    if wanted.first > all {
        return Err(format!(
            "`range` starts after the end of `{name}`, which has {all} entries"
        ));
    }
    let shown = Span {
        first: wanted.first,
        last: wanted.last.min(all).min(wanted.first + ENTRIES - 1),
    };
    let place = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    let mut text = String::new();
    for name in &names[place(shown.first - 1)..place(shown.last)] {
        text.push_str(&entry(folder, name));
        text.push('\n');
    }
    if shown.first > 1 || shown.last < all {
        text.insert_str(0, &format!("[entries {shown} of {all}]\n"));
    }
    if shown.last < wanted.last.min(all) {
        let next = shown.last + 1;
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "[more follows; read on with range \"{next}-\", or look for names with `glob`]"
        );
    }
    Ok(text)
}

fn names(folder: &Path) -> io::Result<Vec<OsString>> {
    fs::read_dir(folder)?
        .map(|entry| Ok(entry?.file_name()))
        .collect()
}

/// One entry: its name, and what it is or how large.
fn entry(folder: &Path, name: &OsString) -> String {
    let path = folder.join(name);
    let name = shown(&name.to_string_lossy());
    let Ok(found) = fs::symlink_metadata(&path) else {
        // It has gone since.
        return name;
    };
    if found.is_symlink() {
        let to = fs::read_link(&path).unwrap_or_default();
        let to = shown(&to.to_string_lossy());
        return match fs::metadata(&path) {
            Ok(end) if end.is_dir() => format!("{name}/ -> {to}"),
            Ok(_) => format!("{name} -> {to}"),
            Err(_) => format!("{name} -> {to} (leads nowhere)"),
        };
    }
    if found.is_dir() {
        return format!("{name}/");
    }
    match other_kind(&found) {
        Some(kind) => format!("{name}  ({kind})"),
        None => format!("{name}  {}", size(found.len())),
    }
}

/// What something is that is neither file nor folder.
pub(super) fn other_kind(found: &Metadata) -> Option<&'static str> {
    let kind = found.file_type();
    let kinds = [
        (kind.is_fifo(), "pipe"),
        (kind.is_socket(), "socket"),
        (kind.is_char_device(), "device"),
        (kind.is_block_device(), "disk device"),
    ];
    let kind = kinds.iter().find(|(is, _)| *is);
    kind.map(|(_, kind)| *kind)
}

/// A name on one line, whatever it holds.
fn shown(name: &str) -> String {
    if name.contains(char::is_control) {
        format!("{name:?}")
    } else {
        name.to_owned()
    }
}

fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    let mut tenths = bytes.saturating_mul(10);
    let mut unit = "B";
    for larger in UNITS {
        if tenths < 10_240 {
            break;
        }
        tenths = tenths.div_ceil(1_024);
        unit = larger;
    }
    match (unit, tenths % 10) {
        ("B", _) | (_, 0) => format!("{} {unit}", tenths / 10),
        (_, tenth) => format!("{}.{tenth} {unit}", tenths / 10),
    }
}

#[cfg(test)]
#[path = "folder_tests.rs"]
mod tests;
