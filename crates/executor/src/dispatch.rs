//! The one way in: a batch is checked whole, and then runs whole.
//!
//! Every door and every nested `task` call ends here. Nothing is made before every task of the batch has passed:
//! no id, no file, no process.

use std::{pin::Pin, sync::Arc};

use sortie_config::Problem;
use sortie_discovery::Catalog;
use sortie_policy::{Grant, World};
use sortie_protocol::{RunEventKind, Secrets, TaskId, TaskResult};
use tokio::task::{JoinError, JoinSet};
use tracing::Instrument;

use crate::{
    family::Family,
    ground::{Ground, Roster},
    job::Job,
    keys,
    request::Draft,
    stop::Stopper,
    store::Entry,
    supervise::{Place, supervise},
};

/// Who dispatches: the root, or one of its descendants.
#[derive(Debug)]
pub(crate) struct Caller<'a> {
    /// What it may hand down.
    pub(crate) grant: &'a Grant,
    /// Its id; `None` is the root.
    pub(crate) id: Option<&'a TaskId>,
    /// The agents there are, as the disk has them now.
    pub(crate) agents: &'a Catalog,
}

/// Checks every task of a batch and, when all pass, gives each its id and the keys that it needs.
pub(crate) fn preflight(
    ground: &Ground,
    caller: &Caller<'_>,
    draft: &Draft,
) -> Result<Vec<Job>, Vec<Problem>> {
    let mut roster = ground.roster();
    let (mut jobs, after) = decide(ground, caller, draft, &roster)?;
    let start = |command: &mut _| keys::start(&ground.run, command);
    let models = &ground.config.models;
    for job in &mut jobs {
        job.secrets = models
            .secrets_for(job.policy.candidates(), &start)
            .map_err(|problem| vec![problem])?;
    }
    // Only a batch that passes whole takes its names.
    *roster = after;
    Ok(jobs)
}

/// Judges every task of a batch and, when all pass, gives each its id, and no key. What is wrong with how the batch is
/// written is told together with what speaks against its tasks. The roster is the one after this batch.
pub(crate) fn decide(
    ground: &Ground,
    caller: &Caller<'_>,
    draft: &Draft,
    roster: &Roster,
) -> Result<(Vec<Job>, Roster), Vec<Problem>> {
    let batch = draft.batch();
    let world = World {
        settings: &ground.config.settings,
        models: &ground.config.models,
        agents: caller.agents,
        scripts: &ground.scripts,
    };
    let mut faults = Faults::default();
    let mut passed = Vec::new();
    for (place, request) in batch.tasks.iter().enumerate() {
        match sortie_policy::resolve(&world, caller.grant, request) {
            Ok(policy) => passed.push((request, policy)),
            Err(problems) => faults.add(place, problems),
        }
    }
    let mut problems = draft.problems().to_vec();
    problems.extend(faults.named(draft));
    let asked = batch.tasks.len() as u64;
    problems.extend(too_many(ground, roster, asked));
    if !problems.is_empty() {
        return Err(problems);
    }
    let mut roster = roster.clone();
    roster.count += asked;
    let context: Option<Arc<str>> = batch.context.as_deref().map(Into::into);
    let jobs = passed.into_iter().map(|(request, policy)| Job {
        id: roster
            .names
            .take(caller.id, request.name.as_deref(), policy.agent_name()),
        request: request.clone(),
        context: context.clone(),
        secrets: Secrets::default(),
        policy,
    });
    Ok((jobs.collect(), roster))
}

/// Whether the run would have more tasks than `task.maxDescendants` says.
fn too_many(ground: &Ground, roster: &Roster, asked: u64) -> Option<Problem> {
    let limit = ground.config.settings.task_max_descendants.value.get()?;
    let would = roster.count + asked;
    (would > limit).then(|| {
        Problem::error(format!(
            "this run would have {would} tasks, and `task.maxDescendants` is {limit}"
        ))
        .help("do the work yourself, or ask for fewer tasks")
    })
}

