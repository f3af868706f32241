use std::path::Path;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::shown::shown;

fn parse(text: &str) -> Node {
    Node::parse(&Source::new("t.yml", text)).unwrap()
}

#[test]
fn every_value_knows_where_it_stands() {
    let source = Source::new("t.yml", "é: one\nlist:\n  - a\n  - {k: 12}\n");
    let node = Node::parse(&source).unwrap();
    let item = &node.get("list").unwrap().as_list().unwrap()[1];
    let number = item.get("k").unwrap();
    assert_eq!(source.position(number.span.start), (4, 9));
    assert_eq!(&source.text()[number.span.clone()], "12");
    let (key, _) = &node.as_map().unwrap()[1];
    assert_eq!(source.position(key.span.start), (2, 1));
}

#[test]
fn text_is_kept_as_written() {
    let node =
        parse("a: 007\nb: 1.10\nc: yes\nd: true\ne: 0x1F\nf: '12'\ng: ~\nh:\ni: 1e3\nj: no\n");
    let text = |key: &str| node.get(key).unwrap().as_text();
    assert_eq!(text("a"), Some("007"));
    assert_eq!(text("b"), Some("1.10"));
    assert_eq!(text("c"), Some("yes"));
    assert_eq!(text("d"), Some("true"));
    assert_eq!(text("f"), Some("12"));
    assert_eq!(text("g"), None);
    assert_eq!(text("h"), None);
    assert_eq!(text("j"), Some("no"));
    assert_eq!(node.get("d").unwrap().to_json(), json!(true));
}

#[test]
fn json_reads_as_json() {
    let text = "{\"a\": [1, 2.5, null, true, \"\\ud83d\\ude00\"], \"b\": {\"c\": \"x\\/y\"}}";
    assert_eq!(
        parse(text).to_json(),
        serde_json::from_str::<Value>(text).unwrap()
    );
}

#[test]
fn duplicate_keys_are_a_problem_at_the_second() {
    let fault = |text: &str| {
        let source = Source::new("t.yml", text);
        shown([&Node::parse(&source).unwrap_err()], Path::new("/nowhere"))
    };
    insta::assert_snapshot!(fault("a: 1\nb: 2\na: 3\n"), @"
    t.yml:3:1: error: `a` is said twice
      keep one of the two
    ");
    insta::assert_snapshot!(fault("b: {c: 1, 'c': 3}\n"), @"
    t.yml:1:11: error: `c` is said twice
      keep one of the two
    ");
    // JSON of whoever else forgives it.
    insta::assert_snapshot!(fault(r#"{"a": 1, "a": 2}"#), @"
    t.yml:1:10: error: `a` is said twice
      keep one of the two
    ");
    insta::assert_snapshot!(fault("{[1]: 1, [1]: 2}"), @"
    t.yml:1:10: error: a key is said twice
      keep one of the two
    ");
    insta::assert_snapshot!(fault("a: !!binary /w==\n"), @"
    t.yml:1:13: error: a `!!binary` value is not text
      write it as plain text
    ");
}

#[test]
fn an_error_knows_where_it_is() {
    let cases = [
        ("a: 1\nb: [\n", (2, 4)),
        ("é: 1\nü: \"x\n", (2, 4)),
        ("a: 1\nb: 2\n c: 3\n", (3, 3)),
        ("d: Use when: x\n", (1, 12)),
        ("a: *x\n", (1, 4)),
    ];
    for (text, position) in cases {
        let problem = Node::parse(&Source::new("t.yml", text)).unwrap_err();
        assert_eq!(problem.position(), Some(position), "{text:?}");
        assert!(!problem.message().contains(" at line "), "{problem}");
    }
}

#[test]
fn an_error_in_a_part_is_placed_in_the_whole() {
    let text = "---\na: 1\nb: [\n---\nbody\n";
    let source = Source::new("t.md", text);
    let problem = Node::parse_part(&source, 4..text.find("\n---\nbody").unwrap() + 1).unwrap_err();
    assert_eq!(problem.position(), Some((3, 4)));
}

proptest! {
    #[test]
    fn json_comes_back(texts in prop::collection::btree_map("[a-z]{1,6}", ".{0,20}", 0..6)) {
        let value = json!({"map": texts, "n": [1, -2, 3.5]});
        let text = serde_json::to_string(&value).unwrap();
        prop_assert_eq!(parse(&text).to_json(), value);
    }

    #[test]
    fn no_text_makes_it_panic(text in "(?s).{0,200}") {
        let _ = Node::parse(&Source::new("t.yml", text));
    }
}

#[test]
fn an_alias_means_what_it_names() {
    let text = "first: &d {y: yes, no: off, b: True, n: 1}\nsecond: *d\nthird: [&t false, *t]\n";
    let node = Node::parse(&Source::new("a.yaml", text)).unwrap().to_json();
    assert_eq!(node["second"], node["first"]);
    assert_eq!(
        node["first"],
        serde_json::json!({"y": "yes", "no": "off", "b": true, "n": 1})
    );
    assert_eq!(node["third"], serde_json::json!([false, false]));
}
