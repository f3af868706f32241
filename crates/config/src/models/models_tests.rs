use std::fs;

use sortie_protocol::{Api, Effort, Price, WireEffort, script::Script};

use super::*;
use crate::{Source, shown::shown};

/// A home with one `models.yml`, and these variables.
pub(super) fn load(text: &str, variables: &[(&str, &str)]) -> (Models, String) {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join(".sortie/agent");
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join(FILE), text).unwrap();
    let variables = variables.iter().map(|&(name, value)| (name, value.into()));
    let environment: Environment = variables
        .chain([("HOME", home.path().as_os_str().to_owned())])
        .collect();
    let places = Places::find(home.path(), &environment, &[".sortie".into()]).unwrap();
    let (models, problems) = Models::load(&places, &environment);
    (models, shown(&problems, &dir))
}

pub(super) fn candidate(models: &Models, provider: &str, model: &str) -> Candidate {
    let (provider, model) = models.find(provider, model).unwrap();
    models.candidate(provider, model, None).unwrap()
}

pub(super) const LOCAL: &str = "\
providers:
  local:
    baseUrl: http://127.0.0.1:8080/v1
    apiKey: LOCAL_KEY
    api: openai-completions
    headers: {}
    models:
      - {id: small, contextWindow: 200000, maxTokens: 8000, input: [text], cost: {input: 0, output: 1.5}, efforts: [low, medium, high]}
      - id: bare
";

#[test]
fn a_row_needs_only_its_id() {
    let (models, problems) = load(LOCAL, &[("LOCAL_KEY", "k-1")]);
    assert_eq!(problems, "");
    let (provider, bare) = models.find("local", "bare").unwrap();
    assert_eq!(*bare, Model::new("bare"));
    assert!(matches!(
        provider.source,
        ProviderSource::File { line: 2, .. }
    ));
    assert_eq!(models.availability(provider), Available::Available);
    let (provider, small) = models.find("local", "small").unwrap();
    let level = Some(Thinking::Level(Effort::Low));
    assert_eq!(
        models.candidate(provider, small, level),
        Ok(Candidate {
            selector: "local/small".into(),
            provider: "local".into(),
            api: Api::OpenaiCompletions,
            base_url: "http://127.0.0.1:8080/v1".into(),
            url_secret: None,
            key: Some("LOCAL_KEY".into()),
            headers: [].into(),
            wire_name: "small".into(),
            effort: level,
            wire_effort: Some(WireEffort::Word("low".into())),
            context_window: Some(200_000),
            max_tokens: Some(8_000),
            price: Some(Price {
                output: 1.5,
                ..Price::default()
            }),
            script: Script::default(),
        })
    );
}

