use serde_json::json;
use sortie_config::{Environment, StoreSync};
use sortie_protocol::Outcome;

use super::*;
use crate::store::{Redactor, Store};

struct Home {
    _folder: tempfile::TempDir,
    places: Places,
}

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let variables = [("HOME".to_owned(), folder.path().as_os_str().to_owned())];
        let environment: Environment = variables.into_iter().collect();
        let places = Places::find(folder.path(), &environment, &[]).unwrap();
        Self {
            _folder: folder,
            places,
        }
    }

    fn run(&self, name: &str) -> Store {
        let store = Store::create(
            &self.places.runs_dir().join(name),
            &json!({}),
            Redactor::default(),
            StoreSync::Never,
        )
        .unwrap();
        let run = RunId::from(name.to_owned());
        store
            .journal(&Entry::Started {
                run,
                cwd: "/project".into(),
            })
            .unwrap();
        store
    }
}

fn accept(store: &Store, id: &str) {
    let id = TaskId::from(id.to_owned());
    store
        .journal(&Entry::Accepted {
            id,
            agent: "task".into(),
            label: None,
        })
        .unwrap();
}

fn end(store: &Store, id: &str) {
    let result: TaskResult = serde_json::from_value(json!({
        "id": id, "agent": "task", "agentSource": "bundled", "agentFile": null, "tools": [],
        "outcome": "completed", "reason": null, "message": null, "output": null, "structured": null,
        "model": {"requested": null, "selector": "script/x", "effort": null, "api": "script", "attempts": []},
        "usage": {}, "requests": 1, "durationMs": 1, "warnings": [], "isolation": null,
        "artifacts": {"output": null, "transcript": null, "patch": null}, "children": []
    }))
    .unwrap();
    assert_eq!(result.outcome, Outcome::completed());
    store
        .journal(&Entry::Ended {
            result: Box::new(result),
        })
        .unwrap();
}

#[test]
fn a_run_is_read_back_as_its_journal_tells_it() {
    let home = Home::new();
    let store = home.run("0190-aa");
    for id in ["A", "A.x", "B"] {
        accept(&store, id);
    }
    store
        .journal(&Entry::Launched {
            id: TaskId::from("B".to_owned()),
            pid: Some(7),
        })
        .unwrap();
    end(&store, "A.x");
    end(&store, "A");
    let (run, _) = find(&home.places, "0190").unwrap();
    assert_eq!((run.state, run.tasks.len()), (RunState::Going, 3));
    let results = run.results();
    assert_eq!(results.len(), 1);
    assert_eq!(results[0].children[0].id.as_str(), "A.x");
    assert_eq!(run.task("B").unwrap().state, TaskState::Started);
    drop(store);
    assert_eq!(list(&home.places)[0].state, RunState::Interrupted);
}

#[test]
fn ids_are_found_by_prefix_by_path_and_by_their_task_alone() {
    let home = Home::new();
    for name in ["0190-aa", "0190-bb"] {
        let store = home.run(name);
        accept(&store, "Scan");
        store.journal(&Entry::Finished).unwrap();
    }
    let found = |id: &str| match find(&home.places, id) {
        Ok((run, None)) => run.run.to_string(),
        Ok((run, Some(task))) => format!("{} {task}", run.run),
        Err(error) => error.to_string(),
    };
    let path = home.places.runs_dir().join("0190-aa");
    let path = path.to_str().unwrap();
    let answers = [
        "0190-a",
        "0190-b/Scan",
        "Scan",
        path,
        &format!("{path}/Scan"),
        "0190",
        "0190-a/No",
        "Nope",
        "9/Scan",
    ]
    .map(found);
    insta::assert_snapshot!(answers.join("\n"), @r"
    0190-aa
    0190-bb Scan
    0190-bb Scan
    0190-aa
    0190-aa Scan
    `0190` is the beginning of 2 runs: 0190-bb, 0190-aa
    run `0190-aa` has no task `No`
    no run and no task of this project is called `Nope`
    no run and no task of this project is called `9/Scan`
    ");
}

#[test]
fn a_task_whose_acceptance_is_damaged_is_still_there() {
    let home = Home::new();
    let store = home.run("0190-aa");
    end(&store, "A.x");
    accept(&store, "B");
    end(&store, "B");
    let (run, task) = find(&home.places, "0190-aa/A.x").unwrap();
    assert_eq!(task.unwrap().as_str(), "A.x");
    let ids: Vec<_> = run
        .results()
        .into_iter()
        .map(|result| result.id.to_string())
        .collect();
    assert_eq!(ids, ["A.x", "B"]);
}
