//! The tool `edit`: some places of a file, all of them or none.

mod nearest;

use std::{fs, io, ops::Range, path::Path, sync::Arc};

use async_trait::async_trait;
use serde_json::Value;
use sortie_protocol::redact::Redactor;

use self::nearest::nearest;
use super::{
    Tool, ToolAnswer, ToolContext,
    arguments::{Arguments, Named},
    blocking::on_a_thread,
    read::missing,
    write::replace,
};

/// How many places of an ambiguous text are named.
const NAMED_PLACES: usize = 10;
const BOM: char = '\u{FEFF}';

/// Replaces each `oldText` of `edits` by its `newText`.
///
/// Every place is looked up in the file as it was, has to be the only one, and may not overlap another. The file's
/// byte order mark and line ends stay: an edit is written with plain ones.
#[derive(Debug)]
pub(super) struct Edit;

#[async_trait]
impl Tool for Edit {
    async fn run(&self, args: &Value, context: &ToolContext) -> ToolAnswer {
        let (args, cwd) = (args.clone(), context.cwd.clone());
        let keys = Arc::clone(&context.keys);
        on_a_thread(move || edit(&args, &cwd, &keys)).await
    }
}

fn edit(args: &Value, cwd: &Path, keys: &Redactor) -> Result<String, String> {
    let args = Arguments::read(args, &["path", "edits"])?;
    let file = args.path(cwd)?;
    let changes = changes(args)?;
    let text = load(&file, cwd)?;
    let mut places = place_all(&text, &changes, keys)
        .map_err(|faults| format!("`{}` was not changed\n{}", file.text, faults.join("\n")))?;
    places.sort_by_key(|place| place.range.start);
    let (body, lines) = apply(&text.body, &places);
    replace(&file, text.dressed(&body).as_bytes())?;
    let lines: Vec<_> = lines.iter().map(usize::to_string).collect();
    Ok(match lines.as_slice() {
        [line] => format!("edited `{}` in line {line}\n", file.text),
        lines => format!("edited `{}` in lines {}\n", file.text, lines.join(", ")),
    })
}

/// One wish to replace.
struct Change<'a> {
    old: &'a str,
    new: &'a str,
}

fn changes(args: Arguments<'_>) -> Result<Vec<Change<'_>>, String> {
    let edits = args.list("edits", "a list of `{oldText, newText}`")?;
    if edits.is_empty() {
        return Err("`edits` is empty, expected at least one `{oldText, newText}`".into());
    }
    let read = |(place, value)| change(value).map_err(|fault| format!("`edits[{place}]`: {fault}"));
    edits.iter().enumerate().map(read).collect()
}

fn change(value: &Value) -> Result<Change<'_>, String> {
    let fields = Arguments::read(value, &["oldText", "newText"])?;
    let (old, new) = (fields.text("oldText")?, fields.text("newText")?);
    if old.is_empty() {
        return Err("`oldText` is empty, expected text of the file; `write` makes a file".into());
    }
    if old == new {
        return Err("`oldText` and `newText` are the same".into());
    }
    Ok(Change { old, new })
}

/// A file's text, with what an edit must not change set aside.
struct Text {
    bom: bool,
    /// Every line ends in CR LF; `body` has them as LF.
    crlf: bool,
    body: String,
}

impl Text {
    fn read(text: String) -> Self {
        let bom = text.starts_with(BOM);
        let body = if bom {
            text[BOM.len_utf8()..].to_owned()
        } else {
            text
        };
        let ends = body.matches('\n').count();
        let crlf = ends > 0 && body.matches("\r\n").count() == ends;
        Self {
            bom,
            crlf,
            body: if crlf { plain(&body) } else { body },
        }
    }

    /// `body` as it goes back into the file.
    fn dressed(&self, body: &str) -> String {
        let mark = if self.bom {
            BOM.to_string()
        } else {
            String::new()
        };
        if self.crlf {
            mark + &body.replace('\n', "\r\n")
        } else {
            mark + body
        }
    }
}

fn plain(text: &str) -> String {
    text.replace("\r\n", "\n")
}

