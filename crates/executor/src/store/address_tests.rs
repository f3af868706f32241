use serde_json::json;
use sortie_config::StoreSync;
use sortie_protocol::{TaskId, TaskResult};

use super::*;
use crate::store::{Entry, Redactor};

struct Left {
    folder: tempfile::TempDir,
    store: Store,
}

impl Left {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create(
            folder.path(),
            &json!({}),
            Redactor::default(),
            StoreSync::Never,
        );
        Self {
            store: store.unwrap(),
            folder,
        }
    }

    fn file(&self, name: &str, text: &str) {
        fs::write(self.folder.path().join(name), text).unwrap();
    }

    fn accept(&self, id: &str) {
        let id = TaskId::from(id.to_owned());
        let (agent, label) = ("n".into(), None);
        self.journal(&Entry::Accepted { id, agent, label });
    }

    fn launch(&self, id: &str) {
        self.accept(id);
        let id = TaskId::from(id.to_owned());
        self.journal(&Entry::Launched { id, pid: None });
    }

    fn end(&self, id: &str, outcome: &str, message: Option<&str>) {
        let result: TaskResult = serde_json::from_value(json!({
            "id": id, "agent": "n", "agentSource": "bundled", "agentFile": null, "tools": [],
            "outcome": outcome, "reason": null, "message": message, "output": null, "structured": null,
            "model": {"requested": null, "selector": "script/x", "effort": null, "api": "script", "attempts": []},
            "usage": {}, "requests": 1, "durationMs": 1, "warnings": [], "isolation": null,
            "artifacts": {"output": null, "transcript": null, "patch": null}, "children": [],
        }))
        .unwrap();
        self.journal(&Entry::Ended {
            result: Box::new(result),
        });
    }

    fn journal(&self, entry: &Entry) {
        self.store.journal(entry).unwrap();
    }

    fn read(&self, uri: &str) -> Stored {
        self.store.read(uri).unwrap()
    }

    fn text(&self, uri: &str) -> String {
        let stored = self.read(uri);
        assert_eq!(stored.note, None, "{uri}");
        stored.text
    }

    fn faults(&self, uris: &[&str]) -> String {
        let faults: Vec<_> = uris
            .iter()
            .map(|uri| self.store.read(uri).unwrap_err().to_string())
            .collect();
        faults.join("\n")
    }
}

const TALK: &str = concat!(
    r#"{"n": 1, "at": 1, "record": "user", "origin": "assignment", "text": "look"}"#,
    "\n",
    r#"{"n": 2, "at": 1, "record": "assistant", "candidate": 0, "text": "done", "stop": "stop"}"#,
    "\n{",
);

