//! One request, as it came.

use std::time::Instant;

use serde_json::Value;

use super::dialect::Dialect;

/// A request to the model server.
#[derive(Clone, Debug)]
pub struct Request {
    /// The path: `/v1/chat/completions`.
    pub path: String,
    /// Every header, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body; null when it was no JSON.
    pub body: Value,
    /// When it had come whole.
    pub at: Instant,
    /// The body as it came.
    pub(super) text: String,
    pub(super) dialect: Dialect,
}

/// One step of a conversation, whatever the protocol calls it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The system prompt.
    System(String),
    /// Somebody speaks to the model.
    User(String),
    /// The model answers, and calls tools by these ids.
    Assistant {
        /// What it said.
        text: String,
        /// The ids of its calls.
        calls: Vec<String>,
    },
    /// A tool answers.
    Result {
        /// The id of the call.
        call: String,
        /// The answer.
        text: String,
    },
}

impl Request {
    /// The value of a header, by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(header, _)| header == name)
            .map(|(_, value)| value.as_str())
    }

    /// The model that was asked for.
    pub fn model(&self) -> String {
        self.dialect.model(&self.path, &self.body)
    }

    /// What it says about thinking, in the words of its protocol; null when it says nothing.
    pub fn effort(&self) -> Value {
        self.dialect.effort(&self.body)
    }

    /// What it sends back of signed and of hidden thinking, in order.
    pub fn signatures(&self) -> Vec<String> {
        self.dialect.signatures(&self.body)
    }

    /// The conversation.
    pub fn steps(&self) -> Vec<Step> {
        self.dialect.steps(&self.body)
    }

    /// The names of the tools on offer.
    pub fn tools(&self) -> Vec<String> {
        self.dialect.tools(&self.body)
    }

    /// The system prompt.
    pub fn system(&self) -> String {
        self.find_map(|step| match step {
            Step::System(text) => Some(text),
            _ => None,
        })
    }

    /// What the model was first told to do: tells conversations apart.
    pub fn task(&self) -> String {
        self.find_map(|step| match step {
            Step::User(text) => Some(text),
            _ => None,
        })
    }

    /// How many answers of the model the conversation holds: 0 for its first request.
    pub fn turn(&self) -> usize {
        let is_answer = |step: &Step| matches!(step, Step::Assistant { .. });
        self.steps().iter().filter(|step| is_answer(step)).count()
    }

    /// The texts of all tool results, in order.
    pub fn results(&self) -> Vec<String> {
        let results = self.steps().into_iter().filter_map(|step| match step {
            Step::Result { text, .. } => Some(text),
            _ => None,
        });
        results.collect()
    }

    fn find_map(&self, pick: impl Fn(Step) -> Option<String>) -> String {
        self.steps().into_iter().find_map(pick).unwrap_or_default()
    }
}
