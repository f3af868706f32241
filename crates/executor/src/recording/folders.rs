//! The folders of a run, in words that another run understands.

use std::{fs, path::Path};

use serde_json::Value;
use sortie_protocol::{TaskId, script::mark_scratch};

/// From a task's own folder to that of its run.
const UP: &str = "/../..";

/// Where a task worked.
#[derive(Debug, Default)]
pub(super) struct Folders {
    /// The folder of its own, as its plan names it; empty where that is not known.
    scratch: String,
    /// The folder of the run, two above that.
    run: String,
}

impl Folders {
    /// Those of `task`, whose run left its files in `dir`.
    pub(super) fn of(dir: &Path, task: &TaskId) -> Self {
        scratch(dir, task).map_or_else(Self::default, |scratch| {
            let run = Path::new(&scratch).ancestors().nth(2);
            Self {
                run: run.map_or_else(String::new, |run| run.display().to_string()),
                scratch,
            }
        })
    }

    /// `text` as a script has to say it. A path into the folder of the run, such as that of another task's output,
    /// leads there by way of the task's own folder. One behind a `$` stays as it is, as in [`mark_scratch`].
    pub(super) fn mark(&self, text: &str) -> String {
        mark_scratch(&self.through_scratch(text), &self.scratch)
    }

    fn through_scratch(&self, text: &str) -> String {
        if self.run.len() <= 1 {
            return text.to_owned();
        }
        let mut led = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find(&self.run) {
            let (before, found) = rest.split_at(at);
            let after = &found[self.run.len()..];
            led.push_str(before);
            let can_be_said = !before.ends_with('$') && !found.starts_with(&self.scratch);
            if can_be_said && after.starts_with('/') {
                led.push_str(&self.scratch);
                led.push_str(UP);
            } else {
                led.push_str(&self.run);
            }
            rest = after;
        }
        led + rest
    }
}

fn scratch(dir: &Path, task: &TaskId) -> Option<String> {
    let stored = fs::read(dir.join(format!("plans/{task}.json"))).ok()?;
    let stored: Value = serde_json::from_slice(&stored).ok()?;
    Some(stored.pointer("/plan/scratch")?.as_str()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_into_the_run_lead_there_in_every_run() {
        let folders = Folders {
            scratch: "/runs/1/scratch/A".into(),
            run: "/runs/1".into(),
        };
        let marked = [
            "cat /runs/1/scratch/A/x",
            "cat /runs/1/scratch/A",
            "cat /runs/1/B.md /runs/1/scratch/B/y",
            "cat /runs/1 /runs/10/B.md",
            "echo ${scratch} $/runs/1/B.md",
        ]
        .map(|text| folders.mark(text));
        insta::assert_snapshot!(marked.join("\n"), @"
        cat ${scratch}/x
        cat ${scratch}
        cat ${scratch}/../../B.md ${scratch}/../../scratch/B/y
        cat /runs/1 /runs/10/B.md
        echo $${scratch} $/runs/1/B.md
        ");
        assert_eq!(Folders::default().mark("cat /x"), "cat /x");
    }
}