#[test]
fn one_bad_entry_does_not_discard_the_file() {
    let text = "\
providers:
  one:
    baseUrl: http://h/v1
    api: openai-completions
    colour: red
    models:
      - {id: good, contextwindow: 5}
      - {id: bad, contextWindow: many}
      - {contextWindow: 5}
      - {id: good}
      - {id: levels, efforts: [low, hgh]}
      - {id: default, thinking: {efforts: [low], defaultLevel: max, mood: 1}}
      - {id: mode, thinking: {mode: budgets}}
      - {id: price, cost: {input: -1, ouput: 2}}
      - {id: sees, input: [text, video]}
      - plain
  no-url: {api: openai-completions}
  no-api: {baseUrl: http://h/v1}
  word: {baseUrl: http://h/v1, api: openai}
  ftp: {baseUrl: 'ftp://u:secret-1@h', api: openai-completions}
  script: {baseUrl: http://h/v1, api: openai-completions}
  a/b: {baseUrl: http://h/v1, api: openai-completions}
  head: {baseUrl: http://h/v1, api: openai-completions, headers: {'a b': secret-2}}
  text: words
  key: {baseUrl: http://h/v1, api: openai-completions, apiKey: [secret-3]}
  last: {baseUrl: http://h/v1, api: openai-completions, models: [{id: fine}]}
provders: {}
";
    let (models, problems) = load(text, &[]);
    assert!(models.find("one", "good").is_some());
    assert!(models.find("last", "fine").is_some());
    assert!(models.find("one", "bad").is_none());
    let left_out: Vec<_> = models
        .left_out()
        .iter()
        .map(|one| format!("{} {:?}", one.provider, one.model))
        .collect();
    insta::assert_snapshot!(left_out.join("\n"), @r#"
    one Some("bad")
    one Some("levels")
    one Some("default")
    one Some("mode")
    one Some("price")
    one Some("sees")
    no-url None
    no-api None
    word None
    ftp None
    script None
    a/b None
    head None
    text None
    key None
    "#);
    assert_eq!(models.left_out()[0].fault.position(), Some((8, 34)));
    insta::assert_snapshot!(problems, @r#"
    ~/models.yml:27:1: warning: `provders` is no key of a catalogue
      did you mean `providers`?
    ~/models.yml:5:5: warning: `colour` is no key of a provider
      its keys are baseUrl, apiKey, api, headers, models
    ~/models.yml:7:20: warning: `contextwindow` is no key of a model
      did you mean `contextWindow`?
    ~/models.yml:8:34: warning: `contextWindow` wants a whole number, 1 or more, not `many`; the model is left out
    ~/models.yml:9:9: warning: a model says no `id`; the model is left out
    ~/models.yml:10:9: warning: the model `good` is listed twice; the second is left out
    ~/models.yml:11:37: warning: `efforts` wants one of minimal, low, medium, high, xhigh, max, not `hgh`; the model is left out
      did you mean `high`?
    ~/models.yml:12:69: warning: `mood` is no key of `thinking`
      its keys are mode, efforts, effortMap, defaultLevel
    ~/models.yml:12:64: warning: `defaultLevel` is `max`, which is not among its efforts; the model is left out
    ~/models.yml:13:37: warning: `thinking` wants one of effort, budget, google-level, anthropic-adaptive, anthropic-budget-effort, not `budgets`; the model is left out
      did you mean `budget`?
    ~/models.yml:14:39: warning: `ouput` is no key of `cost`
      did you mean `output`?
    ~/models.yml:14:35: warning: `input` wants a number, 0 or more, not `-1`; the model is left out
    ~/models.yml:15:34: warning: `input` wants `text` or `image`, not `video`; the model is left out
    ~/models.yml:16:9: warning: a model is a map, not text; the model is left out
    ~/models.yml:17:3: warning: `no-url` says no `baseUrl`; the provider is left out
    ~/models.yml:18:3: warning: `no-api` says no `api`; the provider is left out
      say one of openai-completions, openai-responses, anthropic-messages, google-generative-ai
    ~/models.yml:19:37: warning: `api` wants one of openai-completions, openai-responses, anthropic-messages, google-generative-ai, not `openai`; the provider is left out
    ~/models.yml:20:18: warning: `baseUrl` wants a URL that starts with `http://` or `https://`; the provider is left out
    ~/models.yml:21:3: warning: `script` is the built-in provider of scripted turns; the provider is left out
      give the provider another name
    ~/models.yml:22:3: warning: `a/b` cannot be the name of a provider; the provider is left out
      a name has letters, digits, `-`, `_`, and `.`
    ~/models.yml:23:67: warning: `a b` cannot be the name of an HTTP header; the provider is left out
    ~/models.yml:24:9: warning: a provider is a map, not text; the provider is left out
    ~/models.yml:25:64: warning: `apiKey` wants text, not a list; the provider is left out
    "#);
}

#[test]
fn a_file_that_cannot_be_read_leaves_the_bundled_catalogue() {
    let (models, problems) = load("providers: [\n", &[]);
    assert!(models.provider("openai").is_some());
    insta::assert_snapshot!(problems, @"~/models.yml:1:12: error: unclosed bracket '['");
    insta::assert_snapshot!(load("- a\n", &[]).1, @"~/models.yml:1:1: error: a catalogue is a map, not a list");
    insta::assert_snapshot!(load("providers: [a]\n", &[]).1, @"~/models.yml:1:12: error: `providers` is a map, not a list");
    assert_eq!(load("", &[]).1, "");
    assert_eq!(load("providers:\n", &[]).1, "");
}

#[test]
fn no_report_quotes_a_key() {
    let flow = "providers: {p: {baseUrl: 'http://u:hush@h?k=hush', apiKey: \"sk-hush-é\", x: 1, headers: {A: hush}}}\n";
    let block = "providers:\n  p:\n    apiKey: |\n      hush\n    baseUrl: http://h\n    x: 1\n";
    let broken = "providers:\n  p:\n    apiKey: hush\n    headers: {A: hush\n  hush hush\n";
    for text in [flow, block, broken] {
        let source = Source::new("models.yml", text);
        let problems = read::lay(&mut Vec::new(), &mut Vec::new(), &source, Owner::Ours);
        assert!(!problems.is_empty());
        for problem in problems {
            let code = miette::Diagnostic::source_code(&problem).unwrap();
            let all = code.read_span(&(0, text.len()).into(), 0, 0).unwrap();
            let quoted = String::from_utf8(all.data().to_vec()).unwrap();
            assert!(!quoted.contains("hush"), "{quoted}");
            assert_eq!(quoted.len(), text.len());
            assert!(!problem.message().contains("hush"), "{problem}");
        }
    }
}

#[test]
fn a_users_file_patches_a_bundled_provider() {
    let text = "\
providers:
  openai:
    baseUrl: http://127.0.0.1:9/v1
    models:
      - {id: gpt-5-mini, contextWindow: 5}
      - {id: mine, api: openai-responses}
";
    let (models, problems) = load(text, &[]);
    assert_eq!(problems, "");
    let (provider, mini) = models.find("openai", "gpt-5-mini").unwrap();
    assert_eq!(provider.base_url, "http://127.0.0.1:9/v1");
    assert_eq!(
        provider.key,
        Some(KeySource::Variable("OPENAI_API_KEY".into()))
    );
    assert_eq!(mini.context_window, Some(5));
    assert_eq!(mini.efforts.len(), 4);
    assert!(models.find("openai", "gpt-5").is_some());
    assert_eq!(
        candidate(&models, "openai", "mine").api,
        Api::OpenaiResponses
    );
    assert_eq!(models.named("mine").count(), 1);
}

#[test]
fn what_other_programs_say_of_thinking_is_read() {
    let text = "\
providers:
  p:
    baseUrl: http://h/v1
    api: google-generative-ai
    models:
      - {id: reasons, reasoning: true}
      - {id: openai, api: openai-completions, reasoning: true}
      - {id: not, reasoning: false}
      - id: full
        thinking: {mode: budget, efforts: [high, low, low], effortMap: {high: hard}, defaultLevel: low}
";
    let (models, problems) = load(text, &[]);
    assert_eq!(problems, "");
    let model = |id| models.find("p", id).unwrap().1;
    assert_eq!(model("reasons").efforts, Effort::ALL[..4]);
    assert_eq!(model("openai").efforts, Effort::ALL[..5]);
    assert_eq!(model("not").efforts, []);
    let full = model("full");
    assert_eq!(full.efforts, [Effort::Low, Effort::High]);
    assert_eq!(full.default_effort, Some(Effort::Low));
    assert_eq!(full.thinking, Some(ThinkingMode::Budget));
    assert_eq!(full.effort_words[&Effort::High], "hard");
}

#[test]
fn folders_of_other_programs_come_after_ours_and_projects_not_at_all() {
    let home = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = home.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let provider = |name: &str, port: u8| {
        format!(
            "providers: {{{name}: {{baseUrl: http://h:{port}/v1, api: openai-completions, odd: 1}}}}\n"
        )
    };
    write(".omp/agent/models.yml", &provider("a", 1));
    write(".musepi/agent/models.yml", &provider("b", 2));
    write(
        ".sortie/agent/models.yml",
        &provider("a", 3).replace(", odd: 1", ""),
    );
    write("p/.sortie/models.yml", &provider("c", 4));
    let environment = Environment::from_iter([("HOME", home.path())]);
    let names = [".sortie", ".omp", ".musepi"].map(str::to_owned);
    let places = Places::find(&home.path().join("p"), &environment, &names).unwrap();
    let (models, problems) = Models::load(&places, &environment);
    assert_eq!(models.provider("a").unwrap().base_url, "http://h:3/v1");
    assert_eq!(models.provider("b").unwrap().base_url, "http://h:2/v1");
    assert!(models.provider("c").is_none());
    insta::assert_snapshot!(shown(&problems, home.path()), @r#"
    ~/p/.sortie/models.yml: note: ignored: a project may not add providers or models
      move what you need to `models.yml` in your own folder
    "#);
}

#[test]
fn keys_are_told_apart_by_their_look() {
    let parse = KeySource::parse;
    assert_eq!(parse("HF_TOKEN"), KeySource::Variable("HF_TOKEN".into()));
    assert_eq!(
        parse("! pass show x"),
        KeySource::Command("pass show x".into())
    );
    for literal in ["sk-Abc", "Token", "9A", "A-B", "a"] {
        assert_eq!(parse(literal), KeySource::Literal(Hidden::new(literal)));
    }
}

proptest::proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "(?s)(providers:|models:|id:|apiKey:|\\n| |[{}]|.){0,40}") {
        let source = Source::new("models.yml", text);
        let _ = read::lay(&mut Vec::new(), &mut Vec::new(), &source, Owner::Ours);
    }
}
