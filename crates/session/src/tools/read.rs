//! The tool `read`: a file as it is, or the names in a folder.

mod extract;

use std::{
    fs::{self, File},
    io,
    path::Path,
    sync::Arc,
};

use async_trait::async_trait;
use serde_json::Value;
use similar::TextDiff;
use sortie_protocol::redact::Redactor;

use self::extract::{Extract, Range, extract};
use super::{
    Tool, ToolAnswer, ToolContext,
    arguments::{Arguments, Named},
    blocking::on_a_thread,
};

/// How many names of a folder are shown.
const NAMES: usize = 500;
/// How many names are looked through for one that was meant.
const LOOKED_THROUGH: usize = 5_000;
/// How alike a name must be to be suggested, from 0 to 1.
const ALIKE: f32 = 0.6;

/// Shows `path`, or the lines `range` of it.
///
/// Text comes back as it stands in the file, without line numbers and unwrapped, so that an edit can quote it. Only what
/// is shown in part gets a first line that says so.
#[derive(Debug)]
pub(super) struct Read;

#[async_trait]
impl Tool for Read {
    async fn run(&self, args: &Value, context: &ToolContext) -> ToolAnswer {
        let (args, cwd) = (args.clone(), context.cwd.clone());
        let (limit, keys) = (context.output_limit, Arc::clone(&context.keys));
        on_a_thread(move || read(&args, &cwd, limit, &keys)).await
    }
}

fn read(args: &Value, cwd: &Path, limit: usize, keys: &Redactor) -> Result<String, String> {
    let args = Arguments::read(args, &["path", "range"])?;
    let file = args.path(cwd)?;
    let range = match args.optional_text("range")? {
        None | Some("") => Range::ALL,
        Some(text) => text.parse()?,
    };
    let unreadable = |error: io::Error| format!("`{}` cannot be read: {error}", file.text);
    let found = match fs::metadata(&file.path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(missing(&file, cwd)),
        Err(error) => return Err(unreadable(error)),
    };
    if found.is_dir() {
        return listing(&file.path).map_err(unreadable);
    }
    if !found.is_file() {
        // Opening a pipe or a terminal would wait for somebody.
        return Err(format!("`{}` is no regular file", file.text));
    }
    let opened = File::open(&file.path).map_err(unreadable)?;
    match extract(opened, range, limit, keys).map_err(unreadable)? {
        Extract::Text(text) => Ok(text),
        Extract::Binary => Err(format!(
            "`{}` is no text: a binary file of {} bytes",
            file.text,
            found.len()
        )),
        Extract::Beyond { lines } => Err(format!(
            "`range` starts after the end of `{}`, which is line {lines}",
            file.text
        )),
    }
}

fn listing(folder: &Path) -> io::Result<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let mut name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_dir() {
            name.push('/');
        }
        names.push(name);
    }
    if names.is_empty() {
        return Ok("[empty folder]\n".into());
    }
    names.sort_unstable();
    let more = names.len().saturating_sub(NAMES);
    names.truncate(NAMES);
    if more > 0 {
        names.push(format!("[{more} more]"));
    }
    Ok(names.join("\n") + "\n")
}

/// Says that a file is missing, and which one was perhaps meant.
pub(super) fn missing(file: &Named<'_>, cwd: &Path) -> String {
    if let Ok(target) = fs::read_link(&file.path) {
        let target = target.display();
        return format!(
            "`{}` is a link to `{target}`, which does not exist",
            file.text
        );
    }
    let absent = format!("`{}` does not exist", file.text);
    let Some((folder, name)) = file.path.parent().zip(file.path.file_name()) else {
        return absent;
    };
    let Ok(entries) = fs::read_dir(folder) else {
        let folder = folder.strip_prefix(cwd).unwrap_or(folder).display();
        return format!("{absent}, and neither does its folder `{folder}`");
    };
    let near = nearest(&name.to_string_lossy(), entries);
    if near.is_empty() {
        absent
    } else {
        format!("{absent}; near it: {}", near.join(", "))
    }
}

fn nearest(name: &str, entries: fs::ReadDir) -> Vec<String> {
    let wanted = name.to_lowercase();
    let mut near: Vec<_> = entries
        .flatten()
        .take(LOOKED_THROUGH)
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .map(|other| {
            let ratio =
                TextDiff::from_chars(wanted.as_str(), other.to_lowercase().as_str()).ratio();
            (ratio, other)
        })
        .filter(|(ratio, _)| *ratio >= ALIKE)
        .collect();
    near.sort_by(|(a, name), (b, other)| b.total_cmp(a).then_with(|| name.cmp(other)));
    near.truncate(3);
    near.into_iter()
        .map(|(_, name)| format!("`{name}`"))
        .collect()
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
