use proptest::prelude::*;
use serde_json::json;
use sortie_protocol::{Effort, EffortWord, SpawnRule};

use super::*;
use crate::{HandOver, ToolKind};

fn parse(text: &str) -> Result<AgentDefinition, Problem> {
    AgentDefinition::parse("agents/a.md", text, AgentSource::Project)
}

fn agent(header: &str) -> AgentDefinition {
    parse(&format!(
        "---\nname: a\ndescription: d\n{header}\n---\nBody\n"
    ))
    .unwrap()
}

fn shown(problem: &Problem) -> String {
    let place = problem
        .position()
        .map_or_else(String::new, |(line, column)| format!("{line}:{column}: "));
    let help = problem.advice().map(|help| format!(" ({help})"));
    format!("{place}{}{}", problem.message(), help.unwrap_or_default())
}

fn refused(header: &str) -> String {
    let text = format!("---\nname: a\ndescription: d\n{header}\n---\nBody\n");
    shown(&parse(&text).unwrap_err())
}

fn warnings(agent: &AgentDefinition) -> String {
    agent
        .warnings
        .iter()
        .map(shown)
        .collect::<Vec<_>>()
        .join("\n")
}

fn tools(agent: &AgentDefinition) -> Vec<&str> {
    agent
        .tools
        .entries()
        .iter()
        .map(|entry| match entry.kind {
            ToolKind::Known(tool) => tool.name,
            _ => entry.written.as_str(),
        })
        .collect()
}

fn words(field: Option<&Field<Vec<Field<String>>>>) -> Vec<&str> {
    field.map_or_else(Vec::new, |field| {
        field.value.iter().map(|word| word.value.as_str()).collect()
    })
}

/// C01.
#[test]
fn bytes_that_do_not_matter_change_nothing() {
    let tally = parse(
        "\u{feff}---\r\nname: tally\r\ndescription: Counts lines\r\ntools: read, grep\r\n---\r\nCount and report.\r\n",
    )
    .unwrap();
    let plain = parse(
        "---\nname: plain\ndescription: Same as tally\ntools: read, grep\n---\nCount and report.\n",
    )
    .unwrap();
    assert_eq!(tools(&tally), tools(&plain));
    assert_eq!(tally.instructions, plain.instructions);
    assert_eq!(tally.name.value, "tally");
    assert!(!tally.file.text().contains(['\r', '\u{feff}']));

    let headonly =
        parse("---\nname: headonly\ndescription: No body and no last newline\n---").unwrap();
    assert_eq!(headonly.instructions, "");
    insta::assert_snapshot!(warnings(&headonly), @"4:1: there are no instructions below the header (say there what the agent is to do, and how)");
}

