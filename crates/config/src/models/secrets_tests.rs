use std::path::Path;

use super::super::{
    Available,
    command::testing::start,
    tests::{LOCAL, candidate, load},
};
use crate::shown::shown;

#[test]
fn a_key_is_named_and_handed_out_by_its_name() {
    let (models, _) = load(LOCAL, &[("LOCAL_KEY", "k-1"), ("OPENAI_API_KEY", "k-2")]);
    let small = candidate(&models, "local", "small");
    let secrets = models
        .secrets_for(std::slice::from_ref(&small), &start)
        .unwrap();
    let known: Vec<_> = secrets.iter().collect();
    assert_eq!(known, [("LOCAL_KEY", "k-1")]);
    let all = models.all_secrets();
    let all: Vec<_> = all.iter().collect();
    assert_eq!(all, [("LOCAL_KEY", "k-1"), ("OPENAI_API_KEY", "k-2")]);
}

#[test]
fn a_provider_without_its_variable_says_which() {
    for variables in [&[][..], &[("LOCAL_KEY", "")][..]] {
        let (models, _) = load(LOCAL, variables);
        let provider = models.provider("local").unwrap();
        let variable = "LOCAL_KEY".to_owned();
        assert_eq!(
            models.availability(provider),
            Available::MissingKey { variable }
        );
    }
    let (models, _) = load(LOCAL, &[]);
    let small = candidate(&models, "local", "small");
    let problem = models.secrets_for(&[small], &start).unwrap_err();
    insta::assert_snapshot!(shown([&problem], Path::new("/nowhere")), @r#"
    error: `LOCAL_KEY` is not set
      export `LOCAL_KEY`, or use another model
    "#);
}

#[test]
fn literals_headers_and_urls_are_secrets_with_names() {
    let text = "\
providers:
  local:
    baseUrl: https://me:pass@example.test:1/v1?token=t
    apiKey: sk-literal
    api: openai-completions
    headers: {X-Team: team-value, X-Trace: TRACE_KEY}
    models: [{id: small}]
";
    let (models, problems) = load(text, &[("TRACE_KEY", "trace-value")]);
    assert_eq!(problems, "");
    let small = candidate(&models, "local", "small");
    assert_eq!(small.base_url, "https://example.test:1/v1");
    let plan = serde_json::to_string(&small).unwrap();
    let debug = format!("{models:?}");
    let secrets = models.secrets_for(&[small], &start).unwrap();
    let known: Vec<_> = secrets.iter().collect();
    assert_eq!(
        known,
        [
            ("TRACE_KEY", "trace-value"),
            ("local.apiKey", "sk-literal"),
            ("local.baseUrl", "https://me:pass@example.test:1/v1?token=t"),
            ("local.headers.X-Team", "team-value"),
        ]
    );
    for value in ["sk-literal", "pass", "token=t", "team-value", "trace-value"] {
        assert!(!plan.contains(value) && !debug.contains(value), "{value}");
    }
    for name in [
        "TRACE_KEY",
        "local.apiKey",
        "local.baseUrl",
        "local.headers.X-Team",
    ] {
        assert!(plan.contains(name), "{name}");
    }
}

#[test]
fn a_literal_that_is_plainly_no_key_is_handed_out_and_not_hidden() {
    let random = "qWERTYuiopASDFGHJKLzxcvbnm";
    for (key, is_plain) in [
        ("ollama", true),
        ("none", true),
        ("not-needed", true),
        ("sk-no-key-required", true),
        ("Bearer none", true),
        ("sk-1", true),
        ("sk-0123456789", false),
        (random, false),
    ] {
        let text = LOCAL
            .replace("LOCAL_KEY", key)
            .replace("{}", &format!("{{X-Header: {key}}}"));
        let (models, problems) = load(&text, &[]);
        assert_eq!(problems, "");
        let small = candidate(&models, "local", "small");
        for secrets in [
            models.secrets_for(&[small], &start).unwrap(),
            models.all_secrets(),
        ] {
            let hidden = secrets.hidden().count();
            assert_eq!(secrets.iter().count(), 2);
            assert_eq!(hidden, if is_plain { 0 } else { 2 }, "{key}");
            assert_eq!(secrets.get("local.apiKey"), Some(key));
        }
    }
}

#[test]
fn a_variable_a_command_and_a_password_are_hidden_whatever_they_say() {
    let url = "http://me:secret@127.0.0.1:8080/v1?tenant=example";
    let text = LOCAL
        .replace("http://127.0.0.1:8080/v1", url)
        .replace("{}", "{X-Header: '!echo ollama'}");
    let (models, _) = load(&text, &[("LOCAL_KEY", "ollama")]);
    let small = candidate(&models, "local", "small");
    models.secrets_for(&[small], &start).unwrap();
    let all = models.all_secrets();
    let hidden: Vec<_> = all.hidden().map(|(name, _)| name).collect();
    assert_eq!(
        hidden,
        [
            "LOCAL_KEY",
            "local.baseUrl",
            "local.baseUrl.login",
            "local.baseUrl.password",
            "local.headers.X-Header"
        ]
    );
}

#[test]
fn the_secret_parts_of_a_url_are_secrets_by_themselves() {
    for (url, expected) in [
        (
            "https://me:password@example.test/v1?token=t&x=&api-version=2026-01-01#top",
            &[
                ("login", "bWU6cGFzc3dvcmQ="),
                ("password", "password"),
                ("token", "t"),
            ][..],
        ),
        (
            "https://a-key:x@example.test",
            &[("login", "YS1rZXk6eA=="), ("user", "a-key")],
        ),
        (
            "https://a-key@example.test/a@b",
            &[("login", "YS1rZXk6"), ("user", "a-key")],
        ),
    ] {
        let text = format!(
            "providers:\n  local: {{baseUrl: '{url}', api: openai-completions, models: [{{id: small}}]}}\n"
        );
        let (models, problems) = load(&text, &[]);
        assert_eq!(problems, "");
        let all = models.all_secrets();
        let parts: Vec<_> = all
            .iter()
            .filter_map(|(name, value)| Some((name.strip_prefix("local.baseUrl.")?, value)))
            .collect();
        assert_eq!(parts, expected, "{url}");
    }
}

#[test]
fn a_login_is_known_however_it_is_written() {
    let file = "providers:\n  local:\n    baseUrl: http://me:p%40ss-SECRET@127.0.0.1:1/v1\n    api: openai-completions\n    models: [{id: m}]\n";
    let (models, problems) = load(file, &[]);
    assert_eq!(problems, "");
    let secrets = models.all_secrets();
    let known: Vec<_> = secrets.hidden().map(|(_, value)| value).collect();
    // `me:p@ss-SECRET`
    for written in ["p%40ss-SECRET", "p@ss-SECRET", "bWU6cEBzcy1TRUNSRVQ="] {
        assert!(known.contains(&written), "{written} in {known:?}");
    }
}

#[test]
fn a_lines_end_is_no_part_of_a_key() {
    let (models, _) = load(LOCAL, &[("LOCAL_KEY", "sk-a-long-key-0\n")]);
    let (provider, model) = models.find("local", "small").unwrap();
    let candidate = models.candidate(provider, model, None).unwrap();
    let no_command = |_: &mut _| Err(std::io::Error::other("there is none"));
    let secrets = models.secrets_for(&[candidate], &no_command).unwrap();
    assert_eq!(secrets.get("LOCAL_KEY"), Some("sk-a-long-key-0"));
}
