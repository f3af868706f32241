//! Series of measurements, alone or in turn with a baseline.

use std::{
    fmt,
    time::{Duration, Instant},
};

/// What a series counts.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Unit {
    Millis,
    Micros,
    Mebibytes,
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Millis => "ms",
            Self::Micros => "µs",
            Self::Mebibytes => "MiB",
        })
    }
}

/// Some measurements of one thing. Never empty.
#[derive(Clone, Debug)]
pub(crate) struct Series(Vec<f64>);

impl FromIterator<f64> for Series {
    fn from_iter<I: IntoIterator<Item = f64>>(figures: I) -> Self {
        let mut sorted: Vec<f64> = figures.into_iter().collect();
        assert!(!sorted.is_empty(), "a series has at least one figure");
        sorted.sort_by(f64::total_cmp);
        Self(sorted)
    }
}

impl Series {
    pub(crate) fn min(&self) -> f64 {
        self.0[0]
    }

    pub(crate) fn median(&self) -> f64 {
        self.0[self.0.len() / 2]
    }

    pub(crate) fn max(&self) -> f64 {
        self.0[self.0.len() - 1]
    }
}

/// How long `work` takes, in milliseconds.
pub(crate) fn timed(work: impl FnOnce()) -> f64 {
    let started = Instant::now();
    work();
    millis(started.elapsed())
}

pub(crate) fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// `count` measurements, after one that does not count.
pub(crate) fn series(count: usize, mut measure: impl FnMut() -> f64) -> Series {
    measure();
    (0..count).map(|_| measure()).collect()
}

/// `count` measurements of each of two things, one of each in turn, after one of each that does not count.
pub(crate) fn in_turn(
    count: usize,
    mut ours: impl FnMut() -> f64,
    mut theirs: impl FnMut() -> f64,
) -> (Series, Series) {
    ours();
    theirs();
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for _ in 0..count {
        a.push(ours());
        b.push(theirs());
    }
    (a.into_iter().collect(), b.into_iter().collect())
}
