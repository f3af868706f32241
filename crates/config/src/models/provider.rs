//! Rows of the catalogue: providers and their models.

use std::{collections::BTreeMap, fmt, path::PathBuf};

use serde::{Deserialize, Serialize};
use sortie_protocol::{Api, Effort, Price};

use crate::Problem;

/// Somebody who serves models.
#[derive(Clone, Debug, PartialEq)]
pub struct Provider {
    /// Its name: the part of a selector before the first `/`.
    pub name: String,
    /// The endpoint, without its user, query, and fragment.
    pub base_url: String,
    /// The whole endpoint, when it has a user or a query: those may hold a key.
    pub url_secret: Option<Hidden>,
    /// How to speak to it. A model may differ.
    pub api: Api,
    /// Where its key comes from; `None`: it wants none.
    pub key: Option<KeySource>,
    /// Extra HTTP headers, and where their values come from.
    pub headers: BTreeMap<String, KeySource>,
    /// Its models, in the order they were written.
    pub models: Vec<Model>,
    /// Who says so.
    pub source: ProviderSource,
}

/// Who says what a provider is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProviderSource {
    /// This program.
    Bundled,
    /// A `models.yml`, alone or on top of what this program says.
    File {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
    },
}

/// What a `models.yml` says of a provider or a model, and nobody can use.
#[derive(Clone, Debug, PartialEq)]
pub struct LeftOut {
    /// The provider.
    pub provider: String,
    /// The model; `None` when it is the provider as a whole.
    pub model: Option<String>,
    /// What is wrong with it, and where.
    pub fault: Problem,
}

/// One model of a provider. What nobody stated is `None`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Model {
    /// Its name on the wire: the part of a selector after the first `/`.
    pub id: String,
    /// How to speak to it, when that is not how one speaks to its provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api: Option<Api>,
    /// Tokens that it can see at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u64>,
    /// Tokens that it may answer with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// What it can be shown; empty when nobody stated it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub input: Vec<Input>,
    /// List prices.
    #[serde(default, rename = "cost", skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// How it is asked to think.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<ThinkingMode>,
    /// The levels it takes, low to high; empty: it takes none, and none is sent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub efforts: Vec<Effort>,
    /// The level it takes when nobody asks for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_effort: Option<Effort>,
    /// The words that its provider has for levels, where they differ from ours.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub effort_words: BTreeMap<Effort, String>,
}

impl Model {
    /// A model of which only the name is known.
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            api: None,
            context_window: None,
            max_tokens: None,
            input: Vec::new(),
            price: None,
            thinking: None,
            efforts: Vec::new(),
            default_effort: None,
            effort_words: BTreeMap::new(),
        }
    }
}

/// What a model can be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Input {
    /// Text.
    Text,
    /// Images.
    Image,
}

/// How a model is asked to think.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ThinkingMode {
    /// By a level's word.
    Effort,
    /// By a number of tokens.
    Budget,
    /// By a level's word of Gemini's.
    GoogleLevel,
    /// By a level's word, beside adaptive thinking.
    AnthropicAdaptive,
    /// By a level's word, beside a number of tokens.
    AnthropicBudgetEffort,
}

impl ThinkingMode {
    /// Every mode.
    pub const ALL: [Self; 5] = [
        Self::Effort,
        Self::Budget,
        Self::GoogleLevel,
        Self::AnthropicAdaptive,
        Self::AnthropicBudgetEffort,
    ];

    /// The word that `models.yml` uses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Effort => "effort",
            Self::Budget => "budget",
            Self::GoogleLevel => "google-level",
            Self::AnthropicAdaptive => "anthropic-adaptive",
            Self::AnthropicBudgetEffort => "anthropic-budget-effort",
        }
    }
}

/// Where the value of a key or a header comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeySource {
    /// The variable of this name.
    Variable(String),
    /// The first line that this shell command prints.
    Command(String),
    /// This text.
    Literal(Hidden),
}

impl KeySource {
    /// Reads what a `models.yml` says: an `ALL_CAPS` name is a variable, `!` starts a command, and anything else is
    /// the value itself.
    pub fn parse(text: &str) -> Self {
        let is_name = text.starts_with(|c: char| c.is_ascii_uppercase())
            && text
                .chars()
                .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
        match text.strip_prefix('!') {
            Some(command) => Self::Command(command.trim().to_owned()),
            None if is_name => Self::Variable(text.to_owned()),
            None => Self::Literal(Hidden::new(text)),
        }
    }
}

/// A value that is handed out only by [`Models`](super::Models), and that `Debug` does not show.
#[derive(Clone, PartialEq, Eq)]
pub struct Hidden(String);

impl Hidden {
    pub(crate) fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    pub(super) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(hidden)")
    }
}
