use std::{fs, path::Path};

use super::{
    super::{
        Available,
        tests::{LOCAL, candidate, load},
    },
    testing::start,
    *,
};
use crate::shown::shown;

#[test]
fn a_command_runs_once_and_only_when_its_key_is_wanted() {
    let folder = tempfile::tempdir().unwrap();
    let tally = folder.path().join("tally");
    let command = format!("echo x >> {}; echo $WORD; echo more", tally.display());
    let text = LOCAL.replace("LOCAL_KEY", &format!("'!{command}'"));
    let (models, problems) = load(&text, &[("WORD", "k-1")]);
    assert_eq!(problems, "");
    let provider = models.provider("local").unwrap();
    assert_eq!(models.availability(provider), Available::Available);
    assert_eq!(models.all_secrets().get("local.apiKey"), None);
    assert!(!tally.exists());
    let small = candidate(&models, "local", "small");
    for _ in 0..2 {
        let secrets = models
            .secrets_for(std::slice::from_ref(&small), &start)
            .unwrap();
        assert_eq!(secrets.get("local.apiKey"), Some("k-1"));
    }
    assert_eq!(fs::read_to_string(tally).unwrap(), "x\n");
    assert_eq!(models.all_secrets().get("local.apiKey"), Some("k-1"));
}

#[test]
fn a_command_that_gives_no_key_is_a_problem() {
    let failing = |command: &str| {
        let (models, _) = load(&LOCAL.replace("LOCAL_KEY", command), &[]);
        let small = candidate(&models, "local", "small");
        let problem = models.secrets_for(&[small], &start).unwrap_err();
        shown([&problem], Path::new("/nowhere"))
    };
    insta::assert_snapshot!(failing("'!exit 3'"), @r#"
    error: the command for `local.apiKey` failed: exit status: 3
      run the command in a shell to see what it prints
    "#);
    insta::assert_snapshot!(failing("'!true'"), @r#"
    error: the command for `local.apiKey` printed nothing
      run the command in a shell to see what it prints
    "#);
}

#[test]
fn what_a_command_leaves_running_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let gate = folder.path().join("gate");
    let environment = Environment::from_iter([
        ("PATH", "/usr/bin:/bin".into()),
        ("GATE", gate.clone().into_os_string()),
    ]);
    // The background process ends when this test opens the gate, and holds the pipe until then.
    let command = "mkfifo \"$GATE\"; cat \"$GATE\" & echo k-1";
    let line = first_line(command, &environment, &start).unwrap();
    assert_eq!(line, "k-1");
    fs::write(gate, "").unwrap();
}
