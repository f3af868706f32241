use std::{collections::BTreeSet, os::unix::fs::symlink};

use globset::GlobBuilder;
use proptest::prelude::*;
use serde_json::json;

use crate::tools::fixture::Bench;

fn tree() -> Bench {
    let bench = Bench::new();
    for path in [
        "Cargo.toml",
        "src/lib.rs",
        "src/tools/Cargo.toml",
        "src/tools/grep.rs",
        "src/tools.rs",
        "tests/a.test.ts",
        "tests/b.ts",
        "app/[slug]/page.tsx",
        ".github/ci.yml",
        ".env",
    ] {
        bench.file(path, "");
    }
    bench
}

async fn all(bench: &Bench, calls: impl IntoIterator<Item = serde_json::Value>) -> String {
    let mut texts = Vec::new();
    for args in calls {
        texts.push(format!(
            "> {args}\n{}",
            bench.done("glob", args.clone()).await
        ));
    }
    texts.concat()
}

#[tokio::test]
async fn paths_that_match_are_listed_in_their_order() {
    let calls = [
        json!({"pattern": "*.rs"}),
        json!({"pattern": "**"}),
        json!({"pattern": "**/*.{rs,toml}"}),
        json!({"pattern": "src/*"}),
        json!({"pattern": "*", "path": "src"}),
        json!({"pattern": "tools/*.rs", "path": "src"}),
        json!({"pattern": "./*.toml"}),
        json!({"pattern": "Cargo.toml"}),
        json!({"pattern": "src/lib.rs"}),
        json!({"pattern": "src"}),
        json!({"pattern": "s*/"}),
        json!({"pattern": "**/tools/"}),
        json!({"pattern": "app/[slug]/page.tsx"}),
        json!({"pattern": "app/[[]slug]/*"}),
        json!({"pattern": ".*"}),
        json!({"pattern": ".github/**"}),
        json!({"query": "tests/*.test.ts", "limit": 5.0}),
    ];
    insta::assert_snapshot!(all(&tree(), calls).await, @r#"
        > {"pattern":"*.rs"}
        src/lib.rs
        src/tools/grep.rs
        src/tools.rs
        > {"pattern":"**"}
        Cargo.toml
        app/
        app/[slug]/
        app/[slug]/page.tsx
        src/
        src/lib.rs
        src/tools/
        src/tools/Cargo.toml
        src/tools/grep.rs
        src/tools.rs
        tests/
        tests/a.test.ts
        tests/b.ts
        > {"pattern":"**/*.{rs,toml}"}
        Cargo.toml
        src/lib.rs
        src/tools/Cargo.toml
        src/tools/grep.rs
        src/tools.rs
        > {"pattern":"src/*"}
        src/lib.rs
        src/tools/
        src/tools.rs
        > {"pattern":"*","path":"src"}
        src/lib.rs
        src/tools/
        src/tools/Cargo.toml
        src/tools/grep.rs
        src/tools.rs
        > {"pattern":"tools/*.rs","path":"src"}
        src/tools/grep.rs
        > {"pattern":"./*.toml"}
        Cargo.toml
        > {"pattern":"Cargo.toml"}
        Cargo.toml
        src/tools/Cargo.toml
        > {"pattern":"src/lib.rs"}
        src/lib.rs
        > {"pattern":"src"}
        src/
        > {"pattern":"s*/"}
        src/
        > {"pattern":"**/tools/"}
        src/tools/
        > {"pattern":"app/[slug]/page.tsx"}
        app/[slug]/page.tsx
        > {"pattern":"app/[[]slug]/*"}
        app/[slug]/page.tsx
        > {"pattern":".*"}
        .env
        .github/
        > {"pattern":".github/**"}
        .github/ci.yml
        > {"query":"tests/*.test.ts","limit":5.0}
        tests/a.test.ts
        "#);
}

#[tokio::test]
async fn nothing_found_is_said_and_so_is_what_makes_no_sense() {
    let bench = tree();
    let calls = [
        json!({"pattern": "*.py"}),
        json!({"pattern": "*.py", "path": "src"}),
        json!({"pattern": "app/[slug]/*"}),
        json!({"pattern": "src/main.rs"}),
    ];
    insta::assert_snapshot!(all(&bench, calls).await, @r#"
        > {"pattern":"*.py"}
        [nothing in the working folder matches `*.py`; hidden and ignored files are left out unless they are named]
        > {"pattern":"*.py","path":"src"}
        [nothing in `src` matches `*.py`; hidden and ignored files are left out unless they are named]
        > {"pattern":"app/[slug]/*"}
        [nothing in the working folder matches `app/[slug]/*`; hidden and ignored files are left out unless they are named; `[` begins a set of characters, and `[[]` is the bracket itself]
        > {"pattern":"src/main.rs"}
        [nothing in the working folder matches `src/main.rs`; hidden and ignored files are left out unless they are named]
        "#);
    let mut faults = Vec::new();
    for args in [
        json!({}),
        json!({"pattern": ""}),
        json!({"pattern": "src/[a"}),
        json!({"pattern": "scr/*.rs"}),
        json!({"pattern": "Cargo.toml/*"}),
        json!({"pattern": "*", "path": "Cargo.toml"}),
        json!({"pattern": "*", "path": "scr"}),
        json!({"pattern": "*", "path": "agent://Scout"}),
        json!({"pattern": ".git/*"}),
        json!({"pattern": "*", "limit": 0}),
        json!({"pattern": "*", "include": "*.rs"}),
        json!({"patern": "*"}),
    ] {
        faults.push(bench.failed("glob", args).await);
    }
    insta::assert_snapshot!(faults.join("\n"), @"
    `pattern` is missing, expected a text
    `pattern` is ``, expected a glob such as `src/**/*.rs`
    `pattern` is `src/[a`, which is no glob: a `[` has no `]`; a special character that means itself is written in brackets, as `[[]`
    `scr` does not exist; near it: `src`
    `Cargo.toml` is no folder
    `Cargo.toml` is no folder
    `scr` does not exist; near it: `src`
    `agent://Scout` is an address, and only files are searched; `read` opens it
    `.git` is git's own and is not searched
    `limit` is `0`, expected a whole number from 1 to 2000
    unknown argument `include`, expected `pattern`, `path`, `limit`
    unknown argument `patern` (did you mean `pattern`?), expected `pattern`, `path`, `limit`
    ");
}

#[tokio::test]
async fn what_is_ignored_is_listed_only_when_it_is_named() {
    let bench = tree();
    bench.file(".gitignore", "/target\n*.log\n");
    bench.file("target/debug/app", "");
    bench.file("src/a.log", "");
    bench.file("src/.git/config", "");
    let calls = [
        json!({"pattern": "*.log"}),
        json!({"pattern": "app"}),
        json!({"pattern": "**/config"}),
        json!({"pattern": "src/a.log"}),
        json!({"pattern": "target"}),
        json!({"pattern": "target/*"}),
        json!({"pattern": "app", "path": "target"}),
    ];
    insta::assert_snapshot!(all(&bench, calls).await, @r#"
        > {"pattern":"*.log"}
        [nothing in the working folder matches `*.log`; hidden and ignored files are left out unless they are named]
        > {"pattern":"app"}
        app/
        > {"pattern":"**/config"}
        [nothing in the working folder matches `**/config`; hidden and ignored files are left out unless they are named]
        > {"pattern":"src/a.log"}
        src/a.log
        > {"pattern":"target"}
        target/
        > {"pattern":"target/*"}
        target/debug/
        > {"pattern":"app","path":"target"}
        target/debug/app
        "#);
}

#[tokio::test]
async fn patterns_may_lead_out_of_the_working_folder() {
    let mut bench = tree();
    bench.context.cwd = bench.path("src");
    let top = bench.folder.path().display().to_string();
    let calls = [
        json!({"pattern": "../*.toml"}),
        json!({"pattern": "../tests/*"}),
        json!({"pattern": format!("{top}/tests/*.ts")}),
        json!({"pattern": format!("{top}/src/*.rs")}),
    ];
    insta::assert_snapshot!(all(&bench, calls).await.replace(&top, "[TOP]"), @r#"
        > {"pattern":"../*.toml"}
        ../Cargo.toml
        > {"pattern":"../tests/*"}
        ../tests/a.test.ts
        ../tests/b.ts
        > {"pattern":"[TOP]/tests/*.ts"}
        [TOP]/tests/a.test.ts
        [TOP]/tests/b.ts
        > {"pattern":"[TOP]/src/*.rs"}
        lib.rs
        tools.rs
        "#);
}

#[tokio::test]
async fn links_are_listed_and_not_followed() {
    let bench = Bench::new();
    bench.file("real/a", "");
    symlink("..", bench.path("real/up")).unwrap();
    symlink("real", bench.path("linked")).unwrap();
    symlink("nowhere", bench.path("dangling")).unwrap();
    let calls = [json!({"pattern": "**"}), json!({"pattern": "linked/*"})];
    insta::assert_snapshot!(all(&bench, calls).await, @r#"
    > {"pattern":"**"}
    dangling
    linked/
    real/
    real/a
    real/up/
    > {"pattern":"linked/*"}
    linked/a
    linked/up/
    "#);
}

#[tokio::test]
async fn limits_say_how_much_is_left() {
    let bench = Bench::new();
    for n in 0..30 {
        bench.file(&format!("{n:02}.txt"), "");
    }
    let calls = [
        json!({"pattern": "*.txt", "limit": 3}),
        json!({"pattern": "*.txt", "limit": 29}),
    ];
    let text = all(&bench, calls).await;
    let text: Vec<_> = text
        .lines()
        .filter(|line| line.starts_with(['[', '>']))
        .collect();
    insta::assert_snapshot!(text.join("\n"), @r#"
        > {"pattern":"*.txt","limit":3}
        [3 shown, 27 more; narrow it by `path` or a longer `pattern`, or raise `limit`]
        > {"pattern":"*.txt","limit":29}
        [29 shown, 1 more; narrow it by `path` or a longer `pattern`, or raise `limit`]
        "#);
    assert_eq!(
        bench
            .done("glob", json!({"pattern": "*", "limit": 30}))
            .await
            .lines()
            .count(),
        30
    );
    let short = bench.with_limit(1_200);
    let text = short.done("glob", json!({"pattern": "*"})).await;
    assert!(text.len() <= 1_200, "{}", text.len());
    insta::assert_snapshot!(text.lines().last().unwrap(), @"[25 shown, 5 more; narrow it by `path` or a longer `pattern`]");
}

#[tokio::test]
async fn a_cancelled_search_ends() {
    let bench = tree();
    bench.context.cancel.cancel();
    let args = json!({"pattern": "*"});
    assert_eq!(bench.failed("glob", args.clone()).await, "cancelled");
    assert_eq!(super::glob(&args, &bench.context), Err("cancelled".into()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_listed_is_what_matches_and_is_not_ignored(
        files in prop::collection::btree_map("(x/|y/)?(z/)?[abc]{1,2}\\.(rs|md)", prop::bool::weighted(0.2), 0..10),
        pattern in prop::sample::select(vec![
            "*.rs", "**/*.rs", "x/*", "x/**", "{x,y}/z/*", "**/z/*.md", "?.rs", "[ab].*", "*/a*", "x/z/a.rs", "b.md",
        ]),
    ) {
        let bench = Bench::new();
        let rules: Vec<_> = files.iter().filter(|(_, ignored)| **ignored).map(|(path, _)| format!("/{path}\n")).collect();
        bench.file(".gitignore", rules.concat());
        let mut entries = BTreeSet::new();
        for (path, ignored) in &files {
            bench.file(path, "");
            // A path that is spelled out is meant even so.
            if !ignored || path == pattern {
                entries.insert(path.clone());
            }
            for (place, _) in path.match_indices('/') {
                entries.insert(path[..=place].to_owned());
            }
        }
        let anywhere = if pattern.contains('/') { pattern.to_owned() } else { format!("**/{pattern}") };
        let glob = GlobBuilder::new(&anywhere).literal_separator(true).build().unwrap().compile_matcher();
        entries.retain(|path| glob.is_match(path.trim_end_matches('/')));
        let text = super::glob(&json!({"pattern": pattern}), &bench.context);
        let text = text.unwrap_or_else(|fault| {
            assert!(fault.contains("does not exist"), "{fault}");
            String::new()
        });
        let listed: Vec<_> = text.lines().filter(|line| !line.starts_with('[')).map(str::to_owned).collect();
        let count = listed.len();
        let listed: BTreeSet<_> = listed.into_iter().collect();
        prop_assert_eq!(listed.len(), count);
        prop_assert_eq!(listed, entries);
    }
}
