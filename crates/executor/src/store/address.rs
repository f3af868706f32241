//! What a task left, by its id.
//!
//! | address | what it is |
//! |---|---|
//! | `agent://ID` | the output, whole |
//! | `agent://ID?q=.field` | a place in the data |
//! | `agent://ID/NAME` | what a tool kept apart because it was long: `bash-3` |
//! | `history://ID` | the transcript, told in short |
//! | `history://ID/N` | all of record N of the transcript |

use std::{fs, io};

use serde_json::Value;
use sortie_protocol::OutcomeKind;
use thiserror::Error;

use super::{QueryError, Store, found_text, roster::Standing, select};
use crate::transcript::{Detail, Transcript};

/// What stands at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The text, whole.
    pub text: String,
    /// What is to be known of it, and is no part of it.
    pub note: Option<String>,
}

/// An address that leads nowhere.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AddressError {
    /// It is no address of a run.
    #[error(
        "`{0}` is no address; use `agent://ID`, `agent://ID?q=.field`, `agent://ID/ARTIFACT`, `history://ID`, or `history://ID/N`"
    )]
    Form(String),
    /// There will be such addresses.
    #[error("`{uri}` cannot be read: {what} are not built yet")]
    NotBuilt {
        /// What was asked for.
        uri: String,
        /// What stands at such addresses.
        what: &'static str,
    },
    /// No task of the run has that id.
    #[error("this run has no task `{id}`; {instead}")]
    Unknown {
        /// The id.
        id: String,
        /// Which ids there are.
        instead: String,
    },
    /// The task waits for its process.
    #[error("task `{0}` has not started yet; read it later")]
    Queued(String),
    /// The task has handed in nothing so far.
    #[error(
        "task `{0}` is still running and has no output yet; `history://{0}` tells what it has done so far"
    )]
    Going(String),
    /// The task ended without output.
    #[error("task `{id}` ended as `{how}` without output{why}; `history://{id}` tells what it did")]
    NoOutput {
        /// The task.
        id: String,
        /// How it ended.
        how: OutcomeKind,
        /// `: ` and its message, or nothing.
        why: String,
    },
    /// The task never had a process.
    #[error("task `{id}` has no transcript, since it never started{why}")]
    NoTranscript {
        /// The task.
        id: String,
        /// `: ` and its message, or nothing.
        why: String,
    },
    /// The task made no data.
    #[error("task `{0}` has no data; read `agent://{0}` for its text")]
    NoData(String),
    /// The data has nothing there.
    #[error("in the data of task `{id}`: {fault}")]
    NoField {
        /// The task.
        id: String,
        /// Why not.
        #[source]
        fault: QueryError,
    },
    /// The task has no artifact of that name.
    #[error("task `{id}` has no artifact `{name}`; {instead}")]
    NoArtifact {
        /// The task.
        id: String,
        /// The name.
        name: String,
        /// Which ones there are.
        instead: String,
    },
    /// The transcript has no such record to tell.
    #[error(
        "the transcript of task `{id}` tells of no record {n}; read `history://{id}` for those it does"
    )]
    NoRecord {
        /// The task.
        id: String,
        /// What was asked for.
        n: String,
    },
    /// The disk refused.
    #[error("what task `{id}` left cannot be read: {source}")]
    Io {
        /// The task.
        id: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

/// What of a task is asked for.
enum Part<'a> {
    Output,
    Field(&'a str),
    Artifact(&'a str),
    History,
    Record(&'a str),
}

/// A task, and what of it is asked for.
struct Address<'a> {
    id: &'a str,
    part: Part<'a>,
}

impl<'a> Address<'a> {
    fn parse(uri: &'a str) -> Result<Self, AddressError> {
        let form = || AddressError::Form(uri.to_owned());
        let (scheme, rest) = uri.split_once("://").ok_or_else(form)?;
        let not_built = |what| AddressError::NotBuilt {
            uri: uri.to_owned(),
            what,
        };
        let history = match scheme {
            "agent" => false,
            "history" => true,
            "skill" => return Err(not_built("skills")),
            "local" => return Err(not_built("local files of a run")),
            _ => return Err(form()),
        };
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (id, part) = rest.split_at(end);
        let part = match (history, part.as_bytes().first(), part.get(1..)) {
            (false, None, _) => Part::Output,
            (true, None, _) => Part::History,
            (false, Some(b'?'), Some(query)) => {
                Part::Field(query.strip_prefix("q=").ok_or_else(form)?)
            }
            (false, Some(b'/'), Some(name)) if is_plain(name) && !name.contains('.') => {
                Part::Artifact(name)
            }
            (true, Some(b'/'), Some(n)) => Part::Record(n),
            _ => return Err(form()),
        };
        if id.starts_with('.') || !is_plain(id) {
            return Err(form());
        }
        Ok(Self { id, part })
    }
}

/// Whether `word` is made as the names of a run's files are.
fn is_plain(word: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-' || b == b'.';
    !word.is_empty() && word.bytes().all(plain)
}

impl Store {
    /// Reads an address of this run. Reads files: not for a thread that has other work.
    pub fn read(&self, uri: &str) -> Result<Stored, AddressError> {
        let Address { id, part } = Address::parse(uri)?;
        let standing = self
            .roster
            .standing(id)
            .ok_or_else(|| AddressError::Unknown {
                id: id.to_owned(),
                instead: self.roster.instead_of(id),
            })?;
        if standing == Standing::Queued {
            return Err(AddressError::Queued(id.to_owned()));
        }
        match part {
            Part::Output => self.output(id, &standing),
            Part::Field(path) => self.field(id, path, &standing),
            Part::Artifact(name) => self.artifact(id, name),
            Part::History => self.history(id, &standing),
            Part::Record(n) => self.record(id, n, &standing),
        }
    }

    /// A file of a task; `None` when there is none.
    fn file(&self, id: &str, extension: &str) -> Result<Option<String>, AddressError> {
        match fs::read_to_string(self.path(&format!("{id}.{extension}"))) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(AddressError::Io {
                id: id.to_owned(),
                source,
            }),
        }
    }

    fn output(&self, id: &str, standing: &Standing) -> Result<Stored, AddressError> {
        let Standing::Ended { how, message } = standing else {
            return Err(AddressError::Going(id.to_owned()));
        };
        let why = because(message.as_deref());
        let text = self.file(id, "md")?.ok_or_else(|| AddressError::NoOutput {
            id: id.to_owned(),
            how: *how,
            why: why.clone(),
        })?;
        let note = (*how != OutcomeKind::Completed).then(|| {
            format!("task `{id}` ended as `{how}`{why}; this is what there was of its output")
        });
        Ok(Stored { text, note })
    }

    fn field(&self, id: &str, path: &str, standing: &Standing) -> Result<Stored, AddressError> {
        if *standing == Standing::Going {
            return Err(AddressError::Going(id.to_owned()));
        }
        let none = || AddressError::NoData(id.to_owned());
        let data = self.file(id, "json")?.ok_or_else(none)?;
        let data: Value = serde_json::from_str(&data).map_err(|_| none())?;
        let found = select(&data, path).map_err(|fault| AddressError::NoField {
            id: id.to_owned(),
            fault,
        })?;
        Ok(Stored {
            text: found_text(found),
            note: None,
        })
    }

    fn artifact(&self, id: &str, name: &str) -> Result<Stored, AddressError> {
        let text =
            self.file(id, &format!("{name}.txt"))?
                .ok_or_else(|| AddressError::NoArtifact {
                    id: id.to_owned(),
                    name: name.to_owned(),
                    instead: match self.artifacts(id).as_slice() {
                        [] => "it has none".into(),
                        names => format!("it has {}", names.join(", ")),
                    },
                })?;
        Ok(Stored { text, note: None })
    }

    /// The names of a task's artifacts, in backticks.
    fn artifacts(&self, id: &str) -> Vec<String> {
        let start = format!("{id}.");
        let mut names: Vec<_> = fs::read_dir(self.dir())
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter_map(|file| {
                let name = file.strip_prefix(&start)?.strip_suffix(".txt")?;
                // What holds a dot is of a task below it.
                (!name.contains('.')).then(|| format!("`{name}`"))
            })
            .collect();
        names.sort_unstable();
        names
    }

    fn history(&self, id: &str, standing: &Standing) -> Result<Stored, AddressError> {
        let transcript = self.transcript(id, standing)?;
        let mut note = format!("what is long is cut; `history://{id}/N` gives all of record #N");
        if *standing == Standing::Going {
            note = format!("task `{id}` is still running; {note}");
        }
        Ok(Stored {
            text: transcript.text(Detail::Short),
            note: Some(note),
        })
    }

    fn record(&self, id: &str, n: &str, standing: &Standing) -> Result<Stored, AddressError> {
        let transcript = self.transcript(id, standing)?;
        let text = n
            .trim_start_matches('#')
            .parse()
            .ok()
            .and_then(|n| transcript.passage(n));
        let text = text.ok_or_else(|| AddressError::NoRecord {
            id: id.to_owned(),
            n: n.to_owned(),
        })?;
        Ok(Stored {
            text: text.to_string(),
            note: None,
        })
    }

    fn transcript(&self, id: &str, standing: &Standing) -> Result<Transcript, AddressError> {
        let text = self
            .file(id, "jsonl")?
            .ok_or_else(|| AddressError::NoTranscript {
                id: id.to_owned(),
                why: match standing {
                    Standing::Ended { message, .. } => because(message.as_deref()),
                    Standing::Queued | Standing::Going => String::new(),
                },
            })?;
        Ok(Transcript::parse(&text))
    }
}

fn because(message: Option<&str>) -> String {
    message.map_or_else(String::new, |message| format!(": {message}"))
}

#[cfg(test)]
#[path = "address_tests.rs"]
mod tests;