#[test]
fn what_a_task_left_is_read_by_its_id() {
    let left = Left::new();
    left.launch("A.b");
    left.end("A.b", "completed", None);
    left.file("A.b.md", "the text");
    left.file("A.b.json", r#"{"files": [{"path": "x.rs"}]}"#);
    left.file("A.b.jsonl", TALK);
    left.file("A.b.bash-3.txt", "much");
    left.file("A.b.c.bash-1.txt", "of a task below");
    assert_eq!(left.text("agent://A.b"), "the text");
    assert_eq!(left.text("agent://A.b?q=.files[0].path"), "x.rs");
    assert_eq!(left.text("agent://A.b/bash-3"), "much");
    assert_eq!(left.text("history://A.b/2"), "#2 assistant\ndone\n");
    let history = left.read("history://A.b");
    insta::assert_snapshot!(format!("{}---\n{}", history.text, history.note.unwrap()), @"
    #1 assignment
    look

    #2 assistant
    done

    [the last line of the transcript is not whole, and left out]
    ---
    what is long is cut; `history://A.b/N` gives all of record #N
    ");
    insta::assert_snapshot!(left.faults(&[
        "agent://A.b?q=.files[1]",
        "agent://A.b?q=files",
        "agent://A.b/bash-4",
        "history://A.b/3",
        "history://A.b/last",
    ]), @"
    in the data of task `A.b`: nothing at `.files[1]`: `.files` has 1 item, counted from 0
    in the data of task `A.b`: `files` is no path in data: it begins with neither `.` nor `[`; write one like `.files[0].path`
    task `A.b` has no artifact `bash-4`; it has `bash-3`
    the transcript of task `A.b` tells of no record 3; read `history://A.b` for those it does
    the transcript of task `A.b` tells of no record last; read `history://A.b` for those it does
    ");
}

#[test]
fn what_is_no_address_is_told_the_forms_of_one() {
    let left = Left::new();
    left.launch("A");
    insta::assert_snapshot!(left.faults(&[
        "agent://../run",
        "agent://.A",
        "agent://",
        "agent://A?x",
        "agent://A/../../etc/passwd",
        "agent://A/journal.jsonl",
        "history://A?q=.",
        "http://x",
        "A",
        "skill://review",
        "local://notes.md",
    ]), @"
    `agent://../run` is no address; use `agent://ID`, `agent://ID?q=.field`, `agent://ID/ARTIFACT`, `history://ID`, or `history://ID/N`
    `agent://.A` is no address; use `agent://ID`, `agent://ID?q=.field`, `agent://ID/ARTIFACT`, `history://ID`, or `history://ID/N`
    `agent://` is no address; use `agent://ID`, `agent://ID?q=.field`, `agent://ID/ARTIFACT`, `history://ID`, or `history://ID/N`
    `agent://A?x` is no address; use `agent://ID`, `agent://ID?q=.field`, `agent://ID/ARTIFACT`, `history://ID`, or `history://ID/N`
    `agent://A/../../etc/passwd` is no address; use `agent://ID`, `agent://ID?q=.field`, `agent://ID/ARTIFACT`, `history://ID`, or `history://ID/N`
    `agent://A/journal.jsonl` is no address; use `agent://ID`, `agent://ID?q=.field`, `agent://ID/ARTIFACT`, `history://ID`, or `history://ID/N`
    `history://A?q=.` is no address; use `agent://ID`, `agent://ID?q=.field`, `agent://ID/ARTIFACT`, `history://ID`, or `history://ID/N`
    `http://x` is no address; use `agent://ID`, `agent://ID?q=.field`, `agent://ID/ARTIFACT`, `history://ID`, or `history://ID/N`
    `A` is no address; use `agent://ID`, `agent://ID?q=.field`, `agent://ID/ARTIFACT`, `history://ID`, or `history://ID/N`
    `skill://review` cannot be read: skills are not built yet
    `local://notes.md` cannot be read: local files of a run are not built yet
    ");
}

#[test]
fn an_unknown_id_is_told_the_nearest() {
    let left = Left::new();
    left.launch("Lead");
    left.launch("Lead.scan");
    insta::assert_snapshot!(left.faults(&[
        "agent://lead",
        "agent://scan",
        "agent://Lead.scna",
        "agent://Main",
    ]), @"
    this run has no task `lead`; the nearest is `Lead`
    this run has no task `scan`; the nearest is `Lead.scan`
    this run has no task `Lead.scna`; the nearest is `Lead.scan`
    this run has no task `Main`; there are `Lead`, `Lead.scan`
    ");
    for n in 0..12 {
        left.accept(&format!("T{n:02}"));
    }
    insta::assert_snapshot!(left.faults(&["history://Nobody"]), @"this run has no task `Nobody`; there are `Lead`, `Lead.scan`, `T00`, `T01`, `T02`, `T03`, `T04`, `T05`, `T06`, `T07`, and 4 more");
}

#[test]
fn how_far_a_task_is_is_said() {
    let left = Left::new();
    left.accept("Waiting");
    left.launch("Running");
    left.file("Running.jsonl", TALK);
    left.file("Running.bash-1.txt", "so far");
    left.launch("Crashed");
    left.end(
        "Crashed",
        "crashed",
        Some("the process was ended by SIGKILL"),
    );
    left.launch("Cut");
    left.file("Cut.md", "half of it");
    left.end("Cut", "timed_out", None);
    left.accept("Unborn");
    left.end(
        "Unborn",
        "cancelled",
        Some("it was stopped before it started"),
    );
    insta::assert_snapshot!(left.faults(&[
        "agent://Waiting",
        "history://Waiting",
        "agent://Running",
        "agent://Running?q=.x",
        "agent://Crashed",
        "agent://Cut?q=.",
        "agent://Cut/bash-1",
        "agent://Unborn",
        "history://Unborn",
    ]), @"
    task `Waiting` has not started yet; read it later
    task `Waiting` has not started yet; read it later
    task `Running` is still running and has no output yet; `history://Running` tells what it has done so far
    task `Running` is still running and has no output yet; `history://Running` tells what it has done so far
    task `Crashed` ended as `crashed` without output: the process was ended by SIGKILL; `history://Crashed` tells what it did
    task `Cut` has no data; read `agent://Cut` for its text
    task `Cut` has no artifact `bash-1`; it has none
    task `Unborn` ended as `cancelled` without output: it was stopped before it started; `history://Unborn` tells what it did
    task `Unborn` has no transcript, since it never started: it was stopped before it started
    ");
    assert_eq!(left.text("agent://Running/bash-1"), "so far");
    let notes = ["history://Running", "agent://Cut"].map(|uri| left.read(uri).note.unwrap());
    insta::assert_snapshot!(notes.join("\n"), @"
    task `Running` is still running; what is long is cut; `history://Running/N` gives all of record #N
    task `Cut` ended as `timed_out`; this is what there was of its output
    ");
}
