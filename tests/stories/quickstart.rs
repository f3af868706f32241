//! The first thing that anybody runs: five tasks, and two below them, without a key and without a network.

use std::{fs, net::TcpListener, path::Path};

use sortie_testkit::Project;

use crate::support::{Ended, SORTIE, files, run_dir, sortie};

/// A project that holds what the README's first command needs of a checkout.
pub(crate) fn checkout() -> Project {
    let project = Project::new();
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (path, content) in files(&here.join("examples")) {
        let path = path.strip_prefix(here).expect("it was found there");
        project.file(path, content);
    }
    fs::create_dir(project.path(".git")).expect("it is a repository");
    project
}

#[test]
fn the_quickstart_completes_and_leaves_the_checkout_as_it_is() {
    let project = checkout();
    let before = files(project.root());
    // Whatever would go out would go through here.
    let proxy = TcpListener::bind("127.0.0.1:0").unwrap();
    proxy.set_nonblocking(true).unwrap();
    let address = format!("http://{}", proxy.local_addr().unwrap());

    let mut command = project.sortie(SORTIE, ["run", "examples/quickstart/batch.yaml", "--json"]);
    for name in ["http_proxy", "https_proxy", "HTTPS_PROXY", "ALL_PROXY"] {
        command.env(name, &address);
    }
    let ended = Ended::of(&mut command).expect(0);

    assert!(proxy.accept().is_err(), "somebody asked for the network");
    assert_eq!(files(project.root()), before);
    let result = ended.result();
    assert_eq!(result.tasks.len(), 5);
    let nested: Vec<_> = result
        .tasks
        .iter()
        .flat_map(|task| &task.children)
        .collect();
    assert_eq!(nested.len(), 2);
    let agents: std::collections::BTreeSet<_> = result
        .tasks
        .iter()
        .map(|task| task.agent.as_str())
        .collect();
    assert!(agents.len() >= 3, "{agents:?}");
    for task in result.tasks.iter().chain(nested) {
        assert!(task.outcome.is_completed(), "{task:#?}");
        assert!(task.warnings.is_empty(), "{task:#?}");
        assert!(task.usage.input.is_some(), "{task:#?}");
    }

    // The user's folder, not the checkout, has everything.
    let dir = result.run_dir.unwrap();
    assert!(dir.starts_with(project.agent_dir().join("runs")), "{dir:?}");
    for name in ["run.json", "journal.jsonl", "plans/Map.json"] {
        assert!(dir.join(name).is_file(), "{name}");
    }
    for id in [
        "Map",
        "Fix",
        "Rename",
        "Review",
        "Release",
        "Release.Facts",
        "Release.Notes",
    ] {
        for name in [
            format!("plans/{id}.json"),
            format!("{id}.jsonl"),
            format!("{id}.md"),
        ] {
            let path = dir.join(&name);
            assert!(
                fs::metadata(&path).is_ok_and(|file| file.len() > 0),
                "{name}"
            );
        }
    }
    // Release and the two reading agents answer with data.
    for id in ["Map", "Review", "Release", "Release.Facts"] {
        let text = fs::read_to_string(dir.join(format!("{id}.json"))).unwrap();
        let data: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(ended.task(id).structured.unwrap().data, Some(data));
    }
    assert!(dir.join("scratch/Fix/shop/total.sh").is_file());
}

#[test]
fn people_get_a_summary_on_stdout_and_progress_on_stderr() {
    let project = checkout();
    let dir = run_dir(&project).display().to_string();
    let ended = sortie(
        &project,
        &["run", "examples/quickstart/batch.yaml", "--run-dir", &dir],
    )
    .expect(0);
    for word in [
        "✓ Map",
        "scout",
        "script/quickstart",
        "2 requests",
        "3,750 tokens",
        "Map.md",
        "  ✓ Facts",
        "5 of 5 tasks completed, 2 nested",
        &dir,
    ] {
        assert!(ended.stdout.contains(word), "{word}: {}", ended.stdout);
    }
    for line in [
        "Map started: scout, script/quickstart",
        "Release waits for its tasks",
    ] {
        assert!(ended.stderr.contains(line), "{line}: {}", ended.stderr);
    }
    assert!(!ended.stdout.contains('\x1b') && !ended.stderr.contains('\x1b'));
}

#[test]
fn the_quickstart_needs_one_slot_only() {
    let project = checkout();
    let ended = sortie(
        &project,
        &[
            "run",
            "examples/quickstart/batch.yaml",
            "--json",
            "--max-concurrency",
            "1",
        ],
    )
    .expect(0);
    assert_eq!(ended.result().tasks.len(), 5);
}