/// What speaks against the tasks of a batch: each fault once, with the tasks that have it.
#[derive(Default)]
struct Faults(Vec<(Problem, Vec<usize>)>);

impl Faults {
    fn add(&mut self, place: usize, problems: Vec<Problem>) {
        for problem in problems {
            match self.0.iter_mut().find(|(known, _)| *known == problem) {
                Some((_, places)) => places.push(place),
                None => self.0.push((problem, vec![place])),
            }
        }
    }

    /// The problems, each saying which tasks it is about, where it is not about all of them, and where the first stands.
    fn named(self, draft: &Draft) -> Vec<Problem> {
        let batch = draft.batch();
        // As the reader of the batch calls it.
        let name = |place: usize| match batch.tasks[place].name.as_deref() {
            Some(name) => format!("`{name}`"),
            None => format!("`tasks[{place}]`"),
        };
        self.0
            .into_iter()
            .map(|(problem, places)| {
                let all = batch.tasks.len();
                let first = places[0];
                let names: Vec<_> = places.iter().map(|&place| name(place)).collect();
                let subject = match names.as_slice() {
                    [_] if all == 1 => return draft.locate(first, problem),
                    [only] if batch.tasks[first].name.is_none() => only.clone(),
                    [only] => format!("task {only}"),
                    several if several.len() == all => return problem,
                    several => format!("tasks {}", several.join(", ")),
                };
                draft.locate(first, problem.about(&subject))
            })
            .collect()
    }
}

/// Tasks that passed, and that stand in the queue.
#[derive(Debug)]
pub(crate) struct Accepted(Vec<(Job, Place)>);

/// Writes down that `jobs` will run, and queues them.
pub(crate) fn accept(family: &Arc<Family>, jobs: Vec<Job>) -> Accepted {
    for job in &jobs {
        let entry = Entry::Accepted {
            id: job.id.clone(),
            agent: job.policy.agent_name().to_owned(),
            label: job.request.label.clone(),
        };
        if let Err(error) = family.store.journal(&entry) {
            tracing::error!(%error, "could not write the journal");
        }
        // All of them before one of them starts, so that whoever watches sees the whole queue.
        let first = job.policy.candidates().first();
        let queued = RunEventKind::Queued {
            agent: job.policy.agent_name().to_owned(),
            model: first
                .map(|model| model.selector.clone())
                .unwrap_or_default(),
            label: job.request.label.clone(),
        };
        family.bus.send(Some(&job.id), queued);
    }
    let queued = jobs.into_iter().map(|job| {
        let place = Place::take(family, &job.id);
        (job, place)
    });
    Accepted(queued.collect())
}

impl Accepted {
    /// Runs them side by side, and returns their results in the order in which they were asked for.
    ///
    /// Boxed, because supervising a task may dispatch tasks that are supervised.
    pub(crate) fn run(
        self,
        stop: Stopper,
    ) -> Pin<Box<dyn Future<Output = Vec<TaskResult>> + Send>> {
        Box::pin(async move {
            let mut results: Vec<Option<TaskResult>> = vec![None; self.0.len()];
            let mut running = JoinSet::new();
            for (nth, (job, place)) in self.0.into_iter().enumerate() {
                let stop = stop.clone();
                let span =
                    tracing::info_span!("task", id = %job.id, agent = job.policy.agent_name());
                let supervised = supervise(place, job, stop).instrument(span);
                running.spawn(async move { (nth, supervised.await) });
            }
            while let Some(done) = running.join_next().await {
                if let Some((nth, result)) = joined(done) {
                    results[nth] = Some(result);
                }
            }
            results.into_iter().flatten().collect()
        })
    }
}

/// What became of a tokio task, `None` when its runtime ended it. A panic goes on in whoever waited.
pub(crate) fn joined<T>(done: Result<T, JoinError>) -> Option<T> {
    match done.map_err(JoinError::try_into_panic) {
        Ok(value) => Some(value),
        Err(Ok(panic)) => std::panic::resume_unwind(panic),
        Err(Err(_)) => None,
    }
}

#[cfg(test)]
#[path = "dispatch_tests.rs"]
mod tests;
