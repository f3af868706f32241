use std::sync::Arc;

use serde_json::json;
use sortie_protocol::{Origin, Record, RecordKind, RunId, Secrets, TaskId};

use super::*;

fn redactor() -> Redactor {
    let mut secrets = Secrets::default();
    secrets.insert("THE_KEY", "sk-marked-000");
    Redactor::new(&secrets)
}

fn store(dir: &Path) -> Arc<Store> {
    Arc::new(
        Store::create(
            dir,
            &json!({"asked": "sk-marked-000"}),
            redactor(),
            StoreSync::Batch,
        )
        .unwrap(),
    )
}

fn task(store: &Arc<Store>) -> TaskFiles {
    let scratch = store.path("scratch/A");
    TaskFiles::create(store, &TaskId::from("A".to_owned()), &scratch, &json!({})).unwrap()
}

fn tree(dir: &Path) -> String {
    let mut texts = Vec::new();
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                texts.push(fs::read_to_string(path).unwrap());
            }
        }
    }
    texts.join("\n")
}

#[test]
fn a_second_root_is_kept_out() {
    let folder = tempfile::tempdir().unwrap();
    let held = store(folder.path());
    let shown = |error: StoreError| {
        error
            .to_string()
            .replace(&folder.path().display().to_string(), "[DIR]")
    };
    let create = || Store::create(folder.path(), &json!({}), redactor(), StoreSync::Never);
    insta::assert_snapshot!(shown(create().unwrap_err()), @"`[DIR]` belongs to a run that is still going");
    drop(held);
    insta::assert_snapshot!(shown(create().unwrap_err()), @"`[DIR]` holds an earlier run");
}

#[test]
fn no_key_reaches_any_file() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let id = TaskId::from("A".to_owned());
    let mut files = TaskFiles::create(
        &store,
        &id,
        &folder.path().join("scratch"),
        &json!({"plan": "sk-marked-000"}),
    )
    .unwrap();
    let text = "it is sk-marked-000".to_owned();
    files
        .record(&Record {
            n: 1,
            at: 0,
            kind: RecordKind::User {
                origin: Origin::Steer,
                text,
            },
        })
        .unwrap();
    for (offset, piece) in [(0, "sk-mar"), (6, "ked-0"), (11, "00 end")] {
        assert!(files.artifact("bash-1", offset, piece).unwrap());
        files.log(piece.as_bytes()).unwrap();
    }
    let run = RunId::from("sk-marked-000".to_owned());
    store
        .journal(&Entry::Started {
            run,
            cwd: "/".into(),
        })
        .unwrap();
    assert_eq!(files.close().unwrap(), "[key THE_KEY] end");
    store.flush();
    let everything = tree(folder.path());
    assert!(!everything.contains("sk-marked"), "{everything}");
    assert_eq!(
        everything.matches("[key THE_KEY]").count(),
        6,
        "{everything}"
    );
}

#[test]
fn an_artifact_is_named_plainly_and_grows_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let mut files = task(&store);
    assert!(!files.artifact("../up", 0, "x").unwrap());
    assert!(!files.artifact("", 0, "x").unwrap());
    assert!(files.artifact("bash-1", 0, "abc").unwrap());
    assert!(!files.artifact("bash-1", 9, "gap").unwrap());
    assert!(files.artifact("bash-1", 3, "def").unwrap());
    files.close().unwrap();
    assert_eq!(
        fs::read_to_string(folder.path().join("A.bash-1.txt")).unwrap(),
        "abcdef"
    );
}

#[test]
fn outputs_of_many_tools_hold_no_descriptors() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let mut files = task(&store);
    let open = || {
        let links = fs::read_dir("/proc/self/fd").unwrap().flatten();
        links
            .filter_map(|link| fs::read_link(link.path()).ok())
            .filter(|target| target.starts_with(folder.path()))
            .count()
    };
    let before = open();
    for n in 0..50 {
        assert!(files.artifact(&format!("bash-{n}"), 0, "text").unwrap());
    }
    assert_eq!(open(), before);
    files.close().unwrap();
    let last = folder.path().join("A.bash-49.txt");
    assert_eq!(fs::read_to_string(last).unwrap(), "text");
}

#[test]
fn the_log_is_bounded_and_its_end_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let mut files = task(&store);
    for _ in 0..300 {
        files.log(&[b'x'; 10_000]).unwrap();
    }
    files.log("the ".as_bytes()).unwrap();
    let end = "énd".as_bytes();
    files.log(&end[..1]).unwrap();
    files.log(&end[1..]).unwrap();
    assert!(files.close().unwrap().ends_with("xthe énd"));
    let log = fs::read_to_string(folder.path().join("A.log")).unwrap();
    assert!(log.len() < (1 << 20) + 100 && log.ends_with("[the rest was not kept]\n"));
}

#[test]
fn a_damaged_line_of_a_journal_costs_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let run = RunId::generate();
    store
        .journal(&Entry::Started {
            run: run.clone(),
            cwd: "/".into(),
        })
        .unwrap();
    let path = folder.path().join("journal.jsonl");
    let mut file = File::options().append(true).open(&path).unwrap();
    file.write_all(b"\0\0\xff\n{\"at\":2,\"entry\":\"later\"}\n{\"at\":3,\"entry\":\"fin")
        .unwrap();
    let journal = read_journal(&path).unwrap();
    assert_eq!(journal.damaged, [2]);
    assert_eq!(journal.lines.len(), 2);
    assert_eq!(journal.lines[1].entry, Entry::Unknown);
    assert_eq!(
        journal.lines[0].entry,
        Entry::Started {
            run,
            cwd: "/".into()
        }
    );
}
