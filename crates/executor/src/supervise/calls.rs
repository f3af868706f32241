//! What a child asks of its root.

use std::sync::Arc;

use serde_json::Value;
use sortie_protocol::{Call, Down, Reply, RunEventKind, TaskResult};

use super::child::Supervisor;
use crate::{gate::Verdict, lifecycle::State};

/// An answer to a call, when it is there.
pub(super) enum Answer {
    /// Whether a request may go out.
    Admitted {
        call: u64,
        candidate: usize,
        verdict: Verdict,
    },
    /// What became of the tasks it dispatched.
    Spawned {
        call: u64,
        reply: Reply,
        children: Vec<TaskResult>,
    },
}

impl Supervisor<'_> {
    pub(super) fn call(&mut self, id: u64, call: Call) {
        match call {
            Call::Admit { candidate } => self.admit(id, candidate),
            Call::Spawn { args } => self.spawn(id, args),
            Call::Read { uri } => {
                let reply = match self.family.store.read(&uri) {
                    Ok(text) => Reply::Text { ok: true, text },
                    Err(error) => Reply::Text {
                        ok: false,
                        text: error.to_string(),
                    },
                };
                self.tell(Down::Reply { id, reply });
            }
            Call::Unknown => {
                let text = "this root does not know that call".to_owned();
                self.tell(Down::Reply {
                    id,
                    reply: Reply::Text { ok: false, text },
                });
            }
        }
    }

    fn admit(&mut self, call: u64, candidate: usize) {
        if let Some(budget) = self.receipt.spent(&self.job.plan.budgets) {
            return self.tell(Down::Reply {
                id: call,
                reply: Reply::Spent { budget },
            });
        }
        let Some(provider) = self
            .job
            .plan
            .candidates
            .get(candidate)
            .map(|found| found.provider.clone())
        else {
            let why = format!("the plan has no candidate {candidate}");
            return self.tell(Down::Reply {
                id: call,
                reply: Reply::Skip {
                    why,
                    ready_in_ms: None,
                },
            });
        };
        let (family, task) = (Arc::clone(&self.family), self.job.id().clone());
        let waiting = self.answers.spawn(async move {
            let verdict = family.gate.admit(&task, &provider).await;
            Answer::Admitted {
                call,
                candidate,
                verdict,
            }
        });
        self.admits.insert(call, waiting);
    }

    fn spawn(&mut self, call: u64, args: Value) {
        self.family.gate.suspend(self.job.id());
        self.family
            .bus
            .send(Some(self.job.id()), RunEventKind::Waiting);
        let branch = self.stop.branch();
        self.spawns.insert(call, branch.clone());
        let (family, grant, parent) = (
            Arc::clone(&self.family),
            self.job.grant.clone(),
            self.job.id().clone(),
        );
        self.answers.spawn(async move {
            let (reply, children) = crate::spawn::spawn(family, grant, parent, args, branch).await;
            Answer::Spawned {
                call,
                reply,
                children,
            }
        });
    }

    pub(super) fn drop_call(&mut self, id: u64) {
        if let Some(waiting) = self.admits.remove(&id) {
            waiting.abort();
        }
        if let Some(branch) = self.spawns.get(&id) {
            branch.ask();
        }
    }

    pub(super) fn answer(&mut self, answer: Answer) {
        match answer {
            Answer::Admitted {
                call,
                candidate,
                verdict,
            } => {
                self.admits.remove(&call);
                let reply = self.admitted(candidate, verdict);
                self.tell(Down::Reply { id: call, reply });
            }
            Answer::Spawned {
                call,
                reply,
                children,
            } => {
                self.spawns.remove(&call);
                self.children.insert(call, children);
                self.tell(Down::Reply { id: call, reply });
            }
        }
    }

    fn admitted(&mut self, candidate: usize, verdict: Verdict) -> Reply {
        match verdict {
            Verdict::Go if self.life.state() == State::Running => {
                self.watch.opened(self.now());
                let model = self.job.plan.candidates[candidate].selector.clone();
                let n = self.receipt.requests() + 1;
                self.family
                    .bus
                    .send(Some(self.job.id()), RunEventKind::Requested { model, n });
                Reply::Go
            }
            Verdict::Go => {
                self.family.gate.ended(self.job.id(), None);
                Reply::Skip {
                    why: "the session is being stopped".into(),
                    ready_in_ms: None,
                }
            }
            Verdict::Cooling(rest) => {
                let ms = u64::try_from(rest.as_millis()).unwrap_or(u64::MAX).max(1);
                let why = format!("its provider is cooling down for {ms} ms");
                self.receipt.skipped(candidate, &why);
                Reply::Skip {
                    why,
                    ready_in_ms: Some(ms),
                }
            }
        }
    }
}
