//! Models behind HTTP, through the `genai` library.
//!
//! `genai` knows the wires; what it does not do for us is done here, and each of these has a test:
//!
//! 1. a base URL gets the slash that it must end in (`target`);
//! 2. everything that it can capture is captured (`options`);
//! 3. a stream that ends without an end is [`ModelError::Truncated`] (`answer`);
//! 4. the status and the wait that it hides in a stream's error are taken out (`fault`);
//! 5. an effort is always given, so that a model's name is never cut (`options`);
//! 6. an effort that it would change on the way is refused (`options`);
//! 7. both silences have a limit (`options`);
//! 8. nothing is repeated here: what to do about an error is the turn loop's to decide.

mod answer;
mod fault;
mod messages;
mod options;
mod retry_after;
mod target;
mod transport;

use std::collections::HashSet;

use async_trait::async_trait;
use sortie_protocol::{RecordKind, Secrets};

use self::{answer::Chunks, fault::Faults, target::Target, transport::Transports};
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
        let options = options::options(&request, target.headers)?;
        let chat = messages::chat(&request);
        let response = client
            .exec_chat_stream(target.service, chat, Some(&options))
            .await
            .map_err(|error| faults.read(&error))?;
        Ok(Box::pin(Chunks::new(
            response.stream,
            answer::Reading {
                n: request.n,
                used_ids: used_ids(&request),
                price: request.candidate.price,
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
mod request_tests;
