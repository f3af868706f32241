//! Files that code writes: the JSON Schemas and the settings page.
//!
//! `UPDATE=1 cargo test --test generated` writes them anew.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::{fs, path::Path, process::Command};

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

#[test]
fn the_schemas_are_those_that_are_printed() {
    let schema = |args: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_sortie"))
            .arg("schema")
            .args(args)
            .output()
            .unwrap();
        assert!(output.status.success(), "{args:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let list = schema(&[]);
    let names: Vec<_> = list
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    for name in &names {
        check(&format!("schemas/{name}.json"), &schema(&[name]));
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas");
    for file in fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        assert!(
            names.contains(&name),
            "`schemas/{name}.json` is no schema of ours"
        );
    }
}

#[test]
fn the_settings_page_is_that_of_the_table() {
    check("docs/settings.md", &sortie_config::settings_markdown());
}
