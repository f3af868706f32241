//! Whom a candidate is asked through.

use std::{path::PathBuf, sync::OnceLock};

use async_trait::async_trait;
use sortie_protocol::{Api, Secrets};

use crate::model::{
    ChunkStream, ModelClient, ModelError, ModelRequest, genai::GenaiClient, script::ScriptClient,
};

/// The clients of one session, each made when its first request goes out: a scripted child needs no HTTP at all.
#[derive(Debug)]
pub(crate) struct Clients {
    secrets: Secrets,
    script: ScriptClient,
    remote: OnceLock<GenaiClient>,
}

impl Clients {
    /// Clients that use these keys; `scratch` is the folder that scripts may name.
    pub(crate) fn new(secrets: Secrets, scratch: PathBuf) -> Self {
        Self {
            secrets,
            script: ScriptClient::new(scratch),
            remote: OnceLock::new(),
        }
    }
}

#[async_trait]
impl ModelClient for Clients {
    async fn stream(&self, request: ModelRequest<'_>) -> Result<ChunkStream, ModelError> {
        match request.candidate.api {
            Api::Script => self.script.stream(request).await,
            Api::OpenaiCompletions
            | Api::OpenaiResponses
            | Api::AnthropicMessages
            | Api::GoogleGenerativeAi => {
                let remote = self.remote.get_or_init(|| GenaiClient::new(&self.secrets));
                remote.stream(request).await
            }
        }
    }
}