/// C02.
#[test]
fn a_colon_in_a_text_field_is_read_and_warned_about() {
    let text = "---\nname: units\ndescription: Checks three things: sizes, dates, totals\nmodel: mock/small\ntools: read\n---\nCheck.\n";
    let units = parse(text).unwrap();
    assert_eq!(
        units.description.value,
        "Checks three things: sizes, dates, totals"
    );
    assert_eq!(
        &text[units.description.span.clone()],
        units.description.value
    );
    assert_eq!(words(units.model.as_ref()), ["mock/small"]);
    assert_eq!(tools(&units), ["read"]);
    insta::assert_snapshot!(warnings(&units), @r#"3:14: the text of `description` is not valid YAML as it stands (it was read as one line of text; write `description: "Checks three things: sizes, dates, totals"`)"#);
}

#[test]
fn only_one_line_of_text_is_ever_recovered() {
    let at = agent("model: @slow");
    assert_eq!(words(at.model.as_ref()), ["@slow"]);
    insta::assert_snapshot!(warnings(&at), @r#"4:8: the text of `model` is not valid YAML as it stands (it was read as one line of text; write `model: "@slow"`)"#);
    insta::assert_snapshot!(refused("prewalk: one: two\n  three"), @"4:13: mapping values are not allowed in this context (put text that holds `: ` in quotes, and begin every key of the header in the first column)");
    insta::assert_snapshot!(refused("tools: [read, grep"), @"4:8: unclosed bracket '['");
    insta::assert_snapshot!(refused("output: a: b"), @"4:10: mapping values are not allowed in this context (put text that holds `: ` in quotes, and begin every key of the header in the first column)");
    insta::assert_snapshot!(refused("model: x: y\ntools: [read"), @"5:8: unclosed bracket '['");
    insta::assert_snapshot!(refused("model: x: y\nmodel: z"), @"4:1: `model` is said twice (keep one of the two)");
}

/// C03.
#[test]
fn a_broken_header_is_refused_where_it_breaks() {
    let poet = "---\nname: poet\ndescription: Writes verse. Samples:\n<sample>\nann: \"two lines please\"\n</sample>\ntools: read\n---\nWrite.\n";
    insta::assert_snapshot!(shown(&parse(poet).unwrap_err()), @"4:1: simple key expected ':'");
    assert_eq!(
        AgentDefinition::intended_name(poet).as_deref(),
        Some("poet")
    );
    let shift = "---\n name: shift\n   description: bad indent\n---\nWork.\n";
    insta::assert_snapshot!(shown(&parse(shift).unwrap_err()), @"3:15: mapping values are not allowed in this context (put text that holds `: ` in quotes, and begin every key of the header in the first column)");
    assert_eq!(
        AgentDefinition::intended_name(shift).as_deref(),
        Some("shift")
    );
}

/// C04.
#[test]
fn every_spelling_of_a_tool_list_means_the_same() {
    for list in [
        "tools: read, grep ,glob,",
        "tools: [read, grep, glob, read]",
        "tools:\n  - read\n  - grep\n  - glob",
        "tools: [Read, search, FIND]",
        "tools: 'read,grep,glob'",
    ] {
        assert_eq!(tools(&agent(list)), ["read", "grep", "glob"], "{list}");
    }
    assert_eq!(tools(&agent("tools: read")), ["read"]);
}

/// C05, as far as a file goes.
#[test]
fn absent_empty_and_unknown_tools_are_told_apart() {
    assert_eq!(agent("").tools, Tools::Absent);
    assert!(matches!(agent("tools: []").tools, Tools::Empty { .. }));
    assert_eq!(warnings(&agent("tools: []")), "");
    for none in ["tools:", "tools: \"\"", "tools: ','"] {
        let agent = agent(none);
        assert!(matches!(agent.tools, Tools::Empty { .. }), "{none}");
        assert!(warnings(&agent).starts_with("4:"), "{none}");
    }
    insta::assert_snapshot!(warnings(&agent("tools:")), @"4:6: `tools` has no value, so this agent has no tool but `yield` (write `tools: []` to say so, or remove the key for every tool that the caller may give)");
    let star = agent("tools: '*'");
    assert_eq!(star.tools, Tools::Absent);
    insta::assert_snapshot!(warnings(&star), @r#"4:8: `tools: "*"` is the same as no `tools` at all"#);
    let odd = agent("tools: [read, grpe, lsp, mcp__a__b, 'bash(git log:*, x)']");
    assert_eq!(odd.tools.entries().len(), 5);
    insta::assert_snapshot!(warnings(&odd), @"
    4:15: `grpe` is no tool; it is left out (did you mean `grep`?)
    4:21: `lsp` is not built yet; it is left out
    4:26: `mcp__a__b`: tools of MCP servers are not built yet; it is left out
    4:38: `bash(git log:*, x)`: patterns are not enforced yet, so this agent is refused when it is asked for (name the tool without a pattern to give it whole, or remove it)
    ");
    insta::assert_snapshot!(refused("tools: {read: true}"), @"4:8: `tools` is a map, not a list");
    insta::assert_snapshot!(refused("tools: [read, [grep]]"), @"4:15: an entry of `tools` is a list, not text");
    insta::assert_snapshot!(refused("tools:\n  - read\n  -"), @"6:4: an entry of `tools` is nothing, not text");
}

#[test]
fn every_word_of_a_list_knows_its_place() {
    let agent = agent("tools: 'read, ab, a'");
    let text = agent.file.text();
    for entry in agent.tools.entries() {
        assert_eq!(&text[entry.span.clone()], entry.written);
    }
}

#[test]
fn spawns_say_whom() {
    let rule = |header: &str| agent(header).spawn_rule();
    let only = |names: &[&str]| SpawnRule::Only(names.iter().map(|&n| n.to_owned()).collect());
    assert_eq!(rule(""), SpawnRule::None);
    assert_eq!(rule("tools: read"), SpawnRule::None);
    assert_eq!(rule("tools: read, task"), SpawnRule::Any);
    assert_eq!(rule("tools: task\nspawns: []"), SpawnRule::None);
    assert_eq!(rule("spawns: '*'"), SpawnRule::Any);
    assert_eq!(rule("spawns: ['*']"), SpawnRule::Any);
    assert_eq!(rule("spawns: a, b"), only(&["a", "b"]));
    assert_eq!(rule("spawns: [a, b, a]"), only(&["a", "b"]));
    assert_eq!(rule("spawns: false"), SpawnRule::None);
    insta::assert_snapshot!(warnings(&agent("tools: task\nspawns:")), @r#"5:7: `spawns` has no value, so this agent may spawn nobody (write `spawns: "*"` for anybody, or remove the key)"#);
}

#[test]
fn text_is_kept_as_written() {
    let bond = parse("---\nname: 007\ndescription: 1.10\n---\nx\n").unwrap();
    assert_eq!(bond.name.value, "007");
    assert_eq!(bond.description.value, "1.10");
}

#[test]
fn a_schema_is_kept_as_written() {
    let agent = agent(
        "output:\n  properties:\n    foo-bar: {type: string}\n    2: {enum: [yes, 1.50]}\n  x: null",
    );
    assert_eq!(
        agent.output.unwrap().value,
        json!({"properties": {"foo-bar": {"type": "string"}, "2": {"enum": ["yes", 1.5]}}, "x": null})
    );
}

#[test]
fn keys_are_read_in_both_spellings_and_once() {
    let level = |header: &str| agent(header).effort.map(|field| field.value);
    let medium = Some(EffortWord::Level(Effort::Medium));
    assert_eq!(level("thinking-level: medium"), medium);
    assert_eq!(level("thinkingLevel: Med"), medium);
    assert_eq!(level("thinking: medium"), medium);
    assert_eq!(level("effort: medium"), medium);
    assert_eq!(level("effort: off"), Some(EffortWord::Off));
    assert_eq!(level("effort: m"), None);
    insta::assert_snapshot!(warnings(&agent("effort: hgih\nblocking: maybe")), @"
    4:9: `effort` names no effort (write `effort: high`; until then it is ignored)
    5:11: `blocking` is neither `true` nor `false` (write `blocking: true` or `blocking: false`; until then it is ignored)
    ");
    insta::assert_snapshot!(warnings(&agent("effort: low\nthinking: high")), @"4:9: `effort` stands beside `thinking` and is ignored (keep one of the two)");
    insta::assert_snapshot!(refused("read-only: true\nreadOnly: false"), @"5:1: `read-only` is said twice (keep one of the two)");
    insta::assert_snapshot!(refused("tools: read\ntools: grep"), @"5:1: `tools` is said twice (keep one of the two)");
}

#[test]
fn switches_that_narrow_are_never_guessed_at() {
    assert!(agent("read-only: true").is_read_only());
    assert!(agent("readOnly: 'TRUE '").is_read_only());
    assert!(agent("tools: read, grep").is_read_only());
    assert!(!agent("tools: read, grep\nread-only: false").is_read_only());
    assert!(!agent("tools: read, bash").is_read_only());
    assert!(!agent("tools: read, lsp").is_read_only());
    assert!(!agent("").is_read_only());
    insta::assert_snapshot!(refused("read-only: yes"), @"4:12: `read-only` is neither `true` nor `false` (write `read-only: true` or `read-only: false`)");
    insta::assert_snapshot!(refused("ceiling:"), @"4:8: `ceiling` is neither `true` nor `false` (write `ceiling: true` or `ceiling: false`)");
}

#[test]
fn another_model_is_a_switch_or_a_selector() {
    let prewalk = |header: &str| agent(header).prewalk.map(|field| field.value);
    assert_eq!(prewalk("prewalk: true"), Some(HandOver::On));
    assert_eq!(prewalk("prewalk: off"), Some(HandOver::Off));
    assert_eq!(
        prewalk("prewalk: '@smol'"),
        Some(HandOver::Model("@smol".into()))
    );
    assert_eq!(prewalk("prewalk:"), None);
    insta::assert_snapshot!(refused("advisor: [x]"), @"4:10: `advisor` is a list, not a switch or a model");
}

#[test]
fn unknown_keys_are_kept_and_near_misses_pointed_out() {
    let agent = agent("color: blue\ntool: read\nmcpServers: {a: 1}");
    assert_eq!(agent.tools, Tools::Absent);
    assert_eq!(agent.unknown[2].value, json!({"a": 1}));
    insta::assert_snapshot!(warnings(&agent), @"
    4:1: `color` means nothing here and is ignored
    5:1: `tool` is no key of an agent header (did you mean `tools`? until then it is ignored)
    6:1: `mcpServers` means nothing here and is ignored
    ");
}

#[test]
fn a_name_and_a_description_have_to_be_there() {
    let fault = |text: &str| shown(&parse(text).unwrap_err());
    insta::assert_snapshot!(fault("---\n---\n"), @"1:1: `name` is missing (add a line `name: ...` to the header)");
    insta::assert_snapshot!(fault("---\nName: a\ndescription: d\n---\n"), @"1:1: `name` is missing (`Name` is written `name`)");
    insta::assert_snapshot!(fault("---\nname: a\n---\n"), @"1:1: `description` is missing (add a line `description: ...` to the header)");
    insta::assert_snapshot!(fault("---\nname: ' '\ndescription: d\n---\n"), @"2:7: `name` is empty");
    insta::assert_snapshot!(fault("---\nname: [a]\ndescription: d\n---\n"), @"2:7: `name` is a list, not text");
    insta::assert_snapshot!(fault("---\n- a\n---\n"), @"2:1: the header is a list, not keys with values (write one `key: value` a line)");
    insta::assert_snapshot!(fault("---\nname: Main\ndescription: d\n---\n"), @"2:7: this name is reserved (choose another; `main` and `sub` are taken)");
    insta::assert_snapshot!(fault("---\nname: \"a\\u0007b\"\ndescription: d\n---\n"), @"2:7: this name holds a control character (write it on one line, without escapes)");
    let long = format!("---\nname: {}\ndescription: d\n---\n", "x".repeat(129));
    insta::assert_snapshot!(fault(&long), @"2:7: this name is longer than 128 characters (choose a shorter one)");
}

#[test]
fn every_bundled_agent_reads_without_a_warning() {
    for bundled in sortie_prompts::agents::ALL {
        let agent =
            AgentDefinition::parse(bundled.name, bundled.text, AgentSource::Bundled).unwrap();
        assert_eq!(agent.name.value, bundled.name);
        assert_eq!(agent.path(), None);
        let worst = agent.warnings.iter().map(Problem::severity).min();
        assert!(
            worst.is_none_or(|worst| worst == sortie_protocol::Severity::Note),
            "{}: {}",
            bundled.name,
            warnings(&agent)
        );
    }
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "(?s).{0,300}") {
        let _ = parse(&text);
    }

    #[test]
    fn no_header_makes_it_panic(
        lines in prop::collection::vec("(name|tools|spawns|model|effort|output|description|x): ?[-a@:\\[\\]{}\"'#|*, ()é]{0,12}", 0..6),
    ) {
        let text = format!("---\n{}\n---\nBody", lines.join("\n"));
        match parse(&text) {
            Ok(agent) => {
                for warning in &agent.warnings {
                    prop_assert!(warning.position().is_some());
                }
            }
            Err(problem) => prop_assert!(problem.position().is_some()),
        }
    }

    #[test]
    fn a_plain_description_comes_back_exactly(text in "[A-Za-z][A-Za-z:, ]{0,40}[A-Za-z:]") {
        let agent = parse(&format!("---\nname: a\ndescription: {text}\n---\nx")).unwrap();
        prop_assert_eq!(agent.description.value, text);
    }
}
