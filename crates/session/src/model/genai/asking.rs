//! A request of the tests, and what to make it with.

use std::time::Duration;

use futures_util::StreamExt;
use serde_json::{Value, json};
use sortie_protocol::{
    Api, Candidate, Origin, PlannedTool, Record, RecordKind, Secrets, WireEffort, script::Script,
};
use sortie_testkit::ModelServer;

use super::{GenaiClient, dialect};
use crate::model::{
    Answer, Chunk, ChunkStream, ModelClient as _, ModelError, ModelRequest, Patience,
};

/// A model without levels, prices, and key.
pub(super) fn candidate(base_url: &str) -> Candidate {
    Candidate {
        selector: "local/small".into(),
        provider: "local".into(),
        api: Api::OpenaiCompletions,
        base_url: base_url.into(),
        url_secret: None,
        key: None,
        headers: [].into(),
        wire_name: "small".into(),
        effort: None,
        wire_effort: None,
        context_window: None,
        max_tokens: None,
        price: None,
        script: Script::default(),
    }
}

/// A request that nobody sends.
pub(super) fn request<'a>(candidate: &'a Candidate, transcript: &'a [Record]) -> ModelRequest<'a> {
    ModelRequest {
        n: 1,
        candidate,
        place: 0,
        system: "",
        transcript,
        tools: &[],
        must_call: None,
        patience: Patience {
            first: Duration::ZERO,
            idle: Duration::ZERO,
        },
    }
}

/// A request to make, and what to make it with.
pub(super) struct Asking {
    pub(super) candidate: Candidate,
    pub(super) place: usize,
    pub(super) system: String,
    pub(super) secrets: Secrets,
    pub(super) transcript: Vec<Record>,
    pub(super) tools: Vec<PlannedTool>,
    pub(super) must_call: Option<&'static str>,
    pub(super) patience: Patience,
}

impl Asking {
    /// "go", asked of `server` over `api`.
    pub(super) fn of(server: &ModelServer, api: Api) -> Self {
        Self::at(&server.base_url(api), api)
    }

    /// "go", asked of whoever is at `url` over `api`.
    pub(super) fn at(url: &str, api: Api) -> Self {
        let long = Duration::from_mins(1);
        let mut candidate = candidate(url);
        candidate.api = api;
        candidate.max_tokens = Some(64_000);
        Self {
            candidate,
            place: 0,
            system: "be brief".into(),
            secrets: Secrets::default(),
            transcript: records([RecordKind::User {
                origin: Origin::Assignment,
                text: "go".into(),
            }]),
            tools: Vec::new(),
            must_call: None,
            patience: Patience {
                first: long,
                idle: long,
            },
        }
    }

    /// The request.
    fn request(&self) -> ModelRequest<'_> {
        ModelRequest {
            place: self.place,
            system: &self.system,
            tools: &self.tools,
            must_call: self.must_call,
            patience: self.patience,
            ..request(&self.candidate, &self.transcript)
        }
    }

    /// The body that it ought to have.
    pub(super) fn body(&self) -> Value {
        dialect::body(&self.request()).into()
    }

    /// Asks, with a client of its own.
    pub(super) async fn stream(&self) -> Result<ChunkStream, ModelError> {
        GenaiClient::new(&self.secrets).stream(self.request()).await
    }

    /// Every piece up to the end or the first error.
    pub(super) async fn chunks(&self) -> Result<Vec<Chunk>, ModelError> {
        let mut stream = self.stream().await?;
        let mut chunks = Vec::new();
        while let Some(chunk) = stream.next().await {
            chunks.push(chunk?);
        }
        Ok(chunks)
    }

    /// The whole answer.
    pub(super) async fn answer(&self) -> Result<Answer, ModelError> {
        match self.chunks().await?.pop() {
            Some(Chunk::End(answer)) => Ok(answer),
            other => panic!("it ended with {other:?}"),
        }
    }
}

/// Numbers records.
pub(super) fn records(kinds: impl IntoIterator<Item = RecordKind>) -> Vec<Record> {
    let numbered = (1..).zip(kinds);
    numbered
        .map(|(n, kind)| Record { n, at: 0, kind })
        .collect()
}

/// An effort as a plan has it over `api`.
pub(super) fn effort(api: Api) -> WireEffort {
    match api {
        Api::OpenaiCompletions | Api::OpenaiResponses | Api::Script => {
            WireEffort::Word("high".into())
        }
        Api::AnthropicMessages => WireEffort::Budget(16_384),
        Api::GoogleGenerativeAi => WireEffort::Word("HIGH".into()),
    }
}

/// A tool to offer.
pub(super) fn read_tool() -> PlannedTool {
    PlannedTool {
        name: "read".into(),
        description: "reads".into(),
        parameters: json!({"type": "object", "properties": {"path": {"type": "string"}}}).into(),
    }
}
