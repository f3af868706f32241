//! What every task of a run is doing: a fold over the run's events. Nothing here draws or reads a clock.

use std::collections::HashMap;

use sortie_protocol::{EventKind, OutcomeKind, RunEvent, RunEventKind, TaskId};

/// The state of a run, as its events told it.
#[derive(Debug, Default)]
pub(super) struct Board {
    rows: Vec<Row>,
    places: HashMap<TaskId, usize>,
    /// When the newest event happened, in milliseconds since the run started.
    pub(super) now_ms: u64,
    /// What is said about the run as a whole.
    pub(super) note: Option<String>,
}

/// One task.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// The task.
    pub(super) id: TaskId,
    /// The agent.
    pub(super) agent: String,
    /// The model that answers it now.
    pub(super) model: String,
    /// How far it is.
    pub(super) state: State,
    /// What it does at the moment.
    pub(super) activity: String,
    /// How many requests it sent.
    pub(super) requests: u64,
    /// How many tokens it used, where anybody said so.
    pub(super) tokens: Option<u64>,
    /// What it cost, where prices are known.
    pub(super) cost: Option<f64>,
    /// When its process started, in milliseconds since the run did.
    pub(super) since_ms: Option<u64>,
    /// When it ended.
    pub(super) until_ms: Option<u64>,
}

/// How far a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It waits for a slot.
    Queued,
    /// Its process works.
    Running,
    /// It waits for the tasks that it dispatched.
    Waiting,
    /// It is over.
    Ended(OutcomeKind),
}

impl State {
    /// The word that people see.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Ended(kind) => kind.as_str(),
        }
    }
}

impl Row {
    /// How long its process has been there.
    pub(super) fn age_ms(&self, now_ms: u64) -> u64 {
        let until = self.until_ms.unwrap_or(now_ms);
        self.since_ms.map_or(0, |since| until.saturating_sub(since))
    }
}

/// The whole board in a few figures.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Totals {
    pub(super) tasks: usize,
    pub(super) ended: usize,
    pub(super) running: usize,
    pub(super) queued: usize,
    pub(super) tokens: Option<u64>,
    pub(super) cost: Option<f64>,
}

impl Board {
    /// Takes one event in.
    pub(super) fn apply(&mut self, event: &RunEvent) {
        self.now_ms = self.now_ms.max(event.at_ms);
        let Some(id) = &event.task else { return };
        if let RunEventKind::Queued { agent, model, .. } = &event.kind {
            self.places.entry(id.clone()).or_insert_with(|| {
                self.rows.push(Row {
                    id: id.clone(),
                    agent: agent.clone(),
                    model: model.clone(),
                    state: State::Queued,
                    activity: String::new(),
                    requests: 0,
                    tokens: None,
                    cost: None,
                    since_ms: None,
                    until_ms: None,
                });
                self.rows.len() - 1
            });
            return;
        }
        let Some(row) = self.places.get(id).map(|&place| &mut self.rows[place]) else {
            return;
        };
        match &event.kind {
            RunEventKind::Launched { .. } => {
                row.state = State::Running;
                row.since_ms.get_or_insert(event.at_ms);
                "starting".clone_into(&mut row.activity);
            }
            RunEventKind::Requested { model, n } => {
                row.state = State::Running;
                row.model.clone_from(model);
                row.requests = *n;
                "asked the model".clone_into(&mut row.activity);
            }
            RunEventKind::Answered { tokens, cost, .. } => {
                row.tokens = *tokens;
                row.cost = *cost;
            }
            RunEventKind::Waiting => {
                row.state = State::Waiting;
                "waiting for its tasks".clone_into(&mut row.activity);
            }
            RunEventKind::Progress { progress } => {
                if let Some(activity) = activity(progress) {
                    row.activity = activity;
                }
            }
            RunEventKind::Ended { result } => {
                let outcome = &result.outcome;
                row.state = State::Ended(outcome.kind);
                row.until_ms = Some(event.at_ms);
                row.activity = outcome.message.clone().unwrap_or_default();
            }
            RunEventKind::Started { .. } | RunEventKind::Queued { .. } | RunEventKind::Finished => {
            }
        }
    }

    /// One task.
    pub(super) fn row(&self, id: &TaskId) -> Option<&Row> {
        self.places.get(id).map(|&place| &self.rows[place])
    }

