//! Progress on stderr: a line a task, redrawn in place on a terminal, and a log elsewhere.
//!
//! The thread that draws owns the terminal. Whoever runs the tasks only updates the [`Board`] or sends a line, and
//! never waits: a terminal that was stopped with Ctrl-S stops its own picture and nothing else.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender, TrySendError},
    },
    thread,
    time::{Duration, Instant},
};

use console::Style;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use sortie_protocol::{OutcomeKind, RunEvent};

use super::{
    Look,
    board::{Board, Row, State},
    figures::{clock, count, money},
    lines,
    text::on_one_line,
};

/// How often the picture is redrawn.
const REDRAW: Duration = Duration::from_millis(100);
/// How many lines of a log may wait for a slow reader; later ones are lost.
const BACKLOG: usize = 10_000;
/// How long the end of a run waits for the last line to be written.
const PATIENCE: Duration = Duration::from_millis(500);

/// The progress of one run.
#[derive(Debug)]
pub(crate) struct Progress {
    board: Arc<Mutex<Board>>,
    /// Where lines go when there is a log instead of a picture.
    log: Option<SyncSender<String>>,
    /// Dropped to end a picture.
    picture: Option<Sender<()>>,
    /// Hangs up when the thread is done.
    done: Receiver<()>,
}

impl Progress {
    /// Starts to show a run on stderr.
    pub(crate) fn start(look: Look) -> Self {
        let board = Arc::new(Mutex::new(Board::default()));
        let (alive, done) = mpsc::channel();
        let (mut log, mut picture) = (None, None);
        if look.terminal {
            let (running, stop) = mpsc::channel();
            let board = Arc::clone(&board);
            picture = Some(running);
            thread::spawn(move || {
                draw(&board, &stop, look);
                drop(alive);
            });
        } else {
            let (sender, receiver) = mpsc::sync_channel::<String>(BACKLOG);
            log = Some(sender);
            thread::spawn(move || {
                for line in receiver {
                    super::print::err(&(line + "\n"));
                }
                drop(alive);
            });
        }
        Self {
            board,
            log,
            picture,
            done,
        }
    }

    /// Takes one event in. Never waits for the terminal.
    pub(crate) fn apply(&self, event: &RunEvent) {
        let mut board = self.lock();
        board.apply(event);
        if let Some(log) = &self.log
            && let Some(line) = lines::line(event, &board)
            && let Err(TrySendError::Full(line)) = log.try_send(line)
        {
            tracing::debug!(line, "stderr is too slow for progress");
        }
    }

