//! What processes hold, as `/proc/PID/smaps_rollup` has it. Children are undumpable, so only root sees theirs.

use std::fs;

use sortie_testkit::alive;

/// The memory of one process, in MiB.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    /// Its share: what it maps together with others is divided among them.
    pub(crate) pss: f64,
    /// What it shares with nobody.
    pub(crate) private: f64,
}

/// The memory of a process; `None` when it is gone, or not ours to look at.
pub(crate) fn of(pid: u32) -> Option<Memory> {
    let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    let mib = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        let kib: f64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
        Some(kib / 1024.0)
    };
    Some(Memory {
        pss: mib("Pss:")?,
        private: mib("Private_Clean:")? + mib("Private_Dirty:")?,
    })
}

/// The share of a process and of everything below it, in MiB.
pub(crate) fn of_tree(pid: u32) -> f64 {
    let below = alive::descendants(pid).into_iter().map(|found| found.pid);
    std::iter::once(pid)
        .chain(below)
        .filter_map(of)
        .map(|memory| memory.pss)
        .sum()
}
