//! Shapes that leave little to leave out.

use super::{
    checked::{covers, is_a_tenth},
    tests::{filled, summary_of},
};

/// The summary of a long file called `name`, which keeps what every summary has to.
fn checked(name: &str, text: &str) -> String {
    let summary = summary_of(name, text).unwrap_or_else(|| panic!("{name} has no summary"));
    covers(&summary, text);
    is_a_tenth(&summary, text);
    summary
}

fn many(count: usize, each: impl Fn(usize) -> String) -> String {
    (0..count).map(each).collect::<Vec<_>>().concat()
}

/// The beginning of a summary, its middle, and its end.
fn glimpse(summary: &str) -> String {
    let lines: Vec<_> = summary.lines().skip(1).collect();
    let middle = lines.len() / 2;
    [
        &lines[..2],
        &lines[middle..middle + 2],
        &lines[lines.len() - 2..],
    ]
    .concat()
    .join("\n")
}

#[test]
fn thousands_of_functions_of_one_line() {
    let texts = [
        ("a.rs", many(5_000, |n| format!("pub fn f{n}() {{}}\n"))),
        ("a.py", many(5_000, |n| format!("def f{n}(): pass\n"))),
        (
            "a.ts",
            many(5_000, |n| format!("export const f{n} = () => {n};\n")),
        ),
        ("a.js", many(5_000, |n| format!("function f{n}() {{}}\n"))),
        (
            "a.go",
            format!(
                "package a\n{}",
                many(5_000, |n| format!("func f{n}() {{}}\n"))
            ),
        ),
    ];
    let glimpses = texts.map(|(name, text)| glimpse(&checked(name, &text)));
    insta::assert_snapshot!(glimpses.join("\n--\n"), @"
    1: pub fn f0() {} … 2-29 (28 functions)
    30: pub fn f29() {} … 31-59 (29 functions)
    2486: pub fn f2485() {} … 2487-2514 (28 functions)
    2515: pub fn f2514() {} … 2516-2544 (29 functions)
    4941: pub fn f4940() {} … 4942-4970 (29 functions)
    4971: pub fn f4970() {} … 4972-5000 (29 functions)
    --
    1: def f0(): pass … 2-29 (28 functions)
    30: def f29(): pass … 31-59 (29 functions)
    2486: def f2485(): pass … 2487-2514 (28 functions)
    2515: def f2514(): pass … 2516-2544 (29 functions)
    4941: def f4940(): pass … 4942-4970 (29 functions)
    4971: def f4970(): pass … 4972-5000 (29 functions)
    --
    1: export const f0 = () => 0; … 2-20 (19 functions)
    21: export const f20 = () => 20; … 22-41 (20 functions)
    2490: export const f2489 = () => 2489; … 2491-2510 (20 functions)
    2511: export const f2510 = () => 2510; … 2512-2531 (20 functions)
    4959: export const f4958 = () => 4958; … 4960-4979 (20 functions)
    4980: export const f4979 = () => 4979; … 4981-5000 (20 functions)
    --
    1: function f0() {} … 2-27 (26 functions)
    28: function f27() {} … 29-55 (27 functions)
    2501: function f2500() {} … 2502-2527 (26 functions)
    2528: function f2527() {} … 2529-2555 (27 functions)
    4945: function f4944() {} … 4946-4972 (27 functions)
    4973: function f4972() {} … 4974-5000 (27 functions)
    --
    … 1
    2: func f0() {} … 3-33 (31 functions)
    2469: func f2467() {} … 2470-2501 (32 functions)
    2502: func f2500() {} … 2503-2533 (31 functions)
    4937: func f4935() {} … 4938-4968 (31 functions)
    4969: func f4967() {} … 4970-5001 (32 functions)
    ");
}

#[test]
fn larger_functions_are_shown_before_smaller_ones() {
    let text = many(1_200, |n| match n % 100 {
        0 => filled(&format!("fn large{n}() {{\n    ~120\n}}\n")),
        _ => format!("fn small{n}() {{\n    x();\n}}\n"),
    });
    let summary = checked("a.rs", &text);
    assert_eq!(summary.matches("fn large").count(), 12);
    assert!(summary.matches("fn small").count() > 50, "{summary}");
}

#[test]
fn one_huge_thing() {
    let texts = [
        (
            "a.rs",
            format!(
                "pub enum E {{\n{}}}\n",
                many(5_000, |n| format!("    Variant{n},\n"))
            ),
        ),
        (
            "a.rs",
            format!(
                "fn f(x: u8) {{\n    match x {{\n{}    }}\n}}\n",
                many(5_000, |n| format!("        {n} => {{}}\n"))
            ),
        ),
        ("a.rs", filled("fn f() {\n    ~5000\n}\n")),
        (
            "a.rs",
            format!(
                "use a::{{\n{}}};\nfn f() {{}}\n",
                many(5_000, |n| format!("    name{n},\n"))
            ),
        ),
        (
            "a.rs",
            format!(
                "{}fn f() {{}}\n",
                many(5_000, |n| format!("use a::name{n};\n"))
            ),
        ),
        (
            "a.rs",
            many(5_000, |n| format!("pub const NAME{n}: u32 = {n};\n")),
        ),
        (
            "a.py",
            format!(
                "X = {{\n{}}}\n",
                many(5_000, |n| format!("    'key{n}': {n},\n"))
            ),
        ),
        (
            "a.ts",
            format!(
                "export const x = {{\n{}}};\n",
                many(5_000, |n| format!("  key{n}: {n},\n"))
            ),
        ),
        (
            "a.go",
            format!(
                "package a\nconst (\n{})\n",
                many(5_000, |n| format!("\tName{n} = {n}\n"))
            ),
        ),
    ];
    let mut summaries = Vec::new();
    for (name, text) in texts {
        let summary = checked(name, &text);
        let mut lines: Vec<_> = summary.lines().skip(1).collect();
        lines.truncate(4);
        summaries.push(lines.join("\n"));
    }
    insta::assert_snapshot!(summaries.join("\n--\n"), @"
    1: pub enum E { … 2-2001, 2002-4001, 4002-5002 (5000 members)
    --
    1: fn f(x: u8) {
    2:   match x { … 3-2002, 2003-4002, 4003-5004
    --
    1: fn f() { … 2-1226, 1227-2424, 2425-3622, 3623-4820, 4821-5002
    --
    1: use a::{ … 2-2001, 2002-4001, 4002-5002
    5003: fn f() {}
    --
    1: use a::name0; … 2-2001, 2002-4001, 4002-5000 (4999 imports)
    5001: fn f() {}
    --
    1: pub const NAME0: u32 = 0; … 2-21 (20 constants)
    22: pub const NAME21: u32 = 21; … 23-42 (20 constants)
    43: pub const NAME42: u32 = 42; … 44-63 (20 constants)
    64: pub const NAME63: u32 = 63; … 65-84 (20 constants)
    --
    1: X = { … 2-2001, 2002-4001, 4002-5002
    --
    1: export const x = { … 2-2001, 2002-4001, 4002-5002
    --
    … 1-2
    3: Name0 = 0 … 4-32 (29 constants)
    33: Name30 = 30 … 34-63 (30 constants)
    64: Name61 = 61 … 65-94 (30 constants)
    ");
}

#[test]
fn deep_nesting() {
    let nested = |open: &str, close: &str, depth: usize| {
        format!(
            "{}{}",
            format!("{open}\n").repeat(depth),
            format!("{close}\n").repeat(depth)
        )
    };
    let texts = [
        ("a.rs", nested("mod module_of_many {", "}", 2_500)),
        ("a.ts", nested("namespace Inner {", "}", 2_500)),
        ("a.js", nested("function inner() {", "}", 2_500)),
        (
            "a.py",
            many(90, |n| format!("{}class A{n}:\n", " ".repeat(n)))
                + &format!("{}pass\n", " ".repeat(91)).repeat(5_000),
        ),
        (
            "a.rs",
            format!(
                "fn f() {{\n    let x =\n{}        1;\n}}\n",
                "        1 + 1 * 2 +\n".repeat(5_000)
            ),
        ),
        (
            "a.js",
            format!(
                "function f() {{\n  return {}1{};\n}}\n",
                "g(\n".repeat(2_500),
                ")\n".repeat(2_500)
            ),
        ),
    ];
    for (name, text) in texts {
        checked(name, &text);
    }
}

#[test]
fn names_as_long_as_a_line_can_be() {
    let text = many(5_000, |n| {
        format!("pub fn f{n}_{}() {{}}\n", "x".repeat(150))
    });
    let summary = checked("a.rs", &text);
    assert!(summary.len() <= 48 << 10);
}
