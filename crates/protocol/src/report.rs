//! What a child says at its end.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::BudgetKind;

/// The last words of a child: how it ended, and what it has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// How it ended.
    pub ending: Ending,
    /// The result as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The result as data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
    /// Parts that were handed in before the end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sections: Vec<Section>,
    /// The last thing the model said: salvage for an end without a result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_text: Option<String>,
    /// What the caller should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// How a child ended, as it saw it itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "ending", rename_all = "snake_case")]
pub enum Ending {
    /// It handed in a result.
    Yielded {
        /// How many tries it took.
        tries: u32,
        /// What is wrong with the result; filled only where the plan is permissive.
        faults: Vec<String>,
    },
    /// It handed in an error.
    GaveUp {
        /// The error.
        error: String,
    },
    /// No try fitted the schema, and the plan is strict.
    SchemaViolation {
        /// How many tries there were.
        tries: u32,
        /// What was wrong with the last.
        faults: Vec<String>,
    },
    /// It stopped without handing anything in.
    Incomplete {
        /// Why, in a sentence.
        message: String,
    },
    /// It could not go on.
    Failed {
        /// One word.
        reason: String,
        /// One sentence.
        message: String,
    },
    /// It was asked to stop.
    Cancelled,
    /// A budget ran out.
    Budget {
        /// Which.
        budget: BudgetKind,
    },
}

/// A part of a result, handed in before the end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Section {
    /// Its label.
    pub label: String,
    /// Its content.
    pub data: Value,
}
