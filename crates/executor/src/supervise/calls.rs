//! What a child asks of its root.

use std::{sync::Arc, time::Duration};

use serde_json::Value;
use sortie_protocol::{Api, Call, Down, Ended, EndedStatus, Reply, RunEventKind, TaskResult};

use super::{
    child::Supervisor,
    request::{Asked, Request},
};
use crate::{
    admission::DEFAULT_COOLDOWN, dispatch, gate::Verdict, lifecycle::State, receipt, store::Stored,
};

/// What became of the tasks that a child dispatched with one call.
pub(super) struct Spawned {
    call: u64,
    children: Vec<TaskResult>,
}

fn skip(why: impl Into<String>) -> Reply {
    Reply::Skip {
        why: why.into(),
        ready_in_ms: None,
    }
}

impl Supervisor<'_> {
    pub(super) fn call(&mut self, id: u64, call: Call) {
        let reply = match call {
            Call::Admit { candidate } => match self.admit(id, candidate) {
                Ok(()) => return,
                Err(reply) => reply,
            },
            Call::Spawn { args } => match self.spawn(id, args) {
                Ok(()) => return,
                Err(text) => Reply::Text { ok: false, text },
            },
            Call::Read { uri } => return self.read(id, uri),
            Call::Unknown => Reply::Text {
                ok: false,
                text: "this root does not know that call".into(),
            },
        };
        self.tell(Down::Reply { id, reply });
    }

    /// Asks for a request to be let out, or says at once why it is not.
    fn admit(&mut self, call: u64, candidate: usize) -> Result<(), Reply> {
        if let Some(budget) = self.receipt.spent(self.job.policy.budgets()) {
            return Err(Reply::Spent { budget });
        }
        let Some(found) = self.job.policy.candidates().get(candidate) else {
            return Err(skip(format!("the plan has no candidate {candidate}")));
        };
        // Two at once would be counted as one, by the clocks and by the provider's cap.
        if !matches!(self.request, Request::None) {
            return Err(skip("another request of this session is not over"));
        }
        let answer = self.family.gate.admit(&self.job.id, &found.provider);
        self.request = Request::Asked(Asked {
            call,
            candidate,
            answer,
        });
        Ok(())
    }

    /// Reads an address, off the thread that hears every child.
    fn read(&mut self, call: u64, uri: String) {
        let store = Arc::clone(&self.family.store);
        self.reads.spawn_blocking(move || {
            let reply = match store.read(&uri) {
                Ok(Stored { text, note }) => Reply::Stored { text, note },
                Err(error) => Reply::Text {
                    ok: false,
                    text: error.to_string(),
                },
            };
            Down::Reply { id: call, reply }
        });
    }

    /// Dispatches tasks, or says at once why not.
    fn spawn(&mut self, call: u64, args: Value) -> Result<(), String> {
        if self.life.state() != State::Running {
            return Err("nothing was started: this session is being stopped".into());
        }
        let jobs = crate::spawn::check(&self.family, &self.job.policy.grant(), &self.job.id, args)?;
        let accepted = dispatch::accept(&self.family, jobs);
        // They stand in the queue already: the slot goes to one of them, before anybody higher up.
        self.family.gate.suspend(&self.job.id);
        self.family
            .bus
            .send(Some(&self.job.id), RunEventKind::Waiting);
        let branch = self.below.branch();
        self.spawns.insert(call, branch.clone());
        self.answers.spawn(async move {
            let children = accepted.run(branch).await;
            Spawned { call, children }
        });
        Ok(())
    }

    pub(super) fn drop_call(&mut self, id: u64) {
        if self.request.is_of(id) {
            self.drop_request();
        }
        if let Some(branch) = self.spawns.get(&id) {
            branch.ask();
        }
    }

    /// The child no longer wants the request that it asked for.
    pub(super) fn drop_request(&mut self) {
        if !matches!(self.request, Request::None) {
            self.family.gate.withdraw(&self.job.id);
            self.request_is_over();
        }
    }

    pub(super) fn spawned(&mut self, spawned: Spawned) {
        let Spawned { call, children } = spawned;
        let reply = crate::spawn::answer(&children);
        self.spawns.remove(&call);
        self.children.entry(call).or_default().extend(children);
        self.tell(Down::Reply { id: call, reply });
    }

    pub(super) fn admitted(&mut self, call: u64, candidate: usize, verdict: Verdict) {
        let reply = match verdict {
            Verdict::Go if self.life.state() == State::Running => {
                self.request = Request::Open { admit: call };
                self.watch.opened(self.now());
                let model = self.job.policy.candidates()[candidate].selector.clone();
                let n = self.receipt.requests() + 1;
                self.family
                    .bus
                    .send(Some(&self.job.id), RunEventKind::Requested { model, n });
                Reply::Go
            }
            Verdict::Go => {
                self.drop_request();
                skip("the session is being stopped")
            }
            Verdict::Cooling(rest) => {
                self.request_is_over();
                let ms = u64::try_from(rest.as_millis()).unwrap_or(u64::MAX).max(1);
                let provider = &self.job.policy.candidates()[candidate].provider;
                let why = format!("`{provider}` is cooling down for {} s", ms.div_ceil(1000));
                self.receipt.skipped(candidate, &why);
                Reply::Skip {
                    why,
                    ready_in_ms: Some(ms),
                }
            }
        };
        self.tell(Down::Reply { id: call, reply });
    }

    pub(super) fn ended(&mut self, ended: &Ended) {
        self.text_is_over();
        self.receipt.ended(ended);
        let candidates = self.job.policy.candidates();
        let model = candidates.get(ended.candidate);
        if self.request.is_of(ended.admit) {
            // No server stands behind a script that a whole family asks: it rests only for as long as it says.
            let default = match model.map(|model| model.api) {
                Some(Api::Script) => Duration::ZERO,
                _ => DEFAULT_COOLDOWN,
            };
            let cooldown = receipt::cooldown(ended, default);
            self.family.gate.ended(&self.job.id, cooldown);
            self.request_is_over();
        }
        let mut status = ended.status.clone();
        if let EndedStatus::Refused { message, .. } | EndedStatus::Broken { message } = &mut status
        {
            self.family.store.redactor().clean_in_place(message);
        }
        let so_far = self.receipt.usage();
        let answered = RunEventKind::Answered {
            model: model.map_or_else(String::new, |model| model.selector.clone()),
            n: self.receipt.requests(),
            status,
            retry_after_ms: ended.retry_after_ms,
            usage: ended.usage,
            tokens: so_far.tokens(),
            cost: so_far.cost,
        };
        self.family.bus.send(Some(&self.job.id), answered);
    }

    fn request_is_over(&mut self) {
        self.request = Request::None;
        self.watch.closed();
        // It took a slot for the request, and waits for its tasks again.
        if !self.answers.is_empty() {
            self.family.gate.suspend(&self.job.id);
        }
    }
}
