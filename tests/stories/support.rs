//! What every story needs: the program, how it ended, and a run that still goes on.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    time::Duration,
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::Value;
use sortie_protocol::{RunResult, TaskResult};
use sortie_testkit::{
    Project,
    alive::{self, Process},
    wait_until,
};

/// The program.
pub(crate) const SORTIE: &str = env!("CARGO_BIN_EXE_sortie");

/// How long anything may take that has no limit of its own, on a machine that does much else.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Runs the program in `project` to its end, with nothing on stdin.
pub(crate) fn sortie(project: &Project, args: &[&str]) -> Ended {
    Ended::of(&mut project.sortie(SORTIE, args))
}

/// The program with these arguments and `text` on stdin.
pub(crate) fn sortie_reading(project: &Project, text: &str, args: &[&str]) -> Ended {
    let mut command = project.sortie(SORTIE, args);
    command.stdin(Stdio::piped());
    let mut running = Running::start(project, &mut command);
    let mut stdin = running.stdin();
    stdin.write_all(text.as_bytes()).expect("it reads");
    drop(stdin);
    running.end()
}

/// A program that has ended.
#[derive(Clone, Debug)]
pub(crate) struct Ended {
    /// Its exit code; `None`: a signal ended it.
    pub(crate) code: Option<i32>,
    /// What it said.
    pub(crate) stdout: String,
    /// What it said aside.
    pub(crate) stderr: String,
}

impl Ended {
    /// Runs `command`.
    pub(crate) fn of(command: &mut Command) -> Self {
        let output = command.stdin(Stdio::null()).output();
        Self::from(output.expect("the program starts"))
    }

    /// Itself, when it ended with `code`.
    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(
            self.code,
            Some(code),
            "stdout:\n{}\nstderr:\n{}",
            self.stdout,
            self.stderr
        );
        self
    }

    /// Its stdout as a JSON document.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }

    /// What `--json` of a run printed.
    #[track_caller]
    pub(crate) fn result(&self) -> RunResult {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }

    /// The task of this id of the run that `--json` printed.
    #[track_caller]
    pub(crate) fn task(&self, id: &str) -> TaskResult {
        let result = self.result();
        find(&result.tasks, id)
            .unwrap_or_else(|| panic!("no task `{id}`: {self:#?}"))
            .clone()
    }
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("everything we say is UTF-8");
        Self {
            code: output.status.code(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }
}

fn find<'a>(tasks: &'a [TaskResult], id: &str) -> Option<&'a TaskResult> {
    tasks.iter().find_map(|task| {
        if task.id.as_str() == id {
            return Some(task);
        }
        find(&task.children, id)
    })
}

/// How a task ended and why, in a word each.
pub(crate) fn end_of(task: &TaskResult) -> (String, Option<&str>) {
    (
        task.outcome.kind.to_string(),
        task.outcome.reason.as_deref(),
    )
}

/// A run that goes on. Killed when dropped, and with it what hangs on it.
#[derive(Debug)]
pub(crate) struct Running {
    child: Option<Child>,
    dir: PathBuf,
}

impl Running {
    /// Starts `command`, a run whose files go to [`run_dir`] of `project`.
    pub(crate) fn start(project: &Project, command: &mut Command) -> Self {
        Self::start_in(&run_dir(project), command)
    }

    /// Starts `command`, a run whose files go to `dir`.
    pub(crate) fn start_in(dir: &Path, command: &mut Command) -> Self {
        let child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        Self {
            child: Some(child),
            dir: dir.to_owned(),
        }
    }

    fn child(&mut self) -> &mut Child {
        self.child.as_mut().expect("it has not been waited for")
    }

    /// Its process.
    pub(crate) fn pid(&self) -> u32 {
        self.child
            .as_ref()
            .expect("it has not been waited for")
            .id()
    }

    /// The other end of its stdin, where that is a pipe.
    pub(crate) fn stdin(&mut self) -> std::process::ChildStdin {
        self.child().stdin.take().expect("its stdin is a pipe")
    }

    /// The process of a task, once there is one.
    #[track_caller]
    pub(crate) fn process_of(&self, task: &str) -> u32 {
        let mut found = None;
        let launched = wait_until(PATIENCE, || {
            found = journal(&self.dir)
                .iter()
                .find(|line| line["entry"] == "launched" && line["id"] == task)
                .and_then(|line| u32::try_from(line["pid"].as_u64()?).ok());
            found.is_some()
        });
        assert!(launched, "`{task}` was not launched");
        found.expect("it was found")
    }

    /// Everything below it at this moment.
    pub(crate) fn descendants(&self) -> Vec<Process> {
        alive::descendants(self.pid())
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        kill(pid(self.pid()), signal).expect("it is there");
    }

    /// Waits for it.
    pub(crate) fn end(mut self) -> Ended {
        let child = self.child.take().expect("it has not been waited for");
        Ended::from(child.wait_with_output().expect("it can be waited for"))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            // It may be gone, which is what is wanted.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A process id, as the system has it.
pub(crate) fn pid(pid: u32) -> Pid {
    Pid::from_raw(i32::try_from(pid).expect("no id is so large"))
}

/// Waits for a file that somebody else makes.
#[track_caller]
pub(crate) fn wait_for_file(path: &Path) {
    assert!(
        wait_until(PATIENCE, || path.exists()),
        "{} was not made",
        path.display()
    );
}

/// Where runs of a project put their files when they are told to with `--run-dir`.
pub(crate) fn run_dir(project: &Project) -> PathBuf {
    project.home().join("run")
}

/// `--run-dir` and its folder.
pub(crate) fn in_run_dir(project: &Project) -> [String; 2] {
    ["--run-dir".into(), run_dir(project).display().to_string()]
}

/// The lines of a journal that are whole so far.
pub(crate) fn journal(run_dir: &Path) -> Vec<Value> {
    let text = fs::read_to_string(run_dir.join("journal.jsonl")).unwrap_or_default();
    text.lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

/// Every file under `folder`, in order, with its content. Sockets and the like are left out.
pub(crate) fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).expect("the folder can be read");
        for entry in entries {
            let path = entry.expect("the folder can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let content = fs::read(&path).expect("the file can be read");
                found.push((path, content));
            }
        }
    }
    found.sort();
    found
}

/// `text` without what differs between two runs of a test.
pub(crate) fn without_paths(project: &Project, text: &str) -> String {
    text.replace(&project.root().display().to_string(), "[PROJECT]")
        .replace(&project.home().display().to_string(), "[HOME]")
}

/// A `models.yml` with one provider, `local`, whose only model is `small`.
pub(crate) fn local_models(url: &str) -> String {
    format!(
        "providers:\n  local:\n    baseUrl: {url}\n    api: openai-completions\n    models:\n      - id: small\n        contextWindow: 200000\n        maxTokens: 8000\n        efforts: [low, medium, high]\n        cost: {{input: 1, output: 2}}\n"
    )
}
