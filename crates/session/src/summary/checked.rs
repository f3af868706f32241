//! What every summary has to keep, asserted.

use std::ops::RangeInclusive;

/// The ranges of a summary in the order in which they stand: the lines, from 1, and whether they are shown.
pub(crate) fn ranges(summary: &str) -> Vec<(RangeInclusive<usize>, bool)> {
    let numbers = |text: &str| {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        first.parse().unwrap()..=last.parse().unwrap()
    };
    let mut ranges = Vec::new();
    for line in summary.lines().skip(1) {
        let (shown, gap) = if let Some(gap) = line.strip_prefix("… ") {
            (None, Some(gap))
        } else {
            let (shown, rest) = line.split_once(": ").unwrap();
            (Some(shown), rest.rsplit_once(" … ").map(|(_, gap)| gap))
        };
        ranges.extend(shown.map(|shown| (numbers(shown), true)));
        if let Some(gap) = gap {
            let gap = gap.split_once(" (").map_or(gap, |(gap, _)| gap);
            ranges.extend(gap.split(", ").map(|gap| (numbers(gap), false)));
        }
    }
    ranges
}

/// Asserts that every line of `text` lies in exactly one range, in order.
pub(crate) fn covers(summary: &str, text: &str) {
    let mut next = 1;
    for (range, _) in ranges(summary) {
        assert_eq!(*range.start(), next, "{summary}");
        assert!(range.end() >= range.start(), "{summary}");
        next = range.end() + 1;
    }
    assert_eq!(next - 1, text.lines().count(), "{summary}");
}

/// Asserts that a summary is no more than a tenth of its text, by bytes and by lines.
pub(crate) fn is_a_tenth(summary: &str, text: &str) {
    let lines = (summary.lines().count(), text.lines().count());
    assert!(
        summary.len() * 10 <= text.len(),
        "{} of {} bytes",
        summary.len(),
        text.len()
    );
    assert!(lines.0 * 10 <= lines.1, "{} of {} lines", lines.0, lines.1);
}
