//! Waiting for what another process does.

use std::{
    thread,
    time::{Duration, Instant},
};

/// Looks at `condition` until it holds, for at most `timeout`. Whether it held.
///
/// For what can only be looked at, such as files and processes of somebody else. Where the other side can say that
/// it is done, wait for that instead.
#[must_use = "a condition that never held is a failure"]
pub fn wait_until(timeout: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + timeout;
    loop {
        if condition() {
            return true;
        }
        if Instant::now() >= end {
            return false;
        }
        thread::sleep(Duration::from_millis(5));
    }
}
