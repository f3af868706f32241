//! Who may work, and who may send a request: one table for a whole family of children.
//!
//! A pure machine in virtual time. A *slot* is a working process's place (`task.maxConcurrency`): taken before a
//! child starts, given back while its `task` calls block, taken again before its next request, and free when it
//! leaves. A *request* also needs its provider: one that is cooling down is skipped, and one that is full
//! (`providers.maxInFlightRequests`) is waited for.
//!
//! A free slot goes to a child that had one, then to the deepest waiting task, then by arrival; so one slot suffices
//! for a tree.

use std::{
    collections::{BTreeMap, HashMap},
    num::NonZeroU32,
    time::Duration,
};

use sortie_protocol::TaskId;

/// How long a provider rests that refused for load and named no time.
pub(crate) const DEFAULT_COOLDOWN: Duration = Duration::from_secs(30);

/// Something that happened to a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    /// It wants to start.
    Enter(TaskId),
    /// It waits for tasks of its own and gives its slot back.
    Suspend(TaskId),
    /// It wants to send a request to this provider.
    Admit(TaskId, String),
    /// Its request is over; the provider wants to be left alone for this long.
    Ended(TaskId, Option<Duration>),
    /// It no longer wants the request that it asked for, whether that was let out or still waits.
    Withdraw(TaskId),
    /// It is gone, or no longer wants what it asked for.
    Leave(TaskId),
    /// From now on there are this many slots. Nobody loses one.
    Slots(NonZeroU32),
}

/// An answer to somebody who waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// The task may start.
    Start(TaskId),
    /// The request may go out.
    Go(TaskId),
    /// The provider is cooling down, for this much longer.
    Cooling(TaskId, Duration),
}

#[derive(Debug)]
struct Member {
    stage: Stage,
    /// When it began to wait, as a number that only grows.
    arrival: u64,
    /// The provider that it has a request open with.
    open: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Stage {
    /// Wants its first slot.
    Queued,
    /// Has a slot.
    Working,
    /// Gave its slot back.
    Suspended,
    /// Wants a slot again, to send a request to this provider.
    Returning(String),
    /// Has a slot, and waits for a provider that is full.
    Waiting(String),
}

impl Stage {
    fn holds_slot(&self) -> bool {
        matches!(self, Self::Working | Self::Waiting(_))
    }
}

/// The table.
#[derive(Debug)]
pub(crate) struct Admission {
    slots: NonZeroU32,
    caps: BTreeMap<String, NonZeroU32>,
    members: HashMap<TaskId, Member>,
    cooling: HashMap<String, Duration>,
    arrivals: u64,
}

impl Admission {
    /// A table with this many slots, and a cap on open requests for some providers.
    pub(crate) fn new(slots: NonZeroU32, caps: BTreeMap<String, NonZeroU32>) -> Self {
        Self {
            slots,
            caps,
            members: HashMap::new(),
            cooling: HashMap::new(),
            arrivals: 0,
        }
    }

    /// How many tasks hold a slot.
    pub(crate) fn working(&self) -> usize {
        self.members
            .values()
            .filter(|member| member.stage.holds_slot())
            .count()
    }

    /// Moves on by one input, at `now`.
    pub(crate) fn handle(&mut self, now: Duration, input: Input) -> Vec<Effect> {
        let mut effects = Vec::new();
        match input {
            Input::Enter(task) => self.wait(task, Stage::Queued),
            Input::Suspend(task) => {
                if let Some(member) = self.members.get_mut(&task) {
                    member.stage = match std::mem::replace(&mut member.stage, Stage::Suspended) {
                        Stage::Working | Stage::Suspended => Stage::Suspended,
                        // What it asked for is still wanted.
                        Stage::Waiting(provider) => Stage::Returning(provider),
                        other => other,
                    };
                }
            }
            Input::Admit(task, provider) => {
                match self.members.get(&task).map(|member| &member.stage) {
                    Some(Stage::Working | Stage::Waiting(_)) => {
                        self.request(now, task, provider, &mut effects);
                    }
                    Some(Stage::Suspended | Stage::Returning(_)) => {
                        self.wait(task, Stage::Returning(provider));
                    }
                    // Nobody sends a request before it was let in.
                    Some(Stage::Queued) | None => {}
                }
            }
            Input::Ended(task, cooldown) => self.close(now, &task, cooldown, &mut effects),
            Input::Withdraw(task) => {
                if let Some(member) = self.members.get_mut(&task) {
                    member.stage = match std::mem::replace(&mut member.stage, Stage::Working) {
                        Stage::Working | Stage::Waiting(_) => Stage::Working,
                        Stage::Suspended | Stage::Returning(_) => Stage::Suspended,
                        Stage::Queued => Stage::Queued,
                    };
                }
                self.close(now, &task, None, &mut effects);
            }
            Input::Leave(task) => {
                if let Some(provider) = self.members.remove(&task).and_then(|member| member.open) {
                    self.next_request(now, &provider, &mut effects);
                }
            }
            Input::Slots(slots) => self.slots = slots,
        }
        self.fill(now, &mut effects);
        effects
    }

