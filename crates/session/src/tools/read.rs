//! The tool `read`: a file as it is, the names in a folder, or what a task of the run left.

mod extract;
mod file;
mod folder;
mod magic;
mod missing;
mod range;
#[cfg_attr(not(feature = "summary"), path = "read/verbatim.rs")]
mod short;
mod utf16;

use async_trait::async_trait;
use serde_json::Value;

pub(super) use self::missing::missing;
use self::range::Range;
use super::{
    Tool, ToolAnswer, ToolContext, archive::Stored, arguments::Arguments, blocking::on_a_thread,
};

/// Shows `path`, or the part `range` of it.
///
/// Text comes back as it stands in the file, without line numbers and unwrapped, so that an edit can quote it. Only what
/// is shown in part, or has something else to be known about it, gets lines in brackets that say so.
#[derive(Debug)]
pub(super) struct Read;

#[async_trait]
impl Tool for Read {
    async fn run(&self, args: &Value, context: &ToolContext) -> ToolAnswer {
        let call = match Call::read(args) {
            Ok(call) => call,
            Err(fault) => return ToolAnswer::failed(fault),
        };
        let (args, context) = (args.clone(), context.clone());
        match call.address() {
            None => {
                on_a_thread(move || {
                    let call = Call::read(&args)?;
                    file::show(&call.args.path(&context.cwd)?, call.part, &context)
                })
                .await
            }
            Some(uri) => match context.archive.read(uri).await {
                Ok(kept) => {
                    let (uri, part) = (uri.to_owned(), call.part);
                    on_a_thread(move || from_archive(kept, &uri, part, &context)).await
                }
                Err(fault) => ToolAnswer::failed(fault),
            },
        }
    }
}

/// Which part of a text is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// As much as is good to see of all of it.
    Best,
    /// What was asked for.
    Asked(Range),
}

impl Part {
    fn range(self) -> Range {
        match self {
            Self::Best => Range::ALL,
            Self::Asked(range) => range,
        }
    }
}

/// What a call asks for.
struct Call<'a> {
    args: Arguments<'a>,
    path: &'a str,
    part: Part,
}

impl<'a> Call<'a> {
    fn read(args: &'a Value) -> Result<Self, String> {
        let args = Arguments::read(args, &["path", "range"])?;
        Ok(Self {
            args,
            path: args.text("path")?,
            part: match args.optional_text("range")? {
                None | Some("") => Part::Best,
                Some(text) => Part::Asked(text.parse()?),
            },
        })
    }

    /// The address of the run that is asked for, if it is one.
    fn address(&self) -> Option<&'a str> {
        const SCHEMES: [&str; 4] = ["agent://", "history://", "skill://", "local://"];
        let is_address = SCHEMES.iter().any(|scheme| self.path.starts_with(scheme));
        is_address.then_some(self.path)
    }
}

fn from_archive(
    kept: Stored,
    uri: &str,
    part: Part,
    context: &ToolContext,
) -> Result<String, String> {
    let wish = file::wish(part, context, kept.note.into_iter().collect());
    let extract = extract::extract(kept.text.as_bytes(), wish)
        .map_err(|error| format!("`{uri}` cannot be read: {error}"))?;
    file::told(extract, uri)
}

#[cfg(all(test, feature = "summary"))]
#[path = "read/short_tests.rs"]
mod short_tests;
#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
