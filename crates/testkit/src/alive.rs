//! Which processes still run, as `/proc` has it.
//!
//! Zombies do not count: they hold nothing, and who reaps them, and when, is another question.

use std::{collections::HashMap, fs, path::Path, time::Duration};

use crate::wait_until;

/// A running process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its id.
    pub pid: u32,
    /// The name of its main thread.
    pub comm: String,
    /// Its arguments, with spaces between them.
    pub cmdline: String,
}

/// Every process below `pid`, by ancestry; not `pid` itself. One whose parent has died belongs to its adopter.
pub fn descendants(pid: u32) -> Vec<Process> {
    let all = running();
    let parents: HashMap<u32, u32> = all.iter().map(|found| (found.pid, found.parent)).collect();
    let is_below = |mut at: u32| {
        // Bounded, because the table is read line by line while processes come and go.
        for _ in 0..parents.len() {
            match parents.get(&at) {
                Some(parent) if *parent == pid => return true,
                Some(parent) => at = *parent,
                None => return false,
            }
        }
        false
    };
    all.iter()
        .filter(|found| is_below(found.pid))
        .map(Found::describe)
        .collect()
}

/// Every process whose `SORTIE_SESSION` holds `tag`, wherever it hangs in the tree.
///
/// The environment of an undumpable process can be read by root alone; such a process is found only then.
pub fn in_session_of_run(tag: &str) -> Vec<Process> {
    let is_tagged = |found: &&Found| {
        let environment = fs::read(format!("/proc/{}/environ", found.pid)).unwrap_or_default();
        String::from_utf8_lossy(&environment)
            .split('\0')
            .filter_map(|entry| entry.strip_prefix("SORTIE_SESSION="))
            .any(|session| session.contains(tag))
    };
    running()
        .iter()
        .filter(is_tagged)
        .map(Found::describe)
        .collect()
}

/// Whether `pid` runs.
pub fn is_running(pid: u32) -> bool {
    read(pid).is_some()
}

/// Waits until `survivors` finds nobody.
///
/// # Panics
///
/// When somebody is left after `timeout`, naming them.
#[track_caller]
pub fn wait_until_none(timeout: Duration, survivors: impl Fn() -> Vec<Process>) {
    assert!(
        wait_until(timeout, || survivors().is_empty()),
        "still running after {timeout:?}: {:#?}",
        survivors()
    );
}

struct Found {
    pid: u32,
    parent: u32,
    comm: String,
}

impl Found {
    fn describe(&self) -> Process {
        let arguments = fs::read(format!("/proc/{}/cmdline", self.pid)).unwrap_or_default();
        Process {
            pid: self.pid,
            comm: self.comm.clone(),
            cmdline: String::from_utf8_lossy(&arguments)
                .trim_end_matches('\0')
                .replace('\0', " "),
        }
    }
}

fn running() -> Vec<Found> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(read)
        .collect()
}

fn read(pid: u32) -> Option<Found> {
    let stat = fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat")).ok()?;
    parse(pid, &stat)
}

/// `PID (NAME) STATE PARENT ...`, where the name may hold anything.
fn parse(pid: u32, stat: &str) -> Option<Found> {
    let (head, tail) = stat.rsplit_once(')')?;
    let mut fields = tail.split_ascii_whitespace();
    let state = fields.next()?;
    if matches!(state, "Z" | "X" | "x") {
        return None;
    }
    Some(Found {
        pid,
        parent: fields.next()?.parse().ok()?,
        comm: head.split_once('(')?.1.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn names_may_hold_anything() {
        let found = parse(7, "7 (a) b (c) S 3 7 7 0").unwrap();
        assert_eq!((found.parent, found.comm.as_str()), (3, "a) b (c"));
        assert!(parse(7, "7 (gone) Z 3 7").is_none());
    }

    #[test]
    fn a_grandchild_is_found_by_ancestry_and_by_its_tag_until_it_is_gone() {
        let tag = format!("alive-{}", std::process::id());
        let mut shell = Command::new("sh")
            .args(["-c", "sleep 1000 & read line; kill $!; wait"])
            .env("SORTIE_SESSION", format!("{tag}/One"))
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let sleeps = |found: Vec<Process>| found.iter().any(|one| one.cmdline == "sleep 1000");
        let limit = Duration::from_secs(20);
        assert!(wait_until(limit, || sleeps(descendants(shell.id()))));
        assert!(sleeps(in_session_of_run(&tag)));
        assert!(sleeps(descendants(std::process::id())));
        drop(shell.stdin.take());
        wait_until_none(limit, || in_session_of_run(&tag));
        // Dead, but not waited for.
        assert!(!is_running(shell.id()));
        shell.wait().unwrap();
    }
}
