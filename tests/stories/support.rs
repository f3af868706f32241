//! What every story needs: the program, how it ended, and a run that still goes on.

use std::{
    fs::{self, File},
    io::Write as _,
    panic::resume_unwind,
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Output, Stdio},
    sync::{Arc, OnceLock},
    thread::{self, ScopedJoinHandle},
    time::Duration,
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::Value;
use sortie_protocol::{Api, RunResult, TaskResult};
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
        let dir = run_dir(project);
        command.arg("--run-dir").arg(&dir);
        Self::start_in(&dir, command)
    }

    /// Starts `command`, a run whose files go to `dir`. What it says aside goes to a file beside that.
    pub(crate) fn start_in(dir: &Path, command: &mut Command) -> Self {
        let aside = File::create(dir.with_extension("stderr")).expect("the file can be made");
        let child = command.stdout(Stdio::piped()).stderr(aside).spawn();
        Self {
            child: Some(child.expect("the program starts")),
            dir: dir.to_owned(),
        }
    }

    fn child(&self) -> &Child {
        self.child.as_ref().expect("it has not been waited for")
    }

    /// Its process.
    pub(crate) fn pid(&self) -> u32 {
        self.child().id()
    }

    /// The other end of its stdin, where that is a pipe.
    pub(crate) fn stdin(&mut self) -> ChildStdin {
        let stdin = self.child.as_mut().and_then(|child| child.stdin.take());
        stdin.expect("its stdin is a pipe")
    }

    /// Its id, once it has one.
    #[track_caller]
    pub(crate) fn run(&self) -> String {
        self.journaled(|line| line["entry"] == "started")["run"]
            .as_str()
            .expect("an id is text")
            .to_owned()
    }

    /// The process of a task, once there is one.
    #[track_caller]
    pub(crate) fn process_of(&self, task: &str) -> u32 {
        let line = self.journaled(|line| line["entry"] == "launched" && line["id"] == task);
        let pid = line["pid"].as_u64().expect("a process has an id");
        u32::try_from(pid).expect("no id is so large")
    }

    #[track_caller]
    fn journaled(&self, is_wanted: impl Fn(&Value) -> bool) -> Value {
        let mut found = None;
        let came = wait_until(PATIENCE, || {
            found = journal(&self.dir).into_iter().find(|line| is_wanted(line));
            found.is_some()
        });
        assert!(came, "the journal has: {:#?}", journal(&self.dir));
        found.expect("it was found")
    }

    /// Waits until it has said `words` aside.
    #[track_caller]
    pub(crate) fn wait_until_it_says(&self, words: &str) {
        let said = || fs::read_to_string(self.dir.with_extension("stderr")).unwrap_or_default();
        let has_said = wait_until(PATIENCE, || said().contains(words));
        assert!(has_said, "no `{words}` in: {}", said());
    }

    /// Everything below it at this moment.
    pub(crate) fn descendants(&self) -> Vec<Process> {
        alive::descendants(self.pid())
    }

    /// Everything below it, once `count` of them run a program of this name.
    #[track_caller]
    pub(crate) fn descendants_with(&self, count: usize, name: &str) -> Vec<Process> {
        let named = |all: &[Process]| all.iter().filter(|process| process.comm == name).count();
        let mut found = Vec::new();
        let came = wait_until(PATIENCE, || {
            found = self.descendants();
            named(&found) >= count
        });
        assert!(came, "no {count} `{name}` in: {found:#?}");
        found
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        send(signal, self.pid());
    }

    /// Waits for it.
    pub(crate) fn end(mut self) -> Ended {
        let child = self.child.take().expect("it has not been waited for");
        let output = child.wait_with_output().expect("it can be waited for");
        Ended::from(Output {
            stderr: fs::read(self.dir.with_extension("stderr")).expect("it was made"),
            ..output
        })
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

/// Somebody who looks at the processes of a run from another thread, such as one of its model server.
#[derive(Clone, Debug, Default)]
pub(crate) struct Onlooker {
    root: Arc<OnceLock<u32>>,
}

impl Onlooker {
    /// Says which run is meant.
    pub(crate) fn look_at(&self, run: &Running) {
        self.root.set(run.pid()).expect("there is one run");
    }

    /// The processes below the root at this moment. Waits until it is known which run is meant.
    pub(crate) fn processes(&self) -> Vec<Process> {
        alive::descendants(*self.root.wait())
    }
}

/// Sends a signal to a process that is there.
pub(crate) fn send(signal: Signal, pid: u32) {
    let pid = Pid::from_raw(i32::try_from(pid).expect("no id is so large"));
    kill(pid, signal).expect("it is there");
}

/// Those of `processes` that still run.
pub(crate) fn survivors(processes: &[Process]) -> Vec<Process> {
    let alive = processes
        .iter()
        .filter(|process| alive::is_running(process.pid));
    alive.cloned().collect()
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
    models_over(Api::OpenaiCompletions, url, "")
}

/// The same over `api`, with a key where `key` says what `apiKey` is.
pub(crate) fn models_over(api: Api, url: &str, key: &str) -> String {
    let key = if key.is_empty() {
        String::new()
    } else {
        format!("    apiKey: {key}\n")
    };
    format!(
        "providers:\n  local:\n    baseUrl: {url}\n    api: {api}\n{key}    models:\n      - id: small\n        contextWindow: 200000\n        maxTokens: 8000\n        efforts: [low, medium, high]\n        cost: {{input: 1, output: 2, cacheRead: 0.5}}\n"
    )
}

/// Plays `story` over every API at once, in a thread each that is named after it, and returns what each makes of it.
pub(crate) fn over_every_api<T: Send>(story: impl Fn(Api) -> T + Sync) -> Vec<T> {
    thread::scope(|scope| {
        let story = &story;
        let started = Api::REMOTE.map(|api| {
            let thread = thread::Builder::new().name(api.to_string());
            let thread = thread.spawn_scoped(scope, move || story(api));
            thread.expect("a thread can be started")
        });
        let ended = started.into_iter().map(ScopedJoinHandle::join);
        ended
            .collect::<Result<_, _>>()
            .unwrap_or_else(|panic| resume_unwind(panic))
    })
}

/// How many frames of an answer come up to the first piece of its text.
pub(crate) fn frames_to_text(api: Api) -> usize {
    match api {
        Api::GoogleGenerativeAi => 1,
        Api::OpenaiCompletions | Api::Script => 2,
        Api::OpenaiResponses => 3,
        Api::AnthropicMessages => 4,
    }
}
