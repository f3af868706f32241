//! What a root and a child say to each other, one JSON document a line.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Event, Record, Report, SessionPlan, Usage};

/// The version of the wire. Two sides that differ in it do not talk.
pub const PROTOCOL_VERSION: u32 = 1;

/// Root to child.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Down {
    /// The first line: what to do, and the keys for it.
    Start(Box<Start>),
    /// The stored records of an earlier life are all here.
    Begin,
    /// The assignment.
    Prompt {
        /// The text.
        text: String,
    },
    /// A message into the running turn.
    Steer {
        /// The text.
        text: String,
    },
    /// Stop and report what there is.
    Cancel {
        /// Why, for the log.
        reason: String,
    },
    /// Every record up to this number is on disk.
    Taken {
        /// The number.
        n: u64,
    },
    /// The answer to a `call`.
    Reply {
        /// The id of the call.
        id: u64,
        /// The answer.
        reply: Reply,
    },
    /// A job result or a message.
    Deliver {
        /// Named again by `delivered`.
        id: String,
        /// The text.
        text: String,
    },
    /// A stored record, when reviving: between `start` and `begin`.
    Record(Record),
    /// A word of a later version.
    #[serde(other)]
    Unknown,
}

/// The first line down.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Start {
    /// The root's [`PROTOCOL_VERSION`].
    pub version: u32,
    /// What to do.
    pub plan: SessionPlan,
    /// The values that the plan only names.
    pub secrets: Secrets,
}

/// Secret values by name. Never logged, never stored; `Debug` shows the names alone.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Secrets {
    /// Every value, by its name.
    values: BTreeMap<String, String>,
    /// The names of those that stand where a key is asked for and are none.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    plain: BTreeSet<String>,
}

impl Secrets {
    /// The value behind a name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    /// Adds a value.
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<String>) {
        let name = name.into();
        self.plain.remove(&name);
        self.values.insert(name, value.into());
    }

    /// Adds a value that is handed out like the others, and is no secret: `ollama` for a server that wants any key.
    pub fn insert_plain(&mut self, name: impl Into<String>, value: impl Into<String>) {
        let name = name.into();
        self.plain.insert(name.clone());
        self.values.insert(name, value.into());
    }

    /// Every name with its value.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.values
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Every name with its value, of those values that must not be told.
    pub fn hidden(&self) -> impl Iterator<Item = (&str, &str)> {
        self.iter().filter(|(name, _)| !self.plain.contains(*name))
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.values.keys()).finish()
    }
}

/// Child to root.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Up {
    /// The first line.
    Hello(Hello),
    /// One complete transcript record.
    Record(Record),
    /// One model request is over. Never dropped.
    Ended(Ended),
    /// A `deliver` stands in the transcript. Never dropped.
    Delivered {
        /// Its id.
        id: String,
    },
    /// A piece of a tool's full output, for `<id>.<name>.txt`.
    Artifact {
        /// The name: ASCII letters, digits, `_`, and `-`.
        name: String,
        /// Bytes before this piece.
        offset: u64,
        /// The piece.
        text: String,
    },
    /// Progress.
    Event(Event),
    /// A question that only the root can answer.
    Call {
        /// Named again by `reply` and `drop`.
        id: u64,
        /// The question.
        call: Call,
    },
    /// The answer is no longer wanted.
    Drop {
        /// The id of the call.
        id: u64,
    },
    /// The last line.
    Finished(Finished),
    /// A word of a later version.
    #[serde(other)]
    Unknown,
}

/// The first line up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Hello {
    /// The child's [`PROTOCOL_VERSION`].
    pub version: u32,
    /// Its process id.
    pub pid: u32,
    /// Whether it leads its own session and dies with its parent.
    pub armed: bool,
}

/// The last line up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finished {
    /// How it ended.
    pub report: Report,
}

/// A question to the root.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "call", rename_all = "snake_case")]
pub enum Call {
    /// May a request go out? Asked before every one.
    Admit {
        /// For which model: a place in the plan's `candidates`.
        candidate: usize,
    },
    /// Dispatch these tasks: the arguments of a `task` call as the model wrote them.
    Spawn {
        /// The arguments.
        args: Value,
    },
    /// Read an address of the run: `agent://ID`, `agent://ID?q=.field`, `agent://ID/ARTIFACT`, `history://ID`,
    /// `history://ID/N`.
    Read {
        /// The address.
        uri: String,
    },
    /// A question of a later version.
    #[serde(other)]
    Unknown,
}

/// The answer to a [`Call`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "reply", rename_all = "snake_case")]
pub enum Reply {
    /// The request may go out.
    Go,
    /// This model cannot be used now; try the next.
    Skip {
        /// Why.
        why: String,
        /// When it could be used again, in milliseconds from now.
        ready_in_ms: Option<u64>,
    },
    /// No request may go out any more.
    Spent {
        /// Which budget is used up.
        budget: crate::BudgetKind,
    },
    /// Text for the model.
    Text {
        /// Whether the root did what was asked.
        ok: bool,
        /// The text.
        text: String,
    },
    /// What stands at an address of the run, whole: the child shows a part of it.
    Stored {
        /// The text.
        text: String,
        /// What is to be known of it, and is no part of it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// An answer of a later version.
    #[serde(other)]
    Unknown,
}

/// How one model request ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ended {
    /// The id of the `admit` call that let it out.
    pub admit: u64,
    /// The model: a place in the plan's `candidates`.
    pub candidate: usize,
    /// How it ended.
    pub status: EndedStatus,
    /// How long the provider asked to wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// What it used.
    #[serde(default)]
    pub usage: Usage,
}

/// How one model request ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum EndedStatus {
    /// With a whole answer.
    Answered,
    /// With an HTTP error.
    Refused {
        /// The HTTP status.
        http: u16,
        /// The provider's words, shortened.
        message: String,
    },
    /// Without an answer: no connection, or a stream that broke off.
    Broken {
        /// What broke.
        message: String,
    },
    /// We stopped it.
    Abandoned,
}
