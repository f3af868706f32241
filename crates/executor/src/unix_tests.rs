use std::{
    io::{BufRead, BufReader},
    os::unix::process::CommandExt,
};

use sortie_testkit::{alive, wait_until};

use super::*;

const LIMIT: Duration = Duration::from_secs(20);

/// The number on the first line that `child` writes.
fn first_number(child: &mut Ward) -> u32 {
    let (_, stdout, _) = child.pipes().unwrap();
    let mut line = String::new();
    BufReader::new(stdout).read_line(&mut line).unwrap();
    line.trim().parse().unwrap()
}

fn start(nursery: &Arc<Nursery>, script: &str) -> Ward {
    let mut command = Command::new("sh");
    command
        .args(["-c", script])
        .process_group(0)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    nursery.start(&mut command).unwrap()
}

#[tokio::test]
async fn the_exit_is_seen_before_it_is_reaped() {
    let nursery = Arc::new(Nursery::new("X=".into()));
    let mut child = start(&nursery, "exit 7");
    let watch = ExitWatch::new(child.id()).unwrap();
    assert_eq!(watch.gone().await.unwrap(), Exit::Code(7));
    // Still there: nobody reaped it.
    assert!(std::path::Path::new(&format!("/proc/{}", child.id())).exists());
    assert_eq!(watch.gone().await.unwrap(), Exit::Code(7));
    let pid = child.id();
    child.reap().unwrap();
    assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists());
}

#[tokio::test]
async fn a_signal_reaches_the_leader_and_its_group() {
    let nursery = Arc::new(Nursery::new("X=".into()));
    let mut child = start(&nursery, "sleep 1000 & echo $!; wait");
    let grandchild = first_number(&mut child);
    let watch = ExitWatch::new(child.id()).unwrap();
    signal(child.id(), Signal::SIGKILL).unwrap();
    assert_eq!(watch.gone().await.unwrap(), Exit::Signal(9));
    child.reap().unwrap();
    assert!(wait_until(LIMIT, || !alive::is_running(grandchild)));
    // Nobody is there any more; that is not an error.
    signal(grandchild, Signal::SIGTERM).unwrap();
}

#[test]
fn a_child_that_is_dropped_is_ended_with_all_that_it_started() {
    adopt_orphans().unwrap();
    let nursery = Arc::new(Nursery::new("SORTIE_SESSION=lost/".into()));
    let script = "SORTIE_SESSION=lost/A setsid sh -c 'trap : TERM; echo $$; while :; do sleep 1; done' & wait";
    let mut child = start(&nursery, script);
    let grandchild = first_number(&mut child);
    let pid = child.id();
    drop(child);
    assert!(!alive::is_running(pid) && !alive::is_running(grandchild));
    // Not even a zombie is left, nor a row of the table.
    assert!(!std::path::Path::new(&format!("/proc/{grandchild}")).exists());
    assert!(!lock().started.contains(&signed(pid).unwrap()));
}

#[test]
fn what_another_run_started_is_no_orphan() {
    adopt_orphans().unwrap();
    let (one, other) = ["one", "other"]
        .map(|run| Arc::new(Nursery::new(format!("SORTIE_SESSION={run}/"))))
        .into();
    let script = "export SORTIE_SESSION=other/A; exec sh -c 'echo $$; exec sleep 1000'";
    let mut child = start(&one, script);
    let pid = first_number(&mut child);
    assert_eq!(other.sweep(), 0);
    assert!(alive::is_running(pid));
    child.reap().unwrap();
}

#[test]
fn this_test_does_not_run_inside_a_session() {
    assert_eq!(session_above(), None);
}

#[test]
fn children_are_found_with_and_without_the_kernels_lists() {
    let nursery = Arc::new(Nursery::new("X=".into()));
    let child = nursery.start(Command::new("sleep").arg("1000")).unwrap();
    let pid = i32::try_from(child.id()).unwrap();
    assert!(scanned_children().contains(&pid));
    if let Some(listed) = listed_children() {
        assert!(listed.contains(&pid));
    }
}
