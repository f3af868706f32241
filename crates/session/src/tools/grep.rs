//! The tool `grep`: the lines of files that a pattern matches.
//!
//! - `query`: what a call asks for.
//! - `look`: one file.
//! - `sweep`: many of them, side by side, told in the order of their paths.
//! - `page`: the answer, which holds only so much.

mod look;
mod page;
mod query;
mod sweep;

use std::{fs, path::Path};

use async_trait::async_trait;
use serde_json::Value;
use tokio::select;

use self::{
    page::Page,
    query::{ALIASES, Query, arguments},
    sweep::Sweep,
};
use super::{
    Tool, ToolAnswer, ToolContext,
    arguments::{Named, renamed},
    blocking::on_a_thread,
    search::{LEFT_OUT, Pattern, Pick, start},
};

/// Shows the lines that `pattern` matches in the files below `path`, by file.
#[derive(Debug)]
pub(super) struct Grep;

#[async_trait]
impl Tool for Grep {
    async fn run(&self, args: &Value, context: &ToolContext) -> ToolAnswer {
        let (args, inner) = (args.clone(), context.clone());
        select! {
            biased;
            // The thread sees it too, unless a file system keeps it waiting.
            () = context.cancel.cancelled() => ToolAnswer::failed("cancelled"),
            answer = on_a_thread(move || grep(&args, &inner)) => answer,
        }
    }
}

fn grep(args: &Value, context: &ToolContext) -> Result<String, String> {
    let args = renamed(args, ALIASES)?;
    let args = arguments(&args)?;
    let place = start(args, &context.cwd)?;
    let glob = args.optional_text("glob")?.filter(|glob| !glob.is_empty());
    let is_folder = place.path.is_dir();
    let query = Query::read(args, !is_folder)?;
    let page = Page::new(&query, &context.cwd, context.output_limit);
    let sweep = Sweep::new(&query, context, page);
    if is_folder {
        let pick = pick(glob, &place.path, &context.cwd)?;
        let page = sweep.folder(&place.path, pick)?;
        return Ok(page.finish(|page| nothing_in_folder(page, &place, glob, &query)));
    }
    if let Some(glob) = glob {
        return Err(format!(
            "`glob` is `{glob}`, which picks files of a folder, and `{}` is a file",
            place.text
        ));
    }
    one_file(sweep, &place)
}

fn pick(glob: Option<&str>, folder: &Path, cwd: &Path) -> Result<Pick, String> {
    let Some(glob) = glob else {
        return Ok(Pick::Every);
    };
    if let Some(without) = glob.strip_prefix('!') {
        return Pattern::new("glob", without, folder).map(Pick::Not);
    }
    let pattern = Pattern::new("glob", glob, folder)?;
    pattern.check(cwd)?;
    Ok(Pick::Only(pattern))
}

fn one_file(sweep: Sweep<'_>, file: &Named<'_>) -> Result<String, String> {
    let unreadable = |error: String| format!("`{}` cannot be read: {error}", file.text);
    let found = fs::metadata(&file.path).map_err(|error| unreadable(error.to_string()))?;
    if !found.is_file() {
        return Err(format!("`{}` is no regular file", file.text));
    }
    let page = sweep.file(&file.path)?;
    if let Some(error) = page.error() {
        return Err(unreadable(error.to_owned()));
    }
    if page.binary() > 0 {
        return Err(format!(
            "`{}` is no text: a binary file of {} bytes",
            file.text,
            found.len()
        ));
    }
    let query = page.query();
    Ok(page.finish(|_| format!("[no match in `{}`{}]\n", file.text, query.hint())))
}

fn nothing_in_folder(
    page: &Page<'_>,
    folder: &Named<'_>,
    glob: Option<&str>,
    query: &Query,
) -> String {
    let place = match folder.text {
        "." => "the working folder".to_owned(),
        text => format!("`{text}`"),
    };
    let of = glob.map_or_else(String::new, |glob| format!(" of `{glob}`"));
    let searched = match page.searched() {
        0 => format!("no file{of}"),
        1 => format!("no match in 1 file{of}"),
        count => format!("no match in {count} files{of}"),
    };
    let binary = match page.binary() {
        0 => String::new(),
        1 => "; 1 binary file was passed over".to_owned(),
        count => format!("; {count} binary files were passed over"),
    };
    let hint = query.hint();
    format!("[{searched} in {place}{binary}; {LEFT_OUT}{hint}]\n")
}

#[cfg(test)]
mod limits_tests;
#[cfg(test)]
mod places_tests;
#[cfg(test)]
mod properties;
#[cfg(test)]
#[path = "grep_tests.rs"]
mod tests;
