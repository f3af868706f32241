//! The loop: ask, carry out, ask again, until something is handed in or nothing can be.

mod advice;
mod ask;
mod calls;
mod detail;
mod reminders;
mod retry;
mod toolbox;
mod transcript;

use std::{sync::Arc, time::Duration};

use sortie_prompts::notes;
use sortie_protocol::{
    AssistantTurn, Ending, EventKind, Origin, Record, RecordKind, Report, SessionPlan, Up,
    redact::Redactor,
};
use tokio::{select, time::sleep};

use crate::{
    link::{Link, Mail},
    model::{Answer, ModelClient},
    result::{Desk, HandedIn},
};
use reminders::{Idle, Ladder};
use retry::Chain;
use toolbox::Toolbox;
use transcript::Transcript;

/// The longest that running tools are waited for after a cancel.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// One child at work.
#[derive(Debug)]
pub(crate) struct Session<'a> {
    plan: &'a SessionPlan,
    models: &'a dyn ModelClient,
    link: Link,
    /// Takes keys out of what tools answer and of what is shown of their calls.
    keys: Arc<Redactor>,
    transcript: Transcript,
    chain: Chain,
    desk: Desk,
    ladder: Ladder,
    toolbox: Toolbox,
    /// Requests that went out.
    requests: u64,
    /// Calls that were started.
    calls_started: u64,
    /// Whether the model was asked to wrap up.
    told_to_wrap_up: bool,
    /// Whether the next answer has to call `yield`.
    demands_yield: bool,
    /// What was heard of an answer that broke off, until another is whole.
    cut_text: Option<String>,
    warnings: Vec<String>,
}

impl<'a> Session<'a> {
    /// A session that goes on where `stored` ends.
    pub(crate) fn new(
        plan: &'a SessionPlan,
        models: &'a dyn ModelClient,
        link: Link,
        keys: Redactor,
        stored: Vec<Record>,
    ) -> Self {
        Self {
            plan,
            models,
            keys: Arc::new(keys),
            transcript: Transcript::resume(stored, link.clone()),
            link,
            chain: Chain::new(plan.retry, plan.candidates.len()),
            desk: Desk::new(plan.schema.clone()),
            ladder: Ladder::default(),
            toolbox: Toolbox::default(),
            requests: 0,
            calls_started: 0,
            told_to_wrap_up: false,
            demands_yield: false,
            cut_text: None,
            warnings: Vec::new(),
        }
    }

    /// Serves `prompt` and reports.
    pub(crate) async fn run(mut self, prompt: String) -> Report {
        self.say(Origin::Assignment, prompt);
        let cancelled = self.link.cancelled().clone();
        let grace = Duration::from_millis(self.plan.clocks.kill_grace_ms);
        let last_words = LAST_WORDS.min(grace / 4);
        let handed_in = select! {
            biased;
            handed_in = self.turns() => handed_in,
            () = async {
                cancelled.cancelled().await;
                sleep(last_words).await;
            } => HandedIn::nothing(Ending::Cancelled),
        };
        self.report(handed_in)
    }

    async fn turns(&mut self) -> HandedIn {
        loop {
            self.mind_the_budget();
            let (candidate, answer) = match self.answer().await {
                Ok(answered) => answered,
                Err(ending) => return HandedIn::nothing(ending),
            };
            self.demands_yield = false;
            let idle = Idle::of(answer.stop, &answer.text);
            let calls = answer.calls.clone();
            self.record(candidate, answer);
            if calls.is_empty() {
                // Somebody has something to say: the turn is not over.
                if self.link.has_mail() {
                    continue;
                }
                if let Some(handed_in) = self.remind(idle) {
                    return handed_in;
                }
            } else if let Some(handed_in) = self.carry_out(&calls).await {
                return handed_in;
            }
        }
    }

    fn say(&mut self, origin: Origin, text: String) {
        self.transcript.append(RecordKind::User { origin, text });
    }

