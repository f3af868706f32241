//! Speaking to a model, whoever serves it.
//!
//! [`ModelClient`] is the one face that the turn loop knows. A request is made from the transcript, an answer arrives
//! as [`Chunk`]s and ends with [`Chunk::End`]; a stream that stops without one is [`ModelError::Truncated`]. Clients
//! neither retry nor wait: what to do about an error is decided by the loop.

mod error;
pub(crate) mod genai;
pub mod script;

use std::{fmt, pin::Pin, time::Duration};

use async_trait::async_trait;
use futures_util::Stream;
use sortie_protocol::{Candidate, PlannedTool, Record, StopReason, Thought, ToolCall, Usage};

pub use error::ModelError;
pub use genai::GenaiClient;

/// One request, borrowed from the session that makes it.
#[derive(Clone, Copy, Debug)]
pub struct ModelRequest<'a> {
    /// Which request of this child it is, from 1.
    pub n: u64,
    /// The model to ask.
    pub candidate: &'a Candidate,
    /// Its place in the plan: what it signed goes back to it, and to nobody else.
    pub place: usize,
    /// The system prompt.
    pub system: &'a str,
    /// The conversation so far.
    pub transcript: &'a [Record],
    /// The tools to offer.
    pub tools: &'a [PlannedTool],
    /// A tool that the model has to call.
    pub must_call: Option<&'a str>,
    /// How long the first byte, and the time between two bytes, may take.
    pub patience: Patience,
}

/// How long a stream may be silent. The root's clocks are shorter; these only keep a lost connection from hanging.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// To the answer's head.
    pub first: Duration,
    /// Between two pieces.
    pub idle: Duration,
}

/// A piece of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Chunk {
    /// Answer text.
    Text(String),
    /// Thinking text.
    Thought(String),
    /// Something arrived that is not to be shown: a piece of a tool call, a ping.
    Progress,
    /// What it has used so far, as far as it was reported. What breaks off has been paid for too.
    Used(Usage),
    /// The answer is whole. Always last.
    End(Answer),
}

/// A whole answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Thinking, with what the provider needs to see again.
    pub thoughts: Vec<Thought>,
    /// What it said.
    pub text: String,
    /// The tools it called; arguments that are no JSON stay a string.
    pub calls: Vec<ToolCall>,
    /// Why it stopped.
    pub stop: StopReason,
    /// What it used, priced when the candidate has prices.
    pub usage: Usage,
}

/// The pieces of one answer. Dropping it closes the connection.
pub type ChunkStream = Pin<Box<dyn Stream<Item = Result<Chunk, ModelError>> + Send>>;

/// Something that answers requests.
#[async_trait]
pub trait ModelClient: fmt::Debug + Send + Sync {
    /// Sends `request` and returns the answer as it arrives.
    async fn stream(&self, request: ModelRequest<'_>) -> Result<ChunkStream, ModelError>;
}
