//! How hard a model thinks.

use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A level of effort, low to high.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Effort {
    /// `minimal`
    Minimal,
    /// `low`
    Low,
    /// `medium`
    Medium,
    /// `high`
    High,
    /// `xhigh`
    Xhigh,
    /// `max`
    Max,
}

impl Effort {
    /// Every level, low to high.
    pub const ALL: [Self; 6] = [
        Self::Minimal,
        Self::Low,
        Self::Medium,
        Self::High,
        Self::Xhigh,
        Self::Max,
    ];

    /// The word that files, flags, and providers use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Xhigh => "xhigh",
            Self::Max => "max",
        }
    }
}

impl fmt::Display for Effort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A word that names no level and no mode.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{0}` is no effort; the levels are minimal, low, medium, high, xhigh, max")]
pub struct UnknownEffort(pub String);

impl FromStr for Effort {
    type Err = UnknownEffort;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|level| level.as_str() == text)
            .ok_or_else(|| UnknownEffort(text.to_owned()))
    }
}

/// What a file or a selector may say about effort: a level, or a word that stands for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EffortWord {
    /// No thinking.
    Off,
    /// The model's default level, fixed when the plan is made.
    Auto,
    /// The caller's level.
    Inherit,
    /// This level.
    #[serde(untagged)]
    Level(Effort),
}

impl FromStr for EffortWord {
    type Err = UnknownEffort;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "off" => Ok(Self::Off),
            "auto" => Ok(Self::Auto),
            "inherit" => Ok(Self::Inherit),
            _ => text.parse().map(Self::Level),
        }
    }
}

/// A caller's coarse hint, relative to the levels that the chosen model has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EffortHint {
    /// The model's first level.
    Lo,
    /// The model's lower middle level.
    Med,
    /// The model's last level.
    Hi,
}

/// What a request asks of a model that can think: nothing, or one level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Thinking {
    /// Do not think.
    Off,
    /// Think this hard.
    #[serde(untagged)]
    Level(Effort),
}

impl fmt::Display for Thinking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => f.write_str("off"),
            Self::Level(level) => level.fmt(f),
        }
    }
}

/// What a request says of a [`Thinking`], in the terms of the model's API. Decided with the plan; a child only spells it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum WireEffort {
    /// Told not to think: by `none`, by `disabled`, or by a budget of 0, as the API has it.
    Off,
    /// A level's word: `reasoning_effort`, `reasoning.effort`, or Gemini's `thinkingLevel`.
    Word(String),
    /// A number of tokens to think with: Anthropic's `budget_tokens`, Gemini's `thinkingBudget`.
    Budget(u64),
    /// As long as Anthropic's model finds right, with this word in `output_config.effort`.
    Adaptive(String),
    /// Both of what Anthropic has.
    BudgetAndWord {
        /// For `budget_tokens`.
        tokens: u64,
        /// For `output_config.effort`.
        word: String,
    },
}

impl fmt::Display for WireEffort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => f.write_str("off"),
            Self::Word(word) => write!(f, "`{word}`"),
            Self::Budget(tokens) => write!(f, "{tokens} tokens"),
            Self::Adaptive(word) => write!(f, "`{word}`, adaptive"),
            Self::BudgetAndWord { tokens, word } => write!(f, "`{word}` and {tokens} tokens"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_ordered_and_read_back() {
        assert!(Effort::ALL.is_sorted());
        for level in Effort::ALL {
            assert_eq!(level.as_str().parse(), Ok(level));
        }
        assert_eq!("High".parse::<Effort>(), Err(UnknownEffort("High".into())));
    }

    #[test]
    fn words_and_levels_share_one_spelling_on_the_wire() {
        let read = |text: &str| serde_json::from_str::<EffortWord>(text).unwrap();
        assert_eq!(read("\"off\""), EffortWord::Off);
        assert_eq!(read("\"xhigh\""), EffortWord::Level(Effort::Xhigh));
        assert_eq!(
            serde_json::to_string(&Thinking::Level(Effort::Low)).unwrap(),
            "\"low\""
        );
        assert_eq!(serde_json::to_string(&Thinking::Off).unwrap(), "\"off\"");
    }

    #[test]
    fn a_plan_shows_what_is_sent() {
        let word = || "low".to_owned();
        let all = [
            WireEffort::Off,
            WireEffort::Word(word()),
            WireEffort::Budget(2_048),
            WireEffort::Adaptive(word()),
            WireEffort::BudgetAndWord {
                tokens: 4_096,
                word: word(),
            },
        ];
        let shown = all.map(|wire| {
            let json = serde_json::to_string(&wire).unwrap();
            assert_eq!(serde_json::from_str::<WireEffort>(&json).unwrap(), wire);
            format!("{json}: {wire}")
        });
        insta::assert_snapshot!(shown.join("\n"), @r#"
        "off": off
        {"word":"low"}: `low`
        {"budget":2048}: 2048 tokens
        {"adaptive":"low"}: `low`, adaptive
        {"budgetAndWord":{"tokens":4096,"word":"low"}}: `low` and 4096 tokens
        "#);
    }
}