    /// Says something about the whole run.
    pub(crate) fn note(&self, text: &str) {
        match &self.log {
            Some(log) => {
                let _ = log.try_send(text.to_owned());
            }
            None => self.lock().note = Some(text.to_owned()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes the picture, or ends the log. A terminal that does not answer is left alone after half a second.
    pub(crate) fn finish(self) {
        drop((self.log, self.picture));
        // Nothing is ever sent: this returns when the thread hangs up.
        let _ = self.done.recv_timeout(PATIENCE);
    }
}

/// Draws until `stop` hangs up.
fn draw(board: &Mutex<Board>, stop: &Receiver<()>, look: Look) {
    let style = ProgressStyle::with_template("{msg}");
    let style = style.unwrap_or_else(|_| ProgressStyle::default_spinner());
    // One bar of many lines: one for each line would redraw all of them at each change of one.
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_style(style);
    let started = Instant::now();
    while let Err(RecvTimeoutError::Timeout) = stop.recv_timeout(REDRAW) {
        let now_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let (rows, columns) = console::Term::stderr().size_checked().unwrap_or((24, 80));
        let room = usize::from(rows).saturating_sub(3).clamp(1, 40);
        // The lock is let go before the terminal is written to.
        let picture = {
            let board = board.lock().unwrap_or_else(PoisonError::into_inner);
            picture(&board, now_ms.max(board.now_ms), room, look)
        };
        let width = usize::from(columns).saturating_sub(1);
        let lines = picture
            .iter()
            .map(|line| console::truncate_str(line, width, "…"));
        bar.set_message(lines.collect::<Vec<_>>().join("\n"));
    }
    bar.finish_and_clear();
}

/// The lines of one picture: the tasks that fit into `room`, then the totals.
fn picture(board: &Board, now_ms: u64, room: usize, look: Look) -> Vec<String> {
    let rows = board.visible(room);
    let widest = |cell: fn(&Row) -> String| {
        let widths = rows
            .iter()
            .map(|row| console::measure_text_width(&cell(row)));
        widths.max().unwrap_or_default()
    };
    let (id, agent, model) = (widest(id), widest(agent), widest(model));
    let mut lines: Vec<_> = rows
        .iter()
        .map(|row| {
            let style = style(row.state, look);
            let mut figures = vec![format!("{} req", row.requests)];
            figures.extend(row.tokens.map(|tokens| format!("{tokens} tok")));
            figures.extend(row.cost.map(money));
            figures.push(clock(row.age_ms(now_ms)));
            let pad = |text: String, width| {
                console::pad_str(&text, width, console::Alignment::Left, None).into_owned()
            };
            let line = format!(
                "{} {} {} {} {}  {}",
                pad(self::id(row), id),
                style.apply_to(format!("{:10}", row.state.as_str())),
                pad(self::agent(row), agent),
                pad(self::model(row), model),
                figures.join(" "),
                look.style().dim().apply_to(on_one_line(&row.activity, 60)),
            );
            line.trim_end().to_owned()
        })
        .collect();
    let totals = board.totals();
    let mut parts = vec![
        format!("{}/{} over", totals.ended, totals.tasks),
        format!("{} working", totals.running),
        format!("{} queued", totals.queued),
    ];
    parts.extend(totals.tokens.map(|tokens| count(tokens, "token")));
    parts.extend(totals.cost.map(money));
    parts.push(clock(now_ms));
    lines.push(parts.join(", "));
    lines.extend(board.note.clone());
    lines
}

/// Nested tasks stand under their parents, by their own names.
fn id(row: &Row) -> String {
    let depth = usize::try_from(row.id.depth()).unwrap_or(1);
    format!("{:indent$}{}", "", row.id.name(), indent = (depth - 1) * 2)
}

fn agent(row: &Row) -> String {
    on_one_line(&row.agent, 20)
}

fn model(row: &Row) -> String {
    on_one_line(&row.model, 28)
}

fn style(state: State, look: Look) -> Style {
    let style = look.style();
    match state {
        State::Queued => style.dim(),
        State::Running => style.cyan(),
        State::Waiting => style.yellow(),
        State::Ended(OutcomeKind::Completed) => style.green(),
        State::Ended(_) => style.red(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;

    #[test]
    fn a_picture_has_a_line_a_task_and_the_totals() {
        let mut board = Board::default();
        for event in samples::events() {
            board.apply(&event);
        }
        let lines = picture(&board, 63_000, 10, Look::PLAIN);
        insta::assert_snapshot!(lines.join("\n"), @"
        Map    completed  scout local/small 2 req 1250 tok $0.0016 0:02
        Split  waiting    task  local/small 1 req 800 tok $0.0005 1:02  waiting for its tasks
          Left running    sonic local/small 1 req 1:00  thinking
        Port   queued     task  local/small 0 req 0:00
        1/4 over, 2 working, 1 queued, 2,050 tokens, $0.0021, 1:03
        ");
    }

    #[test]
    fn nested_tasks_follow_their_parent_even_where_there_is_little_room() {
        let mut board = Board::default();
        for event in samples::events() {
            board.apply(&event);
        }
        let lines = picture(&board, 63_000, 2, Look::PLAIN);
        insta::assert_snapshot!(lines.join("\n"), @"
        Split  waiting    task  local/small 1 req 800 tok $0.0005 1:02  waiting for its tasks
          Left running    sonic local/small 1 req 1:00  thinking
        1/4 over, 2 working, 1 queued, 2,050 tokens, $0.0021, 1:03
        ");
    }
}
