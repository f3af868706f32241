use std::{os::unix::process::CommandExt, time::Duration};

use super::*;

fn start(nursery: &Nursery, script: &str) -> Child {
    let mut command = Command::new("sh");
    command
        .args(["-c", script])
        .process_group(0)
        .stdout(std::process::Stdio::piped());
    nursery.start(&mut command).unwrap()
}

#[tokio::test]
async fn the_exit_is_seen_before_it_is_reaped() {
    let nursery = Nursery::new("X=".into());
    let child = start(&nursery, "exit 7");
    let watch = ExitWatch::new(child.id()).unwrap();
    assert_eq!(watch.gone().await.unwrap(), Exit::Code(7));
    // Still there: nobody reaped it.
    assert!(std::path::Path::new(&format!("/proc/{}", child.id())).exists());
    assert_eq!(watch.gone().await.unwrap(), Exit::Code(7));
    let pid = child.id();
    nursery.reap(child).unwrap();
    assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists());
}

#[tokio::test]
async fn a_signal_reaches_the_leader_and_its_group() {
    let nursery = Nursery::new("X=".into());
    let mut child = start(&nursery, "sleep 1000 & echo $!; wait");
    let mut line = String::new();
    std::io::BufRead::read_line(
        &mut std::io::BufReader::new(child.stdout.take().unwrap()),
        &mut line,
    )
    .unwrap();
    let grandchild: i32 = line.trim().parse().unwrap();
    let watch = ExitWatch::new(child.id()).unwrap();
    signal(child.id(), Signal::SIGKILL).unwrap();
    assert_eq!(watch.gone().await.unwrap(), Exit::Signal(9));
    nursery.reap(child).unwrap();
    let gone = || {
        fs::read_to_string(format!("/proc/{grandchild}/stat")).map_or(true, |stat| {
            stat.rsplit_once(')')
                .is_some_and(|(_, rest)| rest.starts_with(" Z"))
        })
    };
    tokio::time::timeout(Duration::from_secs(5), async {
        while !gone() {
            tokio::task::yield_now().await;
        }
    })
    .await
    .unwrap();
    // Nobody is there any more; that is not an error.
    signal(u32::try_from(grandchild).unwrap(), Signal::SIGTERM).unwrap();
}

#[test]
fn this_test_does_not_run_inside_a_session() {
    assert_eq!(session_above(), None);
}
