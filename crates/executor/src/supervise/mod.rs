//! One child, from the queue to its result.
//!
//! The loop here is the only `select!` over a child, and decides nothing: [`Lifecycle`] says when to stop it,
//! [`Watch`] when a clock ran out, the gate when it may send a request, and `conclude` how it ended.

mod calls;
mod child;
mod end;
mod progress;
mod request;

use std::sync::Arc;

use sortie_protocol::{
    Down, Outcome, OutcomeKind, PROTOCOL_VERSION, RunEventKind, Start, TaskId, TaskResult,
};
use tokio::time::Instant;

use crate::{
    error::chain,
    family::Family,
    gate,
    job::Job,
    launch::{Child, Order},
    stop::Stopper,
    store::{Entry, TaskFiles},
};
use child::Supervisor;

/// A task's place in the queue and, after that, its slot. Given up when dropped.
#[derive(Debug)]
pub(crate) struct Place {
    family: Arc<Family>,
    task: TaskId,
    slot: gate::Answer,
}

impl Place {
    /// Queues `task`.
    pub(crate) fn take(family: &Arc<Family>, task: &TaskId) -> Self {
        Self {
            family: Arc::clone(family),
            task: task.clone(),
            slot: family.gate.enter(task),
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.family.gate.leave(&self.task);
    }
}

/// Runs one task and returns what became of it, stored.
pub(crate) async fn supervise(mut place: Place, job: Job, stop: Stopper) -> TaskResult {
    let family = Arc::clone(&place.family);
    tokio::select! {
        biased;
        () = stop.asked() => {
            let outcome = Outcome::new(OutcomeKind::Cancelled, "cancelled", "it was stopped before it started");
            return settle(&family, job.result(outcome));
        }
        // The table forgets only whom it is told to forget.
        _ = &mut place.slot => {}
    }
    let started = Instant::now();
    let result = match start(&family, &job).await {
        Err(outcome) => job.result(outcome),
        Ok((child, files)) => {
            let (supervisor, words) =
                Supervisor::new(Arc::clone(&family), &job, stop, started, child, files);
            supervisor.run(words).await
        }
    };
    drop(place);
    settle(&family, result)
}

/// Stores what became of a task, and only then tells.
fn settle(family: &Family, result: TaskResult) -> TaskResult {
    let alone = Box::new(TaskResult {
        children: Vec::new(),
        ..result.clone()
    });
    let ended = Entry::Ended { result: alone };
    if let Err(error) = family.store.journal(&ended) {
        tracing::error!(%error, "could not write the journal");
    }
    // The same copy: an output may be long.
    if let Entry::Ended { result: alone } = ended {
        family
            .bus
            .send(Some(&result.id), RunEventKind::Ended { result: alone });
    }
    result
}

/// Makes the task's files and starts its process.
async fn start(family: &Family, job: &Job) -> Result<(Child, TaskFiles), Outcome> {
    let failed = |reason: &str, error: &dyn std::error::Error| {
        Outcome::new(OutcomeKind::Failed, reason, chain(error))
    };
    let plan = job.plan(&family.ground);
    let files = TaskFiles::create(&family.store, &job.id, &plan.scratch, &job.planned(&plan))
        .map_err(|error| failed("store", &error))?;
    let order = Order {
        environment: family.environment(job.environment(&family.ground)),
        cwd: plan.cwd.clone(),
    };
    let child = family
        .launcher
        .launch(order)
        .await
        .map_err(|error| failed("spawn_failed", &error))?;
    // Before it hears a word, so that a kill from here on is a crash of a known process.
    let launched = Entry::Launched {
        id: job.id.clone(),
        pid: child.pid,
    };
    family
        .store
        .journal(&launched)
        .map_err(|error| failed("store", &error))?;
    family.bus.send(
        Some(&job.id),
        RunEventKind::Launched {
            pid: child.pid.unwrap_or_default(),
        },
    );
    let start = Start {
        version: PROTOCOL_VERSION,
        plan,
        secrets: job.secrets.clone(),
    };
    // A child that is gone already says so as its last word.
    let _ = child.orders.send(Down::Start(Box::new(start)));
    let _ = child.orders.send(Down::Begin);
    let _ = child.orders.send(Down::Prompt {
        text: job.request.task.clone(),
    });
    Ok((child, files))
}

#[cfg(test)]
mod end_tests;
#[cfg(test)]
mod limits_tests;
#[cfg(test)]
mod stopping_tests;