    /// The rows that are worth `room` lines: all of them, or else those that are not over first, and of these the
    /// working ones before the queued ones. They come in the order of their arrival, nested ones after their parent.
    pub(super) fn visible(&self, room: usize) -> Vec<&Row> {
        let mut rows: Vec<_> = self.rows.iter().collect();
        if rows.len() > room {
            rows.sort_by_key(|row| match row.state {
                State::Running => 0,
                State::Waiting => 1,
                State::Queued => 2,
                State::Ended(_) => 3,
            });
            rows.truncate(room);
        }
        rows.sort_by_cached_key(|row| self.lineage(&row.id));
        rows
    }

    /// The places of a task and of its parents, the outermost first.
    fn lineage(&self, id: &TaskId) -> Vec<usize> {
        let mut line: Vec<_> = std::iter::successors(Some(id.clone()), TaskId::parent)
            .filter_map(|id| self.places.get(&id).copied())
            .collect();
        line.reverse();
        line
    }

    /// All rows, added up.
    pub(super) fn totals(&self) -> Totals {
        let mut totals = Totals {
            tasks: self.rows.len(),
            ..Totals::default()
        };
        for row in &self.rows {
            match row.state {
                State::Queued => totals.queued += 1,
                State::Running | State::Waiting => totals.running += 1,
                State::Ended(_) => totals.ended += 1,
            }
            if let Some(tokens) = row.tokens {
                *totals.tokens.get_or_insert(0) += tokens;
            }
            if let Some(cost) = row.cost {
                *totals.cost.get_or_insert(0.0) += cost;
            }
        }
        totals
    }
}

/// What a child's event says it does now; `None` leaves what was there.
fn activity(event: &EventKind) -> Option<String> {
    Some(match event {
        EventKind::Text { .. } => "answering".to_owned(),
        EventKind::Thought { .. } => "thinking".to_owned(),
        EventKind::Streaming | EventKind::ToolEnded { ok: true, .. } => return None,
        EventKind::ToolStarted { tool, detail, .. } => format!("{tool} {detail}"),
        EventKind::ToolEnded {
            tool, ok: false, ..
        } => format!("{tool} failed"),
        EventKind::RetryWait { ms, why } => {
            format!("again in {}: {why}", super::figures::duration(*ms))
        }
        EventKind::Switch { to, why, .. } => format!("switched to {to}: {why}"),
        EventKind::Reminder { n } => format!("reminded to report ({n})"),
        EventKind::Section { label } => format!("handed in `{label}`"),
        EventKind::Notice { text } => text.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;

    fn board() -> Board {
        let mut board = Board::default();
        for event in samples::events() {
            board.apply(&event);
        }
        board
    }

    #[test]
    fn a_row_is_the_sum_of_its_events() {
        let board = board();
        let row = board.row(&"Map".to_owned().into()).unwrap();
        assert_eq!(row.state, State::Ended(OutcomeKind::Completed));
        assert_eq!((row.requests, row.tokens), (2, Some(1_250)));
        assert_eq!(row.age_ms(9_000_000), 2_200);
    }

    #[test]
    fn events_of_an_unknown_task_are_ignored() {
        let mut board = Board::default();
        board.apply(&samples::event(1, Some("Ghost"), RunEventKind::Waiting));
        assert_eq!(board.totals(), Totals::default());
    }

    #[test]
    fn where_there_is_no_room_the_working_ones_are_shown() {
        let board = board();
        let names = |room| {
            board
                .visible(room)
                .iter()
                .map(|row| row.id.as_str())
                .collect::<Vec<_>>()
        };
        assert_eq!(names(9), ["Map", "Split", "Split.Left", "Port"]);
        assert_eq!(names(1), ["Split.Left"]);
        assert_eq!(names(2), ["Split", "Split.Left"]);
    }

    #[test]
    fn a_nested_task_stands_under_its_parent_however_late_it_comes() {
        let mut board = board();
        let late = RunEventKind::Queued {
            agent: "sonic".into(),
            model: "local/small".into(),
            label: None,
        };
        board.apply(&samples::event(70_000, Some("Split.Late"), late));
        let names: Vec<_> = board.visible(9).iter().map(|row| row.id.as_str()).collect();
        assert_eq!(names, ["Map", "Split", "Split.Left", "Split.Late", "Port"]);
    }

    #[test]
    fn totals_count_every_row_once() {
        let totals = board().totals();
        assert_eq!(
            (totals.tasks, totals.ended, totals.running, totals.queued),
            (4, 1, 2, 1)
        );
        assert_eq!(totals.tokens, Some(2_050));
        assert_eq!(
            totals.cost.map(super::super::figures::money).unwrap(),
            "$0.0021"
        );
    }
}
