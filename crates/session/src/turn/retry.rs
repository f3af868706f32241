//! Wait, try again, or switch to another model: the decision.
//!
//! Pure: [`Chain`] is told what became of a request and says what to do next. It reads no clock and throws no dice;
//! whoever asks it brings the roll.
//!
//! - Refused for load (429, quota, overloaded): the next candidate at once. With none left the root is asked again,
//!   and its `skip` says how long to wait, in all at most `retry.maxDelayMs`.
//! - 5xx, a cut, a stall, a lost connection: the same candidate again after a doubling wait, at most twice while
//!   another candidate is left, `retry.maxRetries` times on the last.
//! - Any other refusal: the next candidate, and this one never again.

use std::time::Duration;

use sortie_protocol::{Candidate, Retry};

use super::advice;
use crate::model::ModelError;

/// How often a candidate is tried again while there is another.
const TRIES_BEFORE_SWITCH: u32 = 2;
/// The shortest wait: a root that says "now" and means "not yet" must not be asked in a tight loop.
const SHORTEST: Duration = Duration::from_millis(20);

/// How long a provider is taken to rest that refused for load and named no time. The root's own answer replaces it.
const COOLDOWN: Duration = Duration::from_secs(30);

/// The reason of a failure where every model wants to be left alone.
const RATE_LIMITED: &str = "rate_limited";

/// What became of a request that got no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    kind: FaultKind,
    /// How long the provider asked to wait.
    pub(super) retry_after: Option<Duration>,
    reason: &'static str,
    /// What happened, with the provider's words, and what to look at.
    pub(super) message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FaultKind {
    /// Too much was asked of the provider.
    Load,
    /// It may go well the next time.
    Passing,
    /// It will go wrong with this candidate every time.
    Lasting,
    /// It will go wrong with every candidate.
    Final,
}

impl Fault {
    /// Sorts an error of `candidate`.
    pub(super) fn of(error: &ModelError, candidate: &Candidate) -> Self {
        let (kind, reason) = match error {
            ModelError::Status { http, message, .. } => (kind_of(*http, message), "provider_error"),
            ModelError::Answer(_) => (FaultKind::Passing, "provider_error"),
            ModelError::Connection(_) | ModelError::Truncated | ModelError::Stalled => {
                (FaultKind::Passing, "connection")
            }
            ModelError::Request(_) => (FaultKind::Lasting, "request"),
            ModelError::ScriptEnded(_) => (FaultKind::Final, "script_ended"),
            ModelError::ForGood(error) => {
                let fault = Self::of(error, candidate);
                let is_load = fault.kind == FaultKind::Load;
                return Self {
                    kind: FaultKind::Final,
                    reason: if is_load { RATE_LIMITED } else { fault.reason },
                    ..fault
                };
            }
        };
        let retry_after = match error {
            ModelError::Status { retry_after, .. } => *retry_after,
            _ => None,
        };
        let selector = &candidate.selector;
        let mut message = match error {
            ModelError::Status { http, message, .. } => {
                format!("`{selector}` answered with provider error {http}: {message}")
            }
            error => format!("`{selector}`: {error}"),
        };
        // What is refused for load may be allowed, and known.
        if kind != FaultKind::Load
            && let Some(advice) = advice::after(error, candidate)
        {
            message = format!("{message}; {advice}");
        }
        Self {
            kind,
            retry_after,
            reason,
            message,
        }
    }
}

fn kind_of(http: u16, message: &str) -> FaultKind {
    match http {
        429 | 529 => FaultKind::Load,
        402 | 403 | 503 if speaks_of_load(message) => FaultKind::Load,
        408 | 409 | 425 | 500.. => FaultKind::Passing,
        _ => FaultKind::Lasting,
    }
}

/// Providers say it in many ways, and some of them with a status that means something else.
fn speaks_of_load(message: &str) -> bool {
    let message = message.to_ascii_lowercase();
    [
        "overloaded",
        "rate limit",
        "rate_limit",
        "quota",
        "too many requests",
        "resource_exhausted",
    ]
    .iter()
    .any(|word| message.contains(word))
}

