//! One answer, however many requests it takes.

use std::{
    hash::{BuildHasher, RandomState},
    pin::pin,
    time::Duration,
};

use futures_util::StreamExt;
use sortie_protocol::{Call, Ended, EndedStatus, Ending, EventKind, Reply, Up, Usage, tool::YIELD};
use tokio::{select, time::sleep};

use super::{
    Session,
    retry::{Fault, Next},
};
use crate::{
    arm,
    link::Link,
    model::{Answer, Chunk, ModelError, ModelRequest, Patience},
};

/// How long a request has to be out before the time is used to compile the schema.
const QUIET: Duration = Duration::from_millis(10);
/// What a stream may be silent for beyond the root's own clocks, which are to fire first.
const MARGIN: Duration = Duration::from_secs(30);
/// The same where the plan sets no clock.
const FOREVER: Duration = Duration::from_hours(24);

/// Why a request brought no answer.
enum Unanswered {
    Cancelled,
    Failed(ModelError),
}

impl Session<'_> {
    /// Asks until a model answers, or until nothing is left to ask.
    pub(super) async fn answer(&mut self) -> Result<(usize, Answer), Ending> {
        loop {
            arm::unless_leaving().await;
            let candidate = self.chain.candidate();
            let admit = self.link.call(Call::Admit { candidate });
            let id = admit.id();
            let reply = select! {
                biased;
                () = self.link.cancelled().cancelled() => return Err(Ending::Cancelled),
                reply = admit.answer() => reply,
            };
            let (next, why) = match reply {
                Reply::Go => match self.request(id, candidate).await {
                    Ok(answer) => {
                        self.chain.answered();
                        return Ok((candidate, answer));
                    }
                    Err(Unanswered::Cancelled) => return Err(Ending::Cancelled),
                    Err(Unanswered::Failed(error)) if self.demands_yield && is_misread(&error) => {
                        self.demands_yield = false;
                        continue;
                    }
                    Err(Unanswered::Failed(error)) => {
                        let fault = Fault::of(&error, &self.plan.candidates[candidate]);
                        (self.chain.failed(&fault, roll()), fault.message)
                    }
                },
                Reply::Skip { why, ready_in_ms } => {
                    let ready_in = ready_in_ms.map(Duration::from_millis);
                    (self.chain.skipped(&why, ready_in), why)
                }
                Reply::Spent { budget } => return Err(Ending::Budget { budget }),
                other => {
                    let message = format!("the root answered `admit` with {other:?}");
                    return Err(Ending::Failed {
                        reason: "protocol".into(),
                        message,
                    });
                }
            };
            self.follow(candidate, next, &why).await?;
        }
    }

    /// Does what the chain decided after a try with the candidate `left`.
    async fn follow(&self, left: usize, next: Next, why: &str) -> Result<(), Ending> {
        let at = self.chain.candidate();
        if at != left {
            self.link.event(EventKind::Switch {
                from: self.selector(left).to_owned(),
                to: self.selector(at).to_owned(),
                why: why.to_owned(),
            });
        }
        match next {
            Next::Ask => Ok(()),
            Next::AskAfter(wait) => {
                let ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
                self.link.event(EventKind::RetryWait {
                    ms,
                    why: why.to_owned(),
                });
                select! {
                    biased;
                    () = self.link.cancelled().cancelled() => Err(Ending::Cancelled),
                    () = sleep(wait) => Ok(()),
                }
            }
            Next::GiveUp { reason, message } => Err(Ending::Failed {
                reason: reason.to_owned(),
                message,
            }),
        }
    }

    /// Sends one request and takes its answer in.
    async fn request(&mut self, admit: u64, candidate: usize) -> Result<Answer, Unanswered> {
        arm::unless_leaving().await;
        // Also what came while the request waited to be let out.
        self.open_mail();
        self.requests += 1;
        let mut open = OpenRequest::new(self.link.clone(), admit, candidate);
        let request = ModelRequest {
            n: self.requests,
            candidate: &self.plan.candidates[candidate],
            place: candidate,
            system: &self.plan.system,
            transcript: self.transcript.records(),
            tools: &self.plan.tools,
            must_call: self.demands_yield.then_some(YIELD),
            patience: self.patience(),
        };
        let cancelled = self.link.cancelled().clone();
        let mut heard = Partial::default();
        let result = select! {
            biased;
            () = cancelled.cancelled() => None,
            result = self.stream(request, &mut heard) => Some(result),
        };
        open.used(heard.usage);
        let Some(result) = result else {
            return Err(self.keep(heard.text, Unanswered::Cancelled));
        };
        open.close(&result);
        match result {
            Ok(answer) => {
                self.cut_text = None;
                Ok(answer)
            }
            Err(error) => Err(self.keep(heard.text, Unanswered::Failed(error))),
        }
    }

    async fn stream(
        &self,
        request: ModelRequest<'_>,
        heard: &mut Partial,
    ) -> Result<Answer, ModelError> {
        let mut sending = pin!(self.models.stream(request));
        let mut stream = select! {
            biased;
            stream = &mut sending => stream?,
            () = sleep(QUIET) => {
                self.desk.form().prepare();
                sending.await?
            }
        };
        while let Some(chunk) = stream.next().await {
            match chunk? {
                Chunk::Text(text) => {
                    heard.text.push_str(&text);
                    self.link.event(EventKind::Text { text });
                }
                Chunk::Thought(text) => self.link.event(EventKind::Thought { text }),
                Chunk::Used(usage) => heard.usage = usage,
                Chunk::Progress => self.link.event(EventKind::Streaming),
                Chunk::End(answer) => return Ok(answer),
            }
        }
        Err(ModelError::Truncated)
    }

    /// Keeps the text of an answer that broke off, as salvage and for nothing else.
    fn keep(&mut self, heard: String, why: Unanswered) -> Unanswered {
        if !heard.trim().is_empty() {
            self.cut_text = Some(heard);
        }
        why
    }

    fn patience(&self) -> Patience {
        let clocks = &self.plan.clocks;
        let longer = |ms: u64| {
            if ms == 0 {
                FOREVER
            } else {
                Duration::from_millis(ms) + MARGIN
            }
        };
        Patience {
            first: longer(clocks.first_activity_ms),
            idle: longer(clocks.idle_ms),
        }
    }

    fn selector(&self, candidate: usize) -> &str {
        &self.plan.candidates[candidate].selector
    }
}

