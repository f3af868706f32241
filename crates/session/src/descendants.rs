//! The processes under this one.
//!
//! This process is a subreaper, so whatever is left behind below it becomes its child. Nothing of it may stay: at the
//! end [`end_all`] kills until there is none, and on the way [`reap_adopted`] waits for zombies that nobody else will.

use std::{
    collections::HashSet,
    thread::sleep,
    time::{Duration, Instant},
};

use nix::{
    errno::Errno,
    sys::{
        signal::{Signal, kill},
        wait::{WaitPidFlag, WaitStatus, waitpid},
    },
    unistd::{Pid, getpid},
};

use crate::tools::process::started;

/// How long processes that were killed may take to disappear. One that hangs in the kernel is left to the root.
const PATIENCE: Duration = Duration::from_secs(2);

/// Waits for the adopted children that have ended, by pid. Never for one that a tool waits for.
pub(crate) fn reap_adopted() {
    if !has_children() {
        return;
    }
    let me = getpid().as_raw();
    for process in processes() {
        if process.parent == me && process.zombie && !started().is_ours(process.pid) {
            // Gone already is as good.
            let _ = waitpid(Pid::from_raw(process.pid), Some(WaitPidFlag::WNOHANG));
        }
    }
}

/// Kills everything under this process until nothing is left, and says whether that was reached.
///
/// Also waits for children that somebody else waits for, so it is for the very end.
pub(crate) fn end_all() -> bool {
    let deadline = Instant::now() + PATIENCE;
    let mut pause = Duration::from_micros(500);
    loop {
        if !reap_any() {
            return true;
        }
        for process in below(&processes(), getpid().as_raw()) {
            let _ = kill(Pid::from_raw(process), Signal::SIGKILL);
        }
        if Instant::now() >= deadline {
            return false;
        }
        sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// Waits for every child that has ended. False: there is no child left, and so no descendant either, since an
/// orphan becomes a child of this process.
fn reap_any() -> bool {
    loop {
        match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::StillAlive) => return true,
            Err(Errno::ECHILD) => return false,
            Ok(_) | Err(_) => {}
        }
    }
}

#[cfg(target_os = "linux")]
fn has_children() -> bool {
    use nix::sys::wait::{Id, waitid};
    let look = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
    waitid(Id::All, look) != Err(Errno::ECHILD)
}

#[cfg(not(target_os = "linux"))]
fn has_children() -> bool {
    true
}

/// One process, as the system lists it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Process {
    pid: i32,
    parent: i32,
    zombie: bool,
}

/// The pids below `top`, zombies left out: those need a parent that waits, not a signal.
fn below(processes: &[Process], top: i32) -> Vec<i32> {
    let mut found = HashSet::from([top]);
    loop {
        let before = found.len();
        for process in processes {
            if found.contains(&process.parent) {
                found.insert(process.pid);
            }
        }
        if found.len() == before {
            break;
        }
    }
    processes
        .iter()
        .filter(|process| process.pid != top && !process.zombie && found.contains(&process.pid))
        .map(|process| process.pid)
        .collect()
}

#[cfg(target_os = "linux")]
fn processes() -> Vec<Process> {
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .filter_map(|entry| {
            let pid = entry.ok()?.file_name().to_str()?.parse::<i32>().ok()?;
            // A process that is gone by now needs nothing.
            let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
            read_stat(pid, &stat)
        })
        .collect()
}

/// Reads a line of `/proc/PID/stat`. The name in it is the process's own choice and may hold anything, `)` included.
#[cfg(target_os = "linux")]
fn read_stat(pid: i32, stat: &[u8]) -> Option<Process> {
    let end = stat.iter().rposition(|&byte| byte == b')')?;
    let mut fields = stat[end + 1..]
        .split(|byte| *byte == b' ')
        .filter(|field| !field.is_empty());
    let state = *fields.next()?.first()?;
    let parent = std::str::from_utf8(fields.next()?).ok()?.parse().ok()?;
    Some(Process {
        pid,
        parent,
        zombie: matches!(state, b'Z' | b'X' | b'x'),
    })
}

#[cfg(not(target_os = "linux"))]
fn processes() -> Vec<Process> {
    let listing = std::process::Command::new("ps")
        .args(["-axo", "pid=,ppid=,state="])
        .output();
    let listing = listing.map(|output| output.stdout).unwrap_or_default();
    String::from_utf8_lossy(&listing)
        .lines()
        .filter_map(|line| {
            let mut fields = line.split_whitespace();
            let pid = fields.next()?.parse().ok()?;
            let parent = fields.next()?.parse().ok()?;
            Some(Process {
                pid,
                parent,
                zombie: fields.next()?.starts_with('Z'),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn a_name_may_hold_anything() {
        let stat = b"42 (a) S 1 (b) Z) S 7 42 42 0 -1 4194560";
        assert_eq!(
            read_stat(42, stat),
            Some(Process {
                pid: 42,
                parent: 7,
                zombie: false
            })
        );
        let zombie = b"43 () Z 42 42 42 0 -1";
        assert_eq!(
            read_stat(43, zombie),
            Some(Process {
                pid: 43,
                parent: 42,
                zombie: true
            })
        );
        assert_eq!(read_stat(44, b"44 (cut"), None);
    }

    #[test]
    fn the_whole_tree_is_found_in_any_order() {
        let process = |pid, parent| Process {
            pid,
            parent,
            zombie: false,
        };
        let mut all = vec![
            process(9, 8),
            process(8, 3),
            process(3, 2),
            process(4, 1),
            process(5, 2),
        ];
        all.push(Process {
            pid: 6,
            parent: 5,
            zombie: true,
        });
        all.push(process(7, 6));
        let mut found = below(&all, 2);
        found.sort_unstable();
        assert_eq!(found, [3, 5, 7, 8, 9]);
    }
}