/// What to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Ask the root to let a request to [`Chain::candidate`] out.
    Ask,
    /// The same, after this long.
    AskAfter(Duration),
    /// Nothing is left to try.
    GiveUp {
        /// One word.
        reason: &'static str,
        /// One sentence.
        message: String,
    },
}

/// The candidates of a plan, and how far they were walked.
#[derive(Debug)]
pub(super) struct Chain {
    policy: Retry,
    candidates: Vec<Standing>,
    at: usize,
    /// Failures of the current candidate in a row.
    tries: u32,
    /// Failures of all candidates since the last answer. Bounds a chain that goes round because of cooldowns.
    failures: usize,
    /// Refusals for load with no candidate left, in a row.
    refusals: u32,
    /// What the last refusal for load said, until there is an answer.
    refusal: Option<String>,
    /// Time spent waiting for a cooldown since the last answer.
    waited: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// May be used, as far as is known after this long.
    Open(Duration),
    /// Never again.
    Shut,
}

impl Chain {
    /// The walk over `candidates` models, at the first.
    pub(super) fn new(policy: Retry, candidates: usize) -> Self {
        Self {
            policy,
            candidates: vec![Standing::Open(Duration::ZERO); candidates],
            at: 0,
            tries: 0,
            failures: 0,
            refusals: 0,
            refusal: None,
            waited: Duration::ZERO,
        }
    }

    /// The candidate to use: a place in the plan.
    pub(super) fn candidate(&self) -> usize {
        self.at
    }

    /// The current candidate answered.
    pub(super) fn answered(&mut self) {
        self.tries = 0;
        self.failures = 0;
        self.refusals = 0;
        self.refusal = None;
        self.waited = Duration::ZERO;
        // Time has passed since the others were left; how much is the root's to know.
        for standing in &mut self.candidates {
            if let Standing::Open(ready_in) = standing {
                *ready_in = Duration::ZERO;
            }
        }
    }

    /// The root let no request to the current candidate out: `why`, and how long that will be so if it ends at all.
    pub(super) fn skipped(&mut self, why: &str, ready_in: Option<Duration>) -> Next {
        self.stand(ready_in.map_or(Standing::Shut, Standing::Open));
        if self.advance() {
            return Next::Ask;
        }
        let earliest = self
            .candidates
            .iter()
            .enumerate()
            .filter_map(|(i, standing)| match standing {
                Standing::Open(ready_in) => Some((*ready_in, i)),
                Standing::Shut => None,
            })
            .min();
        let Some((ready_in, at)) = earliest else {
            return Next::GiveUp {
                reason: "no_model",
                message: format!("no model of this agent can be used: {why}"),
            };
        };
        let wait = ready_in.max(SHORTEST);
        if self.waited + wait > self.longest() {
            let said = self.refusal.as_ref();
            let said = said.map_or_else(String::new, |said| format!("{said}; "));
            return rate_limited(format!("{said}{why}; {}", self.limit()));
        }
        self.waited += wait;
        for standing in &mut self.candidates {
            if let Standing::Open(ready_in) = standing {
                *ready_in = ready_in.saturating_sub(wait);
            }
        }
        self.go_to(at);
        Next::AskAfter(wait)
    }

