//! Why a policy is what it is.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use sortie_config::{Origin, Source};
use sortie_discovery::{AgentDefinition, Span};

/// Why something was decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Why {
    /// The reason, as a fragment.
    pub text: String,
    /// The file that says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// The line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
}

/// One thing that was decided.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Reason {
    /// What it is about: `tools`, `model`, `clocks.idleMs`.
    pub field: &'static str,
    /// What was decided.
    pub value: Value,
    /// Why.
    pub why: Why,
}

impl Why {
    /// A rule, or the caller: nothing that stands in a file.
    pub(crate) fn rule(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            file: None,
            line: None,
        }
    }

    /// A setting.
    pub(crate) fn setting(key: &str, origin: &Origin) -> Self {
        match origin {
            Origin::Default => Self::rule(format!("`{key}` is not set")),
            Origin::File { path, line } => Self {
                text: format!("`{key}`"),
                file: Some(path.clone()),
                line: Some(*line),
            },
            Origin::Variable(name) => Self::rule(format!("`{key}`, by the variable `{name}`")),
            Origin::Flag(flag) => Self::rule(format!("`{key}`, by `{flag}`")),
        }
    }

    /// A place in a file.
    pub(crate) fn place(text: impl Into<String>, file: &Source, span: &Span) -> Self {
        Self {
            text: text.into(),
            file: Some(file.path().to_owned()),
            line: Some(file.position(span.start).0),
        }
    }

    /// A field of an agent's file, or that the file does not say it.
    pub(crate) fn field(key: &str, agent: &AgentDefinition, span: Option<&Span>) -> Self {
        match span {
            Some(span) => Self::place(format!("`{key}` of the agent"), &agent.file, span),
            None => Self::rule(format!("the agent says no `{key}`")),
        }
    }
}

impl Reason {
    pub(crate) fn new(field: &'static str, value: impl Into<Value>, why: Why) -> Self {
        Self {
            field,
            value: value.into(),
            why,
        }
    }
}
