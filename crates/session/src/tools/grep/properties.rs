use std::{collections::BTreeMap, ops::Range};

use proptest::prelude::*;
use regex::{Regex, RegexBuilder};
use serde_json::{Value, json};

use crate::tools::fixture::Bench;

/// A tree: whether the ignore file names a file, and its text, by path.
type Tree = BTreeMap<String, (bool, String)>;
/// Numbers and texts of lines, by path.
type Lines = BTreeMap<String, Vec<(usize, String)>>;

fn any_tree() -> impl Strategy<Value = Tree> {
    let line = "[abX. ]{0,6}(\r\n|\n)";
    let text = (prop::collection::vec(line, 0..12), "[abX. ]{0,3}");
    let text = text.prop_map(|(lines, last)| lines.concat() + &last);
    let file = (prop::bool::weighted(0.2), text);
    prop::collection::btree_map("(x/|y/)?(z/)?[abc]\\.(rs|md)", file, 0..8)
}

fn of_one_line() -> impl Strategy<Value = &'static str> {
    let patterns = [
        "a", "[ab]\\.", "^a", "X$", "[^a]b", "a*", "(a|b)+X", "^$", "\\bX", "ab|X", ".", "\\sb",
    ];
    prop::sample::select(patterns.to_vec())
}

fn of_several_lines() -> impl Strategy<Value = &'static str> {
    let patterns = ["a\\r?\\n", "X\\s+a", "b[^X]*X", "(?s)a.*b", "a$\\s^b", "X"];
    prop::sample::select(patterns.to_vec())
}

fn grown(tree: &Tree) -> Bench {
    let bench = Bench::new();
    let ignored = tree.iter().filter(|(_, (is_ignored, _))| *is_ignored);
    let rules: Vec<_> = ignored.map(|(path, _)| format!("/{path}\n")).collect();
    bench.file(".ignore", rules.concat());
    for (path, (_, text)) in tree {
        bench.file(path, text);
    }
    bench
}

fn answer(bench: &Bench, args: &Value) -> String {
    super::grep(args, &bench.context).unwrap()
}

/// Reads an answer back: matches, and whether anything else is said.
fn matches_in(answer: &str) -> Lines {
    let mut lines = Lines::new();
    if answer.starts_with('[') {
        return lines;
    }
    for block in answer.split("\n\n") {
        let mut block = block.lines();
        let path = block.next().unwrap();
        let found = block.filter_map(|line| {
            let (number, text) = line.split_once(": ")?;
            Some((number.parse().ok()?, text.to_owned()))
        });
        lines.insert(path.to_owned(), found.collect());
    }
    lines
}

fn regex(pattern: &str, ignores_case: bool) -> Regex {
    let mut builder = RegexBuilder::new(pattern);
    builder
        .case_insensitive(ignores_case)
        .multi_line(true)
        .crlf(true);
    builder.build().unwrap()
}

/// Every line of `text` without its end, and where it is.
fn lines_of(text: &str) -> Vec<(Range<usize>, &str)> {
    let mut from = 0;
    let place = |line| {
        let start = from;
        from += str::len(line);
        (start..from, line.trim_end_matches(['\r', '\n']))
    };
    text.split_inclusive('\n').map(place).collect()
}

/// The lines of a tree for which `is_match`, given its file's text and its place in there.
fn expected(tree: &Tree, is_match: impl Fn(&str, &Range<usize>, &str) -> bool) -> Lines {
    let mut expected = Lines::new();
    for (path, (is_ignored, text)) in tree {
        let numbered = lines_of(text).into_iter().zip(1..);
        let found: Vec<_> = numbered
            .filter(|((place, line), _)| is_match(text, place, line))
            .map(|((_, line), number)| (number, line.to_owned()))
            .collect();
        if !is_ignored && !found.is_empty() {
            expected.insert(path.clone(), found);
        }
    }
    expected
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_found_is_what_a_plain_scan_finds(
        tree in any_tree(),
        pattern in of_one_line(),
        ignores_case in any::<bool>(),
        multiline in any::<bool>(),
    ) {
        let bench = grown(&tree);
        let args = json!({"pattern": pattern, "ignoreCase": ignores_case, "limit": 2000});
        let found = matches_in(&answer(&bench, &args));
        let regex = regex(pattern, ignores_case);
        prop_assert_eq!(&found, &expected(&tree, |_, _, line| regex.is_match(line)));
        if multiline && !regex.is_match("") && !pattern.contains("[^") && pattern != "\\sb" {
            let mut args = args;
            args["multiline"] = true.into();
            prop_assert_eq!(&found, &matches_in(&answer(&bench, &args)));
        }
    }

    #[test]
    fn a_match_over_several_lines_shows_all_of_them(
        tree in any_tree(),
        pattern in of_several_lines(),
    ) {
        let bench = grown(&tree);
        let args = json!({"pattern": pattern, "multiline": true, "limit": 2000});
        let found = matches_in(&answer(&bench, &args));
        let regex = regex(pattern, false);
        let expected = expected(&tree, |text, place, _| {
            regex.find_iter(text).any(|found| found.start() < place.end && place.start < found.end())
        });
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn an_answer_keeps_its_limits_and_shows_nothing_that_is_not_there(
        tree in any_tree(),
        pattern in of_one_line(),
        (before, after) in (0..4_usize, 0..4_usize),
        limit in 1..20_usize,
        bytes in 1_400..2_000_usize,
    ) {
        let bench = grown(&tree).with_limit(bytes);
        let args = json!({"pattern": pattern, "before": before, "after": after, "limit": limit});
        let text = answer(&bench, &args);
        prop_assert!(text.len() <= bytes, "{}", text.len());
        let all = expected(&tree, |_, _, _| true);
        let is_match = regex(pattern, false);
        let mut shown = 0;
        for block in text.split("\n\n").filter(|block| !block.starts_with('[')) {
            let mut lines = block.lines();
            let file = &all[lines.next().unwrap()];
            let mut last = 0;
            for line in lines.filter(|line| !line.starts_with('[') && *line != "--") {
                let sign = line.find([':', '-']).unwrap();
                let number: usize = line[..sign].parse().unwrap();
                let there = (number, line[sign + 2..].to_owned());
                prop_assert!(file.contains(&there), "{line:?} {text}");
                prop_assert!(number > last, "{text}");
                last = number;
                if line[sign..].starts_with(':') {
                    shown += 1;
                    prop_assert!(is_match.is_match(&there.1), "{line}");
                } else {
                    let near = number.saturating_sub(after).max(1)..=number + before;
                    let is_near = file
                        .iter()
                        .any(|(other, line)| near.contains(other) && is_match.is_match(line));
                    prop_assert!(is_near, "{line:?} {text}");
                }
            }
        }
        prop_assert!(shown <= limit, "{text}");
        let found: usize = expected(&tree, |_, _, line| is_match.is_match(line)).values().map(Vec::len).sum();
        prop_assert_eq!(shown < found, text.contains("more matching line") || text.contains("match; ") || text.contains("matches; "), "{}", text);
    }
}