    fn record(&mut self, candidate: usize, answer: Answer) {
        self.transcript.append(RecordKind::Assistant(AssistantTurn {
            candidate,
            thoughts: answer.thoughts,
            text: answer.text,
            calls: answer.calls,
            stop: answer.stop,
            usage: answer.usage,
        }));
    }

    /// Puts what came for the model into the conversation.
    fn open_mail(&mut self) {
        for mail in self.link.take_mail() {
            match mail {
                Mail::Steer(text) => self.say(Origin::Steer, text),
                Mail::Deliver { id, text } => {
                    self.say(Origin::Delivery, text);
                    self.link.send(Up::Delivered { id });
                }
            }
        }
    }

    /// Asks the model once to wrap up, when it has used what was meant to be enough (`task.softRequestBudget`).
    fn mind_the_budget(&mut self) {
        let budget = self.plan.budgets.soft_requests.filter(|&budget| budget > 0);
        if let Some(budget) = budget
            && self.requests >= budget
            && !self.told_to_wrap_up
        {
            self.told_to_wrap_up = true;
            self.say(Origin::Reminder, notes::soft_budget(self.requests, budget));
            let text = format!("asked to wrap up after {} requests", self.requests);
            self.link.event(EventKind::Notice { text });
        }
    }

    /// Asks a model that stopped to hand something in. `Some`: it was asked often enough.
    fn remind(&mut self, idle: Idle) -> Option<HandedIn> {
        if let Some(reminder) = self.ladder.next() {
            self.demands_yield = reminder.demands_yield;
            self.link.event(EventKind::Reminder { n: reminder.n });
            self.say(Origin::Reminder, reminder.text.to_owned());
            return None;
        }
        let prose = self.transcript.last_text();
        if self.plan.accept_prose
            && !self.desk.form().is_stated()
            && let Some(prose) = prose
        {
            let text = Some(prose.to_owned());
            self.warnings.push(
                "nothing was handed in with `yield`; the last text is taken for the report (`task.acceptProse`)"
                    .into(),
            );
            let ending = Ending::Yielded {
                tries: 0,
                faults: Vec::new(),
            };
            return Some(HandedIn {
                text,
                ..HandedIn::nothing(ending)
            });
        }
        let limit = match idle {
            Idle::Length => self.limit_of_answers(),
            Idle::Prose | Idle::Empty | Idle::Refusal => String::new(),
        };
        let message = format!(
            "the model {}{limit}, after {} reminders",
            idle.words(),
            notes::REMINDERS
        );
        Some(HandedIn::nothing(Ending::Incomplete { message }))
    }

    /// Where the limit stands that an answer of the current model ran into.
    fn limit_of_answers(&self) -> String {
        let candidate = &self.plan.candidates[self.chain.candidate()];
        let stated = candidate.max_tokens.map(|tokens| {
            format!(
                " (`maxTokens` of `{}`, {tokens} tokens)",
                candidate.selector
            )
        });
        // Then it is the provider's own.
        stated.unwrap_or_default()
    }

    fn report(mut self, handed_in: HandedIn) -> Report {
        let HandedIn {
            mut ending,
            text,
            data,
        } = handed_in;
        if let Ending::Incomplete { message } | Ending::Failed { message, .. } = &mut ending
            && let Some(rejection) = self.desk.rejection()
        {
            message.push_str("; ");
            message.push_str(&rejection);
        }
        let last_text = match self.cut_text.take() {
            Some(cut) => {
                self.warnings
                    .push("the last text is partial: the answer that held it broke off".into());
                Some(cut)
            }
            None => self.transcript.last_text().map(str::to_owned),
        };
        let (sections, of_desk) = self.desk.close();
        self.warnings.extend(of_desk);
        Report {
            ending,
            text,
            data,
            sections,
            last_text,
            warnings: self.warnings,
        }
    }
}

#[cfg(test)]
#[path = "cancel_tests.rs"]
mod cancel;
#[cfg(test)]
#[path = "cases_tests.rs"]
mod cases;
#[cfg(test)]
#[path = "requests_tests.rs"]
mod requests;
#[cfg(test)]
#[path = "turn_tests.rs"]
mod tests;
