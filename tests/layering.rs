//! The rooms know only the rooms below them.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::{
    collections::{BTreeMap, BTreeSet},
    process::Command,
};

use serde_json::Value;

/// Which rooms each room may know.
const ARROWS: [(&str, &[&str]); 10] = [
    ("protocol", &[]),
    ("schema", &[]),
    ("prompts", &[]),
    ("config", &["protocol"]),
    ("discovery", &["config", "prompts", "protocol"]),
    (
        "policy",
        &["config", "discovery", "prompts", "protocol", "schema"],
    ),
    ("session", &["prompts", "protocol", "schema"]),
    (
        "executor",
        &[
            "config",
            "discovery",
            "policy",
            "prompts",
            "protocol",
            "schema",
        ],
    ),
    ("testkit", &["protocol"]),
    (
        "sortie",
        &[
            "config",
            "discovery",
            "executor",
            "policy",
            "prompts",
            "protocol",
            "schema",
            "session",
        ],
    ),
];

/// Rooms that any room may know for its tests.
const FOR_TESTS: &str = "testkit";

fn room(package: &str) -> Option<&str> {
    if package == "sortie" {
        Some(package)
    } else {
        package.strip_prefix("sortie-")
    }
}

fn metadata() -> Value {
    let output = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--no-deps",
            "--offline",
            "--format-version",
            "1",
        ])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn no_arrow_runs_up() {
    let allowed: BTreeMap<&str, BTreeSet<&str>> = ARROWS
        .iter()
        .map(|(room, below)| (*room, below.iter().copied().collect()))
        .collect();
    let metadata = metadata();
    let mut seen = BTreeSet::new();
    for package in metadata["packages"].as_array().unwrap() {
        let name = room(package["name"].as_str().unwrap()).expect("a package that is no room");
        let below = allowed
            .get(name)
            .unwrap_or_else(|| panic!("`{name}` is not in the plan of the house"));
        seen.insert(name);
        for dependency in package["dependencies"].as_array().unwrap() {
            let Some(other) = room(dependency["name"].as_str().unwrap()) else {
                continue;
            };
            let for_tests = dependency["kind"] == "dev" && other == FOR_TESTS;
            assert!(
                for_tests || below.contains(other),
                "`{name}` may not know `{other}`"
            );
        }
    }
    assert_eq!(seen, allowed.into_keys().collect(), "a room is missing");
}
