//! Files that code writes: the JSON Schemas and the settings page.
//!
//! `UPDATE=1 cargo test --test generated` writes them anew.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::{fs, path::Path};

fn check(path: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if std::env::var_os("UPDATE").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        return;
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == text,
        "`{}` is stale; run `UPDATE=1 cargo test --test generated`",
        path.display()
    );
}

fn pretty(value: &serde_json::Value) -> String {
    serde_json::to_string_pretty(value).unwrap() + "\n"
}

#[test]
fn the_schemas_are_those_of_the_types() {
    for (name, schema) in sortie_protocol::schemas::all() {
        check(&format!("schemas/{name}.json"), &pretty(&schema));
    }
    check(
        "schemas/settings.json",
        &pretty(&sortie_config::settings_schema()),
    );
}

#[test]
fn the_settings_page_is_that_of_the_table() {
    check("docs/settings.md", &sortie_config::settings_markdown());
}
