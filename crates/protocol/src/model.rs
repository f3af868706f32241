//! A model, ready to use.

use std::{collections::BTreeMap, fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Thinking, Usage, WireEffort,
    script::{Script, ScriptEntry},
};

/// The protocol that an endpoint speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Api {
    /// `POST /chat/completions`
    OpenaiCompletions,
    /// `POST /responses`
    OpenaiResponses,
    /// `POST /v1/messages`
    AnthropicMessages,
    /// `POST /models/NAME:streamGenerateContent`
    GoogleGenerativeAi,
    /// No endpoint: turns come from a file.
    Script,
}

impl Api {
    /// Every API that a `models.yml` may name.
    pub const REMOTE: [Self; 4] = [
        Self::OpenaiCompletions,
        Self::OpenaiResponses,
        Self::AnthropicMessages,
        Self::GoogleGenerativeAi,
    ];

    /// The word that `models.yml` and receipts use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OpenaiCompletions => "openai-completions",
            Self::OpenaiResponses => "openai-responses",
            Self::AnthropicMessages => "anthropic-messages",
            Self::GoogleGenerativeAi => "google-generative-ai",
            Self::Script => "script",
        }
    }
}

impl fmt::Display for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Api {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Self::REMOTE
            .into_iter()
            .find(|api| api.as_str() == text)
            .ok_or(())
    }
}

/// US dollars for a million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Price {
    /// For input.
    pub input: f64,
    /// For output.
    pub output: f64,
    /// For input read from the provider's cache.
    pub cache_read: f64,
    /// For input written to the provider's cache.
    pub cache_write: f64,
}

impl Price {
    /// What `usage` costs, or `None` when nothing was counted.
    pub fn of(&self, usage: &Usage) -> Option<f64> {
        if usage.input.is_none() && usage.output.is_none() {
            return None;
        }
        #[expect(
            clippy::cast_precision_loss,
            reason = "token counts are far below 2^52"
        )]
        let part = |tokens: Option<u64>, price: f64| tokens.unwrap_or(0) as f64 * price / 1e6;
        Some(
            part(usage.input, self.input)
                + part(usage.output, self.output)
                + part(usage.cache_read, self.cache_read)
                + part(usage.cache_write, self.cache_write),
        )
    }
}

/// A model that a plan may use, with nothing left to look up.
///
/// Holds no secret: `key`, `headers`, and `url_secret` are names into [`Secrets`](crate::Secrets).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Candidate {
    /// `provider/model`, without a level.
    pub selector: String,
    /// The provider: what rate limits and cooldowns are counted by.
    pub provider: String,
    /// How to speak to it.
    pub api: Api,
    /// The endpoint, without a user and a query part.
    pub base_url: String,
    /// The name of the secret that holds the whole endpoint, when it has a user or a query part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url_secret: Option<String>,
    /// The name of the secret that holds the API key; `None`: the endpoint wants none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Extra HTTP headers: header name to the name of the secret that holds its value.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// The model's name on the wire.
    pub wire_name: String,
    /// What to ask for; `None`: the model has no levels, and nothing is sent.
    pub effort: Option<Thinking>,
    /// What stands in a request for `effort`; `None`: nothing does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wire_effort: Option<WireEffort>,
    /// Tokens that the model can see at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u64>,
    /// Tokens that the model may answer with, thinking included. `None`: nothing is sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// List prices, where the catalogue has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// The turns, for [`Api::Script`].
    #[serde(default, skip_serializing_if = "is_empty")]
    #[schemars(with = "Vec<ScriptEntry>")]
    pub script: Script,
}

fn is_empty(script: &Script) -> bool {
    script.is_empty()
}