/// Whether a provider may have refused only that the request names a tool to call, which not all of them know.
fn is_misread(error: &ModelError) -> bool {
    matches!(
        error,
        ModelError::Status {
            http: 400 | 422,
            ..
        }
    )
}

/// What there is of an answer that may break off.
#[derive(Debug, Default)]
struct Partial {
    text: String,
    usage: Usage,
}

/// A request that was let out. The root hears of its end, whatever that is.
struct OpenRequest {
    link: Link,
    ended: Option<Ended>,
}

impl OpenRequest {
    fn new(link: Link, admit: u64, candidate: usize) -> Self {
        let ended = Ended {
            admit,
            candidate,
            status: EndedStatus::Abandoned,
            retry_after_ms: None,
            usage: Usage::default(),
        };
        Self {
            link,
            ended: Some(ended),
        }
    }

    /// What it has used, should it end without an answer.
    fn used(&mut self, usage: Usage) {
        if let Some(ended) = &mut self.ended {
            ended.usage = usage;
        }
    }

    fn close(&mut self, result: &Result<Answer, ModelError>) {
        let Some(ended) = &mut self.ended else { return };
        match result.as_ref().map_err(ModelError::itself) {
            Ok(answer) => {
                ended.status = EndedStatus::Answered;
                ended.usage = answer.usage;
            }
            Err(ModelError::Status {
                http,
                message,
                retry_after,
            }) => {
                ended.status = EndedStatus::Refused {
                    http: *http,
                    message: message.clone(),
                };
                ended.retry_after_ms =
                    retry_after.map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
            }
            Err(error) => {
                ended.status = EndedStatus::Broken {
                    message: error.to_string(),
                }
            }
        }
        self.send();
    }

    fn send(&mut self) {
        if let Some(ended) = self.ended.take() {
            self.link.send(Up::Ended(ended));
        }
    }
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        self.send();
    }
}

/// A number from 0 to 1 that differs from child to child.
fn roll() -> f64 {
    let bits = RandomState::new().hash_one(std::process::id());
    f64::from(u32::try_from(bits >> 32).unwrap_or(0)) / f64::from(u32::MAX)
}
