//! A batch that has been read, and not yet judged.

use std::ops::Range;

use sortie_config::{Node, Problem, Source};
use sortie_policy::RunModel;
use sortie_protocol::Batch;

use super::{Door, read_batch_node};

/// A batch as somebody wrote it: what could be read of it, what is wrong with it, and where its tasks stand.
///
/// What is wrong does not keep the rest from being looked at, so that a caller hears of everything at once.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    pub(super) batch: Batch,
    pub(super) problems: Vec<Problem>,
    pub(super) source: Option<Source>,
    pub(super) places: Vec<Range<usize>>,
    /// Where its model stands.
    pub(super) model: Option<Range<usize>>,
}

impl Draft {
    /// The batch, or everything that is wrong with how it is written.
    pub fn checked(self) -> Result<Batch, Vec<Problem>> {
        if self.problems.is_empty() {
            Ok(self.batch)
        } else {
            Err(self.problems)
        }
    }

    /// What could be read.
    pub fn batch(&self) -> &Batch {
        &self.batch
    }

    /// What could be read, to be changed.
    pub(crate) fn batch_mut(&mut self) -> &mut Batch {
        &mut self.batch
    }

    /// What is wrong with how it is written.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// The active model of a run of this batch, for which the door said `flag`.
    pub(crate) fn run_model(&self, flag: Option<String>) -> Option<RunModel> {
        let stated = self.batch.model.clone();
        // That one is empty has been told.
        let batch = stated.filter(|model| !model.trim().is_empty());
        flag.map(RunModel::Flag).or(batch.map(|selector| {
            let place = self.source.clone().zip(self.model.clone());
            RunModel::Batch { selector, place }
        }))
    }

    /// Says where a task stands, in a problem with it that names no place.
    pub(crate) fn locate(&self, task: usize, problem: Problem) -> Problem {
        match (&self.source, self.places.get(task)) {
            (Some(source), Some(place)) if problem.path().is_none() => {
                problem.at(source, place.clone()).label("for this task")
            }
            _ => problem,
        }
    }
}

impl From<Batch> for Draft {
    /// A batch that a program put together is held to the same rules as one that somebody wrote.
    fn from(batch: Batch) -> Self {
        match serde_json::to_value(&batch) {
            Ok(value) => read_batch_node(&Node::from(value), None, Door::CommandLine),
            Err(error) => Self {
                problems: vec![Problem::error(format!("the batch is no JSON: {error}"))],
                ..Self::default()
            },
        }
    }
}
