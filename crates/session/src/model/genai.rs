//! Models behind HTTP, through the `genai` library.
//!
//! `genai` sends a request and parts its answer into frames. What is said and what is heard is ours, and each of these has
//! a test over every API:
//!
//! 1. a base URL may end in a slash or not, and keeps its query (`target`);
//! 2. everything that a model does is heard, frame by frame (`hearing`);
//! 3. a stream that ends without an end is [`ModelError::Truncated`] (`answer`);
//! 4. the status and the wait that it hides in a stream's error are taken out (`fault`);
//! 5. no model's name is cut or believed: it is not told any (`target`, `dialect`);
//! 6. the plan's effort is sent as it stands in the plan (`options`, `dialect`);
//! 7. both silences have a limit (`options`);
//! 8. nothing is repeated here: what to do about an error is the turn loop's to decide.

mod answer;
mod call_id;
mod conversation;
mod dialect;
mod fault;
mod hearing;
mod options;
mod retry_after;
mod target;
mod transport;

use std::{collections::HashSet, sync::Arc};

use async_trait::async_trait;
use genai::chat::ChatRequest;
use sortie_protocol::{RecordKind, Secrets};

use self::{
    answer::{Chunks, Reading},
    fault::Faults,
    hearing::Ear,
    target::Target,
    transport::Transports,
};
use super::{ChunkStream, ModelClient, ModelError, ModelRequest};

/// A client for every remote [`Api`](sortie_protocol::Api).
///
/// Making one costs nothing: connections, and the certificate roots that HTTPS needs, come with the first request that
/// wants them, and are kept.
#[derive(Debug)]
pub struct GenaiClient {
    secrets: Secrets,
    transports: Transports,
}

impl GenaiClient {
    /// A client that looks up keys, header values, and whole endpoints in `secrets`.
    pub fn new(secrets: &Secrets) -> Self {
        Self {
            secrets: secrets.clone(),
            transports: Transports::default(),
        }
    }
}

#[async_trait]
impl ModelClient for GenaiClient {
    /// Makes the request; it goes out when the stream is first polled, and every answer of the provider, an error status
    /// too, comes out of the stream.
    async fn stream(&self, request: ModelRequest<'_>) -> Result<ChunkStream, ModelError> {
        let faults = Faults::new(&self.secrets);
        let target = Target::of(request.candidate, &self.secrets)?;
        let client = self.transports.client(&target.url)?;
        let ear = Arc::new(Ear::new(dialect::listener(request.candidate.api)));
        let options = options::options(&request, Arc::clone(&ear));
        let response = client
            // Everything is in the body that `options` lays over this.
            .exec_chat_stream(target.service, ChatRequest::default(), Some(&options))
            .await
            .map_err(|error| faults.read(&error))?;
        Ok(Box::pin(Chunks::new(
            response.stream,
            Reading {
                n: request.n,
                used_ids: used_ids(&request),
                price: request.candidate.price,
                ear,
                faults,
            },
        )))
    }
}

/// The ids that calls of this conversation have already.
fn used_ids(request: &ModelRequest<'_>) -> HashSet<String> {
    let turns = request
        .transcript
        .iter()
        .filter_map(|record| match &record.kind {
            RecordKind::Assistant(turn) => Some(turn),
            _ => None,
        });
    turns
        .flat_map(|turn| turn.calls.iter().map(|call| call.id.clone()))
        .collect()
}

#[cfg(test)]
mod asking;
#[cfg(test)]
mod guard_tests;
#[cfg(test)]
mod pieces_tests;
#[cfg(test)]
mod replay_tests;
#[cfg(test)]
mod request_tests;
