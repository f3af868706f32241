//! The place that a text most likely meant, when it is not in the file.

use std::{
    collections::HashMap,
    fmt::{self, Write as _},
    time::{Duration, Instant},
};

use similar::{ChangeTag, TextDiff};

/// How many places are compared in full.
const COMPARED: usize = 5;
/// How alike the place must be, from 0 to 1.
const ALIKE: f32 = 0.5;
/// How much of the difference is shown, in lines, and of each line, in bytes.
const SHOWN: (usize, usize) = (20, 300);
/// How long the search for a place may take, and how long one comparison.
const PATIENCE: Duration = Duration::from_millis(300);

/// A place in a file that resembles a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Near {
    /// The first and the last line, from 1.
    lines: (usize, usize),
    difference: Difference,
    /// The text and the place, line by line.
    diff: String,
}

/// The smallest change that makes two texts equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Difference {
    Whitespace,
    Quotes,
    Case,
    Words,
}

impl fmt::Display for Near {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.lines {
            (first, last) if first == last => write!(f, "the nearest place is line {first}")?,
            (first, last) => write!(f, "the nearest place is lines {first}-{last}")?,
        }
        let how = match self.difference {
            Difference::Whitespace => ", which differs only in whitespace",
            Difference::Quotes => ", which differs only in quotes and whitespace",
            Difference::Case => ", which differs only in case, quotes and whitespace",
            Difference::Words => "",
        };
        write!(f, "{how} (`-` is `oldText`, `+` the file):\n{}", self.diff)
    }
}

/// The place in `body` that is most like `old`, if one is like it at all.
pub(super) fn nearest(body: &str, old: &str) -> Option<Near> {
    let lines: Vec<_> = body.lines().collect();
    let wanted: Vec<_> = old.lines().collect();
    let mut starts = by_equal_lines(&lines, &wanted);
    if starts.is_empty() {
        starts.extend(by_longest_line(&lines, &wanted));
    }
    let sought = bare(old);
    let mut best: Option<(f32, usize)> = None;
    for start in starts {
        let alike = alike(&sought, &bare(&window(&lines, start, wanted.len())));
        if alike >= ALIKE && best.is_none_or(|(other, _)| alike > other) {
            best = Some((alike, start));
        }
    }
    let (_, start) = best?;
    let place = window(&lines, start, wanted.len());
    Some(Near {
        lines: (start + 1, (start + wanted.len()).min(lines.len())),
        difference: difference(old, &place),
        diff: diff(old, &place),
    })
}

/// How alike two texts are, from 0 to 1. A text may begin and end within the lines of its place.
fn alike(sought: &str, place: &str) -> f32 {
    if sought.is_empty() {
        0.0
    } else if place.contains(sought) {
        1.0
    } else {
        TextDiff::configure()
            .timeout(PATIENCE)
            .diff_chars(sought, place)
            .ratio()
    }
}

/// Starts of places that share lines with `wanted`, those that share most first.
fn by_equal_lines(lines: &[&str], wanted: &[&str]) -> Vec<usize> {
    let mut at: HashMap<String, Vec<usize>> = HashMap::new();
    for (place, line) in wanted.iter().enumerate() {
        let line = bare(line);
        if !line.is_empty() {
            at.entry(line).or_default().push(place);
        }
    }
    let mut votes: HashMap<usize, usize> = HashMap::new();
    for (number, line) in lines.iter().enumerate() {
        for place in at.get(&bare(line)).into_iter().flatten() {
            if let Some(start) = number.checked_sub(*place) {
                *votes.entry(start).or_default() += 1;
            }
        }
    }
    let mut starts: Vec<_> = votes.into_iter().collect();
    starts.sort_by(|(a, votes), (b, others)| others.cmp(votes).then(a.cmp(b)));
    starts
        .into_iter()
        .take(COMPARED)
        .map(|(start, _)| start)
        .collect()
}

/// The start of the place whose line is most like the longest of `wanted`.
fn by_longest_line(lines: &[&str], wanted: &[&str]) -> Option<usize> {
    let deadline = Instant::now() + PATIENCE;
    let (place, probe) = wanted
        .iter()
        .map(|line| bare(line))
        .enumerate()
        .max_by_key(|(_, line)| line.len())?;
    let mut best: Option<(f32, usize)> = None;
    for (number, line) in lines.iter().enumerate().skip(place) {
        if Instant::now() > deadline {
            break;
        }
        let line = bare(line);
        let too_short = 2 * line.len() < probe.len();
        if too_short || (line.len() > 2 * probe.len() && !line.contains(&probe)) {
            continue;
        }
        let alike = alike(&probe, &line);
        if best.is_none_or(|(other, _)| alike > other) {
            best = Some((alike, number - place));
        }
    }
    best.map(|(_, start)| start)
}

fn window(lines: &[&str], start: usize, len: usize) -> String {
    let end = (start + len).min(lines.len());
    lines[start.min(end)..end].join("\n")
}

fn difference(old: &str, place: &str) -> Difference {
    let within = |change: fn(&str) -> String| {
        let old = change(old);
        // `oldText` may begin and end within lines.
        !old.is_empty() && change(place).contains(&old)
    };
    if within(without_space) {
        Difference::Whitespace
    } else if within(|text| straight(&without_space(text))) {
        Difference::Quotes
    } else if within(|text| straight(&without_space(text)).to_lowercase()) {
        Difference::Case
    } else {
        Difference::Words
    }
}

/// Text as it is compared: space at its ends dropped, other space as one blank, quotes straight, small letters.
fn bare(text: &str) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    straight(&words.join(" ")).to_lowercase()
}

fn without_space(text: &str) -> String {
    text.split_whitespace().collect()
}

fn straight(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\u{2018}' | '\u{2019}' | '\u{201C}' | '\u{201D}' | '\'' | '`' => '"',
            c => c,
        })
        .collect()
}

fn diff(old: &str, place: &str) -> String {
    let changes = TextDiff::from_lines(old.trim_end_matches('\n'), place);
    let mut text = String::new();
    let (most, width) = SHOWN;
    let mut left = 0;
    for (number, change) in changes.iter_all_changes().enumerate() {
        if number >= most {
            left += 1;
            continue;
        }
        let sign = match change.tag() {
            ChangeTag::Delete => '-',
            ChangeTag::Insert => '+',
            ChangeTag::Equal => ' ',
        };
        let line = change.value().trim_end_matches(['\n', '\r']);
        // Writing to a string does not fail.
        let _ = writeln!(text, "{sign}{}", &line[..line.floor_char_boundary(width)]);
    }
    if left > 0 {
        let _ = writeln!(text, "[{left} more lines]");
    }
    text.truncate(text.trim_end_matches('\n').len());
    text
}