    /// A request to the current candidate failed. `roll`, from 0 to 1, spreads the tries of many children.
    pub(super) fn failed(&mut self, fault: &Fault, roll: f64) -> Next {
        match fault.kind {
            FaultKind::Final => give_up(fault),
            FaultKind::Lasting => {
                self.stand(Standing::Shut);
                if self.advance() {
                    Next::Ask
                } else {
                    give_up(fault)
                }
            }
            FaultKind::Load => {
                self.refusal = Some(fault.message.clone());
                self.stand(Standing::Open(fault.retry_after.unwrap_or(COOLDOWN)));
                if self.advance() {
                    return Next::Ask;
                }
                if let Some(asked) = self.too_long(fault) {
                    return rate_limited(format!("{}; {asked}", fault.message));
                }
                if self.refusals >= self.policy.max_retries {
                    return rate_limited(exhausted(&fault.message, self.refusals));
                }
                let wait = self.backoff(self.refusals, roll);
                self.refusals += 1;
                // The root heard of it and knows the cooldowns of the whole family: asked again, its `skip` says
                // how long this one lasts. The wait before that is for a root that keeps no such table.
                Next::AskAfter(wait)
            }
            FaultKind::Passing => {
                let is_last = self.next_open().is_none();
                let tries = if is_last {
                    self.policy.max_retries
                } else {
                    TRIES_BEFORE_SWITCH
                };
                let wait = self
                    .backoff(self.tries, roll)
                    .max(fault.retry_after.unwrap_or_default());
                let all = (TRIES_BEFORE_SWITCH + 1) as usize * self.candidates.len()
                    + self.policy.max_retries as usize;
                self.failures += 1;
                if self.failures > all {
                    return give_up(fault);
                }
                if self.tries < tries && wait <= self.longest() {
                    self.tries += 1;
                    return Next::AskAfter(wait);
                }
                if self.advance() {
                    return Next::Ask;
                }
                let message = match self.too_long(fault) {
                    Some(asked) => format!("{}; {asked}", fault.message),
                    None => exhausted(&fault.message, self.tries),
                };
                Next::GiveUp {
                    reason: fault.reason,
                    message,
                }
            }
        }
    }

    /// What a provider asks for that wants to be left alone for longer than is ever waited.
    fn too_long(&self, fault: &Fault) -> Option<String> {
        let wait = fault.retry_after.filter(|&wait| wait > self.longest())?;
        Some(format!(
            "it asks to be left alone for {} s, and {}",
            wait.as_secs_f64(),
            self.limit()
        ))
    }

    fn limit(&self) -> String {
        let longest = self.longest().as_secs_f64();
        format!("waiting is limited to {longest} s in all (`retry.maxDelayMs`)")
    }

    /// Doubles from `retry.baseDelayMs` up to `retry.maxDelayMs`, less up to a quarter.
    fn backoff(&self, tries: u32, roll: f64) -> Duration {
        let doubled = self.policy.base_delay_ms.saturating_mul(1 << tries.min(20));
        let whole = Duration::from_millis(doubled).min(self.longest());
        whole.mul_f64(1.0 - roll.clamp(0.0, 1.0) / 4.0)
    }

    /// The longest wait (`retry.maxDelayMs`).
    fn longest(&self) -> Duration {
        Duration::from_millis(self.policy.max_delay_ms)
    }

    fn next_open(&self) -> Option<usize> {
        (self.at + 1..self.candidates.len()).find(|&i| self.candidates[i] != Standing::Shut)
    }

    /// Goes to the next candidate, if one is left.
    fn advance(&mut self) -> bool {
        let next = self.next_open();
        if let Some(next) = next {
            self.go_to(next);
        }
        next.is_some()
    }

    fn go_to(&mut self, candidate: usize) {
        if self.at != candidate {
            self.at = candidate;
            self.tries = 0;
        }
    }

    fn stand(&mut self, standing: Standing) {
        if let Some(own) = self.candidates.get_mut(self.at) {
            *own = standing;
        }
    }
}

fn give_up(fault: &Fault) -> Next {
    Next::GiveUp {
        reason: fault.reason,
        message: fault.message.clone(),
    }
}

/// The message of the last failure after so many tries that had failed before it.
fn exhausted(message: &str, before: u32) -> String {
    if before == 0 {
        return message.to_owned();
    }
    let tries = before + 1;
    format!("{message}; that was try {tries}, the last that `retry.maxRetries` allows")
}

fn rate_limited(message: String) -> Next {
    Next::GiveUp {
        reason: RATE_LIMITED,
        message,
    }
}

#[cfg(test)]
#[path = "retry_tests.rs"]
mod tests;
