//! The exit codes: a promise to scripts and to CI jobs.

use std::process::ExitCode;

use sortie_protocol::{RunResult, StructuredStatus, TaskResult};

/// How `sortie` ends. `main` is the only place that turns one into a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// 0: what was asked for was done. Of a run: every task completed, and every structured result fits its schema.
    Done,
    /// 1: a task did not complete or its data does not fit, what was asked for does not exist, or a result could not
    /// be written to stdout.
    NotAll,
    /// 2: nothing ran, because of the command line, the settings, or what was found wrong before the start.
    NothingRan,
    /// 129: `SIGHUP`, the terminal is closed. What was finished by then is stored.
    HungUp,
    /// 130: Ctrl-C. What was finished by then is stored and reported.
    Interrupted,
    /// 143: `SIGTERM`. What was finished by then is stored and reported.
    Terminated,
}

impl Exit {
    /// What a run's own tasks say. What became of nested tasks is their parent's to judge.
    pub(crate) fn of_run(result: &RunResult) -> Self {
        if result.run.is_none() {
            Self::NothingRan
        } else if result.tasks.iter().all(is_accepted) {
            Self::Done
        } else {
            Self::NotAll
        }
    }
}

/// Whether a task completed and its data, where a schema was asked for, fits.
pub(crate) fn is_accepted(task: &TaskResult) -> bool {
    task.outcome.is_completed()
        && task
            .structured
            .as_ref()
            .is_none_or(|structured| structured.status == StructuredStatus::Valid)
}

/// Whether a task completed with data that does not fit, as permissive schemas let it.
pub(crate) fn is_completed_with_invalid_data(task: &TaskResult) -> bool {
    task.outcome.is_completed() && !is_accepted(task)
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::NotAll => 1,
            Exit::NothingRan => 2,
            Exit::HungUp => 129,
            Exit::Interrupted => 130,
            Exit::Terminated => 143,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;

    #[test]
    fn a_run_is_done_when_every_task_of_its_own_is_accepted() {
        let mut result = samples::result();
        result.tasks.retain(|task| task.id.as_str() == "Map");
        assert_eq!(Exit::of_run(&result), Exit::Done);
    }

    #[test]
    fn data_that_does_not_fit_is_not_done() {
        let mut result = samples::result();
        result.tasks.retain(|task| task.id.as_str() == "Map");
        let structured = result.tasks[0].structured.as_mut().unwrap();
        structured.status = StructuredStatus::Invalid;
        assert_eq!(Exit::of_run(&result), Exit::NotAll);
    }

    #[test]
    fn a_nested_failure_that_its_parent_coped_with_is_not_a_failure_of_the_run() {
        let mut result = samples::result();
        result.tasks.retain(|task| task.id.as_str() == "Split");
        assert!(
            result.tasks[0]
                .children
                .iter()
                .any(|child| !is_accepted(child))
        );
        assert_eq!(Exit::of_run(&result), Exit::Done);
    }

    #[test]
    fn no_run_means_that_nothing_ran() {
        let result = RunResult {
            run: None,
            run_dir: None,
            tasks: Vec::new(),
            problems: Vec::new(),
        };
        assert_eq!(Exit::of_run(&result), Exit::NothingRan);
    }
}
