//! Whole runs: `sortie run`, from its start to its exit, beside agents that nobody looks after.

use std::{process::Command, thread, time::Duration};

use crate::{
    figures::{Series, Unit, in_turn, series, timed},
    memory,
    scene::{Scene, python, succeed},
    table::{Bar, Beside, Row, Table},
};

/// Sizes of batches that are compared with as many bare agents, side by side.
const SIZES: [Size; 2] = [
    Size {
        what: "1 task, whole",
        tasks: 1,
        bars: &[Bar::Ratio(0.3)],
    },
    Size {
        what: "16 tasks in one batch, whole",
        tasks: 16,
        bars: &[Bar::Ratio(0.25)],
    },
];
const EACH: &str = "200 tasks in one batch, each";
const STORE: &str = "16 tasks in one batch, flushed to disk";
const PEAK: &str = "16 tasks, all resting: memory of all processes (PSS)";
const MANY: &str = "1,000 tasks in one batch: memory of all processes (PSS)";

/// How long the model takes where sixteen children are to rest at once.
const SLOW: Duration = Duration::from_millis(150);
/// How long lies between two looks at the memory of a run.
const LOOK: Duration = Duration::from_millis(2);

struct Size {
    what: &'static str,
    tasks: usize,
    bars: &'static [Bar],
}

pub(crate) fn measure(table: &mut Table) {
    let scene = Scene::answering_after(Duration::ZERO);
    match python() {
        Some(python) => {
            for size in SIZES {
                if table.wants(size.what) {
                    table.add(beside_bare_agents(&scene, &python, &size));
                }
            }
        }
        None => table.note("Without `python3` there are no bare agents to compare with."),
    }
    if table.wants(EACH) {
        table.add(each(&scene));
    }
    if table.wants(STORE) {
        table.add(store(&scene));
    }
    if table.wants(PEAK) {
        let slow = Scene::answering_after(SLOW);
        table.add(Row {
            what: PEAK,
            unit: Unit::Mebibytes,
            ours: series(5, || peak(&slow, 16)),
            beside: None,
            bars: &[Bar::Figure(64.0)],
        });
    }
    if table.wants(MANY) {
        table.add(Row {
            what: MANY,
            unit: Unit::Mebibytes,
            ours: Series::from_iter([peak(&scene, 1_000)]),
            beside: None,
            bars: &[],
        });
    }
}

fn beside_bare_agents(scene: &Scene, python: &str, size: &Size) -> Row {
    let (ours, theirs) = in_turn(
        15,
        || whole(scene, &mut scene.batch(size.tasks), size.tasks),
        || {
            let took = timed(|| {
                let agents = scene.bare_agents(python, size.tasks);
                agents.into_iter().for_each(succeed);
            });
            scene.clear(size.tasks);
            took
        },
    );
    Row {
        what: size.what,
        unit: Unit::Millis,
        ours,
        beside: Some(Beside {
            what: "as many bare agents, side by side",
            series: theirs,
        }),
        bars: size.bars,
    }
}

/// Whether the hundredth task costs what the first one does.
fn each(scene: &Scene) -> Row {
    let (ours, theirs) = in_turn(
        5,
        || whole(scene, &mut scene.batch(200), 200) / 200.0,
        || whole(scene, &mut scene.batch(16), 16) / 16.0,
    );
    Row {
        what: EACH,
        unit: Unit::Millis,
        ours,
        beside: Some(Beside {
            what: "16 tasks in one batch, each",
            series: theirs,
        }),
        bars: &[],
    }
}

fn store(scene: &Scene) -> Row {
    let flushing = |how| {
        let mut command = scene.batch(16);
        command.env("SORTIE_STORE_SYNC", how);
        whole(scene, &mut command, 16)
    };
    let (ours, theirs) = in_turn(31, || flushing("batch"), || flushing("never"));
    Row {
        what: STORE,
        unit: Unit::Millis,
        ours,
        beside: Some(Beside {
            what: "the same, never flushed",
            series: theirs,
        }),
        bars: &[Bar::Ratio(1.05)],
    }
}

/// How long a run takes from its start to its exit, in milliseconds.
fn whole(scene: &Scene, batch: &mut Command, tasks: usize) -> f64 {
    let took = timed(|| succeed(batch.spawn().expect("the program starts")));
    scene.clear(tasks);
    took
}

/// The most that a run of `tasks` holds at any time, in MiB.
fn peak(scene: &Scene, tasks: usize) -> f64 {
    let mut root = scene.batch(tasks).spawn().expect("the program starts");
    let mut most: f64 = 0.0;
    while root.try_wait().expect("it can be waited for").is_none() {
        most = most.max(memory::of_tree(root.id()));
        thread::sleep(LOOK);
    }
    succeed(root);
    scene.clear(tasks);
    most
}