    fn wait(&mut self, task: TaskId, stage: Stage) {
        self.arrivals += 1;
        let arrival = self.arrivals;
        let member = self.members.entry(task).or_insert(Member {
            stage: Stage::Queued,
            arrival,
            open: None,
        });
        member.stage = stage;
        member.arrival = arrival;
    }

    /// The open request of a task is over.
    fn close(
        &mut self,
        now: Duration,
        task: &TaskId,
        cooldown: Option<Duration>,
        effects: &mut Vec<Effect>,
    ) {
        let member = self.members.get_mut(task);
        let Some(provider) = member.and_then(|member| member.open.take()) else {
            return;
        };
        if let Some(cooldown) = cooldown {
            let until = self.cooling.entry(provider.clone()).or_default();
            *until = (*until).max(now.saturating_add(cooldown));
        }
        self.next_request(now, &provider, effects);
    }

    /// Hands out free slots.
    fn fill(&mut self, now: Duration, effects: &mut Vec<Effect>) {
        let mut free = (self.slots.get() as usize).saturating_sub(self.working());
        while free > 0 {
            let next = self
                .members
                .iter()
                .filter(|(_, member)| matches!(member.stage, Stage::Queued | Stage::Returning(_)))
                .min_by_key(|(task, member)| {
                    let had_one = matches!(member.stage, Stage::Returning(_));
                    (!had_one, std::cmp::Reverse(task.depth()), member.arrival)
                })
                .map(|(task, _)| task.clone());
            let Some(task) = next else { break };
            let Some(member) = self.members.get_mut(&task) else {
                break;
            };
            match std::mem::replace(&mut member.stage, Stage::Working) {
                Stage::Returning(provider) => self.request(now, task, provider, effects),
                _ => effects.push(Effect::Start(task)),
            }
            free -= 1;
        }
    }

    /// Answers a task that has a slot and wants to send a request.
    fn request(
        &mut self,
        now: Duration,
        task: TaskId,
        provider: String,
        effects: &mut Vec<Effect>,
    ) {
        let rest = self
            .cooling
            .get(&provider)
            .map_or(Duration::ZERO, |until| until.saturating_sub(now));
        let open = self
            .members
            .values()
            .filter(|member| member.open.as_ref() == Some(&provider))
            .count();
        let full = self
            .caps
            .get(&provider)
            .is_some_and(|&cap| open >= cap.get() as usize);
        let Some(member) = self.members.get_mut(&task) else {
            return;
        };
        if !rest.is_zero() {
            member.stage = Stage::Working;
            effects.push(Effect::Cooling(task, rest));
        } else if full {
            // Who waits already keeps its place in the line.
            if !matches!(member.stage, Stage::Waiting(_)) {
                self.arrivals += 1;
                member.arrival = self.arrivals;
            }
            member.stage = Stage::Waiting(provider);
        } else {
            member.stage = Stage::Working;
            member.open = Some(provider);
            effects.push(Effect::Go(task));
        }
    }

    /// A request to `provider` ended: lets those through that waited for it, as far as it now goes.
    fn next_request(&mut self, now: Duration, provider: &str, effects: &mut Vec<Effect>) {
        let mut waiting: Vec<_> = self
            .members
            .iter()
            .filter(|(_, member)| member.stage == Stage::Waiting(provider.to_owned()))
            .map(|(task, member)| (member.arrival, task.clone()))
            .collect();
        waiting.sort_unstable();
        for (_, task) in waiting {
            self.request(now, task, provider.to_owned(), effects);
        }
    }
}

#[cfg(test)]
#[path = "admission_tests.rs"]
mod tests;