fn load(file: &Named<'_>, cwd: &Path) -> Result<Text, String> {
    match fs::metadata(&file.path) {
        Ok(found) if found.is_file() => {}
        Ok(_) => return Err(format!("`{}` is no regular file", file.text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(missing(file, cwd)),
        Err(error) => return Err(format!("`{}` cannot be read: {error}", file.text)),
    }
    let bytes =
        fs::read(&file.path).map_err(|error| format!("`{}` cannot be read: {error}", file.text))?;
    String::from_utf8(bytes)
        .map(Text::read)
        .map_err(|_| format!("`{}` is not UTF-8, so it cannot be edited", file.text))
}

/// A change that has found its place.
struct Place {
    /// Which of the call's edits it is, from 0.
    index: usize,
    range: Range<usize>,
    new: String,
}

fn place_all(
    text: &Text,
    changes: &[Change<'_>],
    keys: &Redactor,
) -> Result<Vec<Place>, Vec<String>> {
    let mut places: Vec<Place> = Vec::new();
    let mut faults = Vec::new();
    for (index, change) in changes.iter().enumerate() {
        match place(text, change, keys) {
            Err(fault) => faults.push(format!("`edits[{index}]`: {fault}")),
            Ok((range, new)) => {
                let clash = places
                    .iter()
                    .find(|other| range.start < other.range.end && other.range.start < range.end);
                if let Some(other) = clash {
                    faults.push(format!(
                        "`edits[{index}]`: it overlaps `edits[{}]` in line {}; make one edit of both",
                        other.index,
                        line_of(&text.body, range.start.max(other.range.start))
                    ));
                }
                places.push(Place { index, range, new });
            }
        }
    }
    if faults.is_empty() {
        Ok(places)
    } else {
        Err(faults)
    }
}

fn place(
    text: &Text,
    change: &Change<'_>,
    keys: &Redactor,
) -> Result<(Range<usize>, String), String> {
    let body = text.body.as_str();
    let (mut old, mut new) = (change.old.to_owned(), change.new.to_owned());
    if text.crlf {
        (old, new) = (plain(&old), plain(&new));
    }
    let mut starts = starts(body, &old);
    if starts.is_empty() && body.contains("\r\n") && !old.contains('\r') {
        // Lines of both kinds: those of this place may end in CR LF.
        old = old.replace('\n', "\r\n");
        new = plain(&new).replace('\n', "\r\n");
        starts = self::starts(body, &old);
    }
    match starts.as_slice() {
        [start] => Ok((*start..start + old.len(), new)),
        [] => Err(not_found(body, change.old, keys)),
        many => Err(ambiguous(body, many)),
    }
}

/// Where `old` begins in `body`; places that overlap each other count.
fn starts(body: &str, old: &str) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut from = 0;
    while let Some(found) = body.get(from..).and_then(|rest| rest.find(old)) {
        let start = from + found;
        starts.push(start);
        from = start + body[start..].chars().next().map_or(1, char::len_utf8);
    }
    starts
}

fn ambiguous(body: &str, starts: &[usize]) -> String {
    let mut lines: Vec<_> = starts
        .iter()
        .take(NAMED_PLACES)
        .map(|start| line_of(body, *start).to_string())
        .collect();
    lines.dedup();
    let more = if starts.len() > NAMED_PLACES {
        " and further down"
    } else {
        ""
    };
    let lines = match lines.as_slice() {
        [line] => format!("line {line}"),
        lines => format!("lines {}", lines.join(", ")),
    };
    format!(
        "`oldText` occurs {} times, in {lines}{more}; add text around it until it is the only one",
        starts.len()
    )
}

fn not_found(body: &str, old: &str, keys: &Redactor) -> String {
    if let Some(shown) = keys.stand_in(body, old) {
        return format!(
            "`oldText` holds `{shown}`, which stands for a key that is not shown; edit the text around it"
        );
    }
    // Without keys, since what is shown of it is cut.
    match nearest(&keys.clean(body), &keys.clean(old)) {
        None => {
            "`oldText` does not occur in the file, and nothing like it; read the file again".into()
        }
        Some(near) => format!("`oldText` does not occur in the file; {near}"),
    }
}

/// The changed text, and the line of it at which each change begins.
fn apply(body: &str, places: &[Place]) -> (String, Vec<usize>) {
    let mut text = String::with_capacity(body.len());
    let mut lines = Vec::with_capacity(places.len());
    let mut from = 0;
    for place in places {
        text.push_str(&body[from..place.range.start]);
        lines.push(line_of(&text, text.len()));
        text.push_str(&place.new);
        from = place.range.end;
    }
    text.push_str(&body[from..]);
    (text, lines)
}

/// The line that `offset` is in, from 1.
fn line_of(text: &str, offset: usize) -> usize {
    text[..offset].matches('\n').count() + 1
}

#[cfg(test)]
#[path = "edit_tests.rs"]
mod tests;
