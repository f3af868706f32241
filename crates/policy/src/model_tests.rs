use sortie_protocol::{Effort, Thinking, script::ScriptEntry};

use super::*;
use crate::{
    EffectivePolicy, RootGrant, RunModel,
    testing::{Bench, root, root_grant, task, why},
};

fn used(policy: &EffectivePolicy) -> Vec<String> {
    policy
        .candidates()
        .iter()
        .map(|candidate| match candidate.effort {
            Some(effort) => format!("{}:{effort}", candidate.selector),
            None => candidate.selector.clone(),
        })
        .collect()
}

fn run(model: Option<&str>) -> Grant {
    Grant::root(RootGrant {
        model: model.map(|model| RunModel::Flag(model.to_owned())),
        ..root_grant()
    })
}

/// The models of an agent whose file says `model`, or what speaks against it.
fn models(settings: &str, model: &str) -> String {
    let bench = Bench::new(settings, &[("it", &format!("model: {model}"))]);
    match bench.resolve(&root(), &task("it")) {
        Ok(policy) => used(&policy).join(" "),
        Err(_) => bench.refused(&root(), &task("it")),
    }
}

/// C12.
#[test]
fn the_call_then_the_setting_then_the_file_then_the_caller() {
    let bench = Bench::new(
        "task: {agentModelOverrides: {moved: mock/mid, off: inherit}}",
        &[
            ("pin", "model: mock/small"),
            ("free", ""),
            ("inh", "model: ' Inherit '"),
            ("gone", "model: mock/retired"),
            ("moved", "model: mock/small"),
            ("off", "model: mock/small"),
        ],
    );
    let asked = |agent: &str, model: Option<&str>| {
        let mut request = task(agent);
        request.model = model.map(str::to_owned);
        used(&bench.resolve(&root(), &request).unwrap()).join(" ")
    };
    assert_eq!(asked("pin", None), "mock/small:low");
    assert_eq!(asked("free", None), "mock/large:high");
    assert_eq!(asked("inh", None), "mock/large:high");
    assert_eq!(asked("pin", Some("mock/mid")), "mock/mid");
    assert_eq!(asked("free", Some("inherit")), "mock/large:high");
    assert_eq!(asked("gone", Some("mock/mid")), "mock/mid");
    assert_eq!(asked("moved", None), "mock/mid");
    assert_eq!(asked("off", None), "mock/small:low");
    insta::assert_snapshot!(bench.refused(&root(), &task("gone")), @"agents/gone.md:4: `gone` cannot use its model `mock/retired`: it is in no catalogue (choose another model, or end the list with `@parent` to fall back on the caller's)");
    insta::assert_snapshot!(why(&bench.policy("moved"), "model"), @r#"["mock/mid"]: `task.agentModelOverrides` (USER/config.yml:1)"#);
    insta::assert_snapshot!(why(&bench.policy("pin"), "model"), @r#"["mock/small"]: `model` of the agent (agents/pin.md:4)"#);
    insta::assert_snapshot!(why(&bench.policy("free"), "model"), @r#"["mock/large"]: nobody names one, so it is the caller's"#);
    assert_eq!(bench.policy("pin").requested_model(), Some("mock/small"));
    assert_eq!(bench.policy("free").requested_model(), Some("mock/large"));
    assert_eq!(bench.policy("pin").candidates()[0].context_window, Some(10));
}

/// C13 a: what cannot be used is skipped and recorded, and nothing outside the list is used.
#[test]
fn a_list_is_walked_in_order() {
    let bench = Bench::new(
        "",
        &[(
            "w",
            "model: [keyed/locked, foreign/abroad, mock/gone, mock/small, mock/mid]",
        )],
    );
    let policy = bench.policy("w");
    assert_eq!(used(&policy), ["mock/small:low", "mock/mid"]);
    let skipped: Vec<_> = policy
        .skipped()
        .iter()
        .map(|attempt| format!("{}: {}", attempt.selector, attempt.left))
        .collect();
    insta::assert_snapshot!(skipped.join("\n"), @"
    keyed/locked: no key: `TEST_PROVIDER_KEY` is not set
    foreign/abroad: no key: `FOREIGN_PROVIDER_KEY` is not set
    mock/gone: it is in no catalogue
    ");
    assert_eq!(
        policy.requested_model(),
        Some("keyed/locked, foreign/abroad, mock/gone, mock/small, mock/mid")
    );
}

#[test]
fn a_list_without_a_usable_model_is_refused_unless_it_ends_in_the_parent() {
    insta::assert_snapshot!(models("", "keyed/locked"), @"agents/it.md:4: `it` cannot use its model `keyed/locked`: no key: `TEST_PROVIDER_KEY` is not set (set the variable, or choose another model)");
    insta::assert_snapshot!(models("", "[keyed/locked, foreign/abroad]"), @"agents/it.md:4: `it` can use none of its models: `keyed/locked`: no key: `TEST_PROVIDER_KEY` is not set; `foreign/abroad`: no key: `FOREIGN_PROVIDER_KEY` is not set (set the variable, or choose another model)");
    insta::assert_snapshot!(models("", "nowhere/x"), @"agents/it.md:4: `it` cannot use its model `nowhere/x`: there is no provider `nowhere` (choose another model, or end the list with `@parent` to fall back on the caller's)");
    insta::assert_snapshot!(models("", "mok/large"), @"agents/it.md:4: `it` cannot use its model `mok/large`: there is no provider `mok`; did you mean `mock`? (choose another model, or end the list with `@parent` to fall back on the caller's)");
    insta::assert_snapshot!(models("", "mock/lrage"), @"agents/it.md:4: `it` cannot use its model `mock/lrage`: it is in no catalogue; did you mean `mock/large`? (choose another model, or end the list with `@parent` to fall back on the caller's)");
    assert_eq!(models("", "[keyed/locked, '@parent']"), "mock/large:high");
}

#[test]
fn names_are_matched_exactly_and_then_as_part_of_one() {
    assert_eq!(models("", "only-here"), "other/only-here");
    assert_eq!(models("", "only"), "other/only-here");
    insta::assert_snapshot!(models("", "mock/sma"), @"agents/it.md:4: `it` cannot use its model `mock/sma`: it is in no catalogue; did you mean `mock/small`? (choose another model, or end the list with `@parent` to fall back on the caller's)");
    assert_eq!(models("", "mock/qwen3:8b"), "mock/qwen3:8b");
    assert_eq!(models("", "mock/small:high"), "mock/small:high");
    assert_eq!(models("", "large:off"), "mock/large:off");
    assert_eq!(models("", "opus"), "mock/zz-claude-opus-3");
    insta::assert_snapshot!(models("", "mid"), @"agents/it.md:4: `mid` fits several models: `mock/mid`, `other/mid` (write `provider/model`)");
    insta::assert_snapshot!(models("", "mock/l"), @"agents/it.md:4: `it` cannot use its model `mock/l`: it is in no catalogue (choose another model, or end the list with `@parent` to fall back on the caller's)");
    insta::assert_snapshot!(models("", "l"), @"agents/it.md:4: `l` fits several models: `mock/large`, `mock/small`, `mock/zz-claude-opus-3`, `other/only-here` (write `provider/model`)");
}

#[test]
fn roles_stand_for_models() {
    let roles =
        "modelRoles: {smol: 'mock/small:medium', mine: '@smol:high, mock/mid', a: '@b', b: '@a'}";
    assert_eq!(models(roles, "'@smol'"), "mock/small:medium");
    assert_eq!(models(roles, "'@smol:low'"), "mock/small:low");
    assert_eq!(models(roles, "pi/smol"), "mock/small:medium");
    assert_eq!(models(roles, "'@mine'"), "mock/small:high mock/mid");
    assert_eq!(models(roles, "'@slow'"), "mock/large:high");
    assert_eq!(models(roles, "'@slow:low'"), "mock/large:low");
    assert_eq!(models("", "haiku"), "mock/large:high");
    insta::assert_snapshot!(models(roles, "'@a'"), @"`modelRoles.b` (USER/config.yml:1): a role stands for itself: `@a` is `@b` is `@a` (name a model in `modelRoles` of `config.yml`)");
    insta::assert_snapshot!(models(roles, "'@smal'"), @"agents/it.md:4: there is no role `@smal` (did you mean `@smol`?)");
    insta::assert_snapshot!(models(roles, "'@nothing-like-it'"), @"agents/it.md:4: there is no role `@nothing-like-it` (map it by `modelRoles.nothing-like-it` in `config.yml`)");
    insta::assert_snapshot!(models(roles, "'@smol:hgih'"), @"agents/it.md:4: `@smol:hgih`: `hgih` is no effort; the levels are minimal, low, medium, high, xhigh, max");
    let bench = Bench::new("", &[]);
    insta::assert_snapshot!(why(&bench.policy("scout"), "model"), @r#"["mock/large"]: `model` of the agent; `modelRoles.smol` is not set, so `@smol` is the run's model (bundled/scout.md:5)"#);
}

#[test]
fn without_any_model_the_ways_to_name_one_are_said() {
    let bench = Bench::new("", &[("free", "")]);
    insta::assert_snapshot!(bench.refused(&run(None), &task("free")), @"no model is configured (name one by `--model PROVIDER/MODEL`, by `model:` in the batch, or by `modelRoles.default` in `~/.sortie/agent/config.yml`; `--model script/NAME` runs `NAME.yaml` without any model)");
    insta::assert_snapshot!(bench.refused(&run(None), &task("scout")), @"no model is configured (name one by `--model PROVIDER/MODEL`, by `model:` in the batch, or by `modelRoles.default` in `~/.sortie/agent/config.yml`; `--model script/NAME` runs `NAME.yaml` without any model)");
    insta::assert_snapshot!(bench.refused(&run(Some("@smol")), &task("free")), @"the run's model is `@smol`, and nothing says which that is (set `modelRoles.smol` in `config.yml`, or name a model)");
    let configured = Bench::new("modelRoles: {default: mock/mid}", &[("free", "")]);
    let policy = configured.resolve(&run(None), &task("free")).unwrap();
    assert_eq!(
        (used(&policy).join(" ").as_str(), policy.requested_model()),
        ("mock/mid", Some("mock/mid"))
    );
    let over = configured
        .resolve(&run(Some("mock/small, mock/large")), &task("free"))
        .unwrap();
    assert_eq!(used(&over), ["mock/small:low", "mock/large:high"]);
}

#[test]
fn a_child_without_a_model_gets_its_caller_s_with_its_level() {
    let bench = Bench::new(
        "",
        &[
            ("lead", "model: mock/small:medium\nspawns: '*'"),
            ("free", ""),
            ("firm", "effort: high"),
            ("same", "model: mock/large\neffort: inherit"),
        ],
    );
    let grant = bench.policy("lead").grant();
    let below = |agent: &str| used(&bench.resolve(&grant, &task(agent)).unwrap()).join(" ");
    assert_eq!(below("free"), "mock/small:medium");
    assert_eq!(below("firm"), "mock/small:high");
    assert_eq!(below("same"), "mock/large:medium");
    // A role that nothing maps is the run's model, not the caller's.
    assert_eq!(below("sonic"), "mock/large:medium");
}

#[test]
fn a_model_above_the_ceiling_is_refused_first_and_skipped_later() {
    let ceiling = "task: {maxEffort: medium}";
    insta::assert_snapshot!(models(ceiling, "mock/deep"), @"agents/it.md:4: `mock/deep` cannot be used: its lowest effort is high, and `task.maxEffort` is medium (raise `task.maxEffort`, ask for `:off`, or choose another model)");
    assert_eq!(models(ceiling, "mock/deep:off"), "mock/deep:off");
    assert_eq!(
        models(ceiling, "[mock/large, mock/deep]"),
        "mock/large:medium"
    );
    let bench = Bench::new("task: {enableEffort: true}", &[("it", "")]);
    let mut request = task("it");
    request.effort = Some(EffortHint::Lo);
    let policy = bench.resolve(&root(), &request).unwrap();
    assert_eq!(policy.effort(), Some(Thinking::Level(Effort::Low)));
    insta::assert_snapshot!(why(&policy, "effort"), @r#""low": the task's hint `lo`"#);
}

#[test]
fn what_cannot_be_said_to_a_model_is_not_said_otherwise() {
    insta::assert_snapshot!(models("", "odd/crossed"), @"agents/it.md:4: `odd/crossed` cannot be used: `thinking: budget` cannot be said over `openai-responses` (correct the model in `models.yml`, or choose another)");
    insta::assert_snapshot!(models("", "odd/stepped:off"), @"agents/it.md:4: `odd/stepped` cannot be used: it is asked to think by level, and none of `google-generative-ai` means `off` (ask for one of its levels, or choose another model)");
    assert_eq!(models("", "[mock/mid, 'odd/stepped:off']"), "mock/mid");
    let sent = |model: &str| {
        let bench = Bench::new("", &[("it", &format!("model: {model}"))]);
        let policy = bench.policy("it");
        let wire = serde_json::to_string(&policy.candidates()[0].wire_effort).unwrap();
        format!("{wire} {}", why(&policy, "effort"))
    };
    insta::assert_snapshot!(sent("odd/gauged"), @r#"{"budget":7500} "high": `defaultThinkingLevel` is not set; sent as 7500 tokens"#);
    insta::assert_snapshot!(sent("odd/stepped:minimal"), @r#"{"word":"MINIMAL"} "minimal": the level of the selector of `odd/stepped`"#);
    insta::assert_snapshot!(sent("mock/large:off"), @r#""off" "off": the level of the selector of `mock/large`"#);
}

#[test]
fn scripts_are_named_by_users_and_not_by_projects() {
    let mut bench = Bench::new(
        "modelRoles: {smol: script/two}",
        &[("mine", "model: script/three")],
    );
    let theirs = "---\nname: theirs\ndescription: d\nmodel: script/one\n---\nx";
    let theirs = AgentDefinition::parse("agents/theirs.md", theirs, AgentSource::Project).unwrap();
    bench.agents.add(theirs);
    let script = run(Some("script/one"));
    insta::assert_snapshot!(bench.refused(&script, &task("designer")), @"`--model`: there is no script `one` (put `one.yaml` beside the batch, or into `scripts` of your own folder)");
    bench
        .scripts
        .insert("one".into(), vec![ScriptEntry::default()].into());
    let policy = bench.resolve(&script, &task("designer")).unwrap();
    assert_eq!(used(&policy), ["script/one"]);
    assert_eq!(
        (policy.candidates()[0].api, policy.effort()),
        (Api::Script, None)
    );
    insta::assert_snapshot!(bench.refused(&script, &task("theirs")), @"agents/theirs.md:4: `script/one`: an agent of a project may not name a script (name it by `--model`, in the batch, or in your own settings)");
    let names = crate::scripts_named(
        &bench.config.settings,
        &bench.agents,
        Some("script/one:low, mock/large"),
    );
    assert_eq!(
        names.into_iter().collect::<Vec<_>>(),
        ["one", "three", "two"]
    );
}

#[test]
fn a_script_answers_for_every_model_that_an_agent_names() {
    let mut bench = Bench::new(
        "task: {agentModelOverrides: {moved: mock/mid, mixed: 'keyed/locked, script/two'}}
modelRoles: {slow: keyed/locked, plan: script/two, tiny: script/one}",
        &[
            ("pin", "model: [keyed/locked, mock/small]\nspawns: '*'"),
            ("moved", "model: mock/small"),
            ("free", ""),
            ("slow", "model: '@slow'"),
            ("family", "model: opus"),
            ("mixed", ""),
            ("plan", "model: '@plan'"),
        ],
    );
    for name in ["one", "two"] {
        bench
            .scripts
            .insert(name.into(), vec![ScriptEntry::default()].into());
    }
    let script = run(Some("script/one"));
    for agent in ["pin", "moved", "free", "slow", "family"] {
        let policy = bench.resolve(&script, &task(agent)).unwrap();
        assert_eq!(used(&policy), ["script/one"], "{agent}");
    }
    let pin = bench.resolve(&script, &task("pin")).unwrap();
    assert_eq!(pin.requested_model(), Some("keyed/locked, mock/small"));
    insta::assert_snapshot!(why(&pin, "model"), @r#"["script/one"]: `model` of the agent; the run's model is a script, so no other is asked (agents/pin.md:4)"#);
    // Below an agent as well.
    let below = pin.grant();
    let policy = bench.resolve(&below, &task("moved")).unwrap();
    assert_eq!(used(&policy), ["script/one"]);
    let mut named = task("free");
    named.model = Some("mock/small".into());
    assert_eq!(
        used(&bench.resolve(&script, &named).unwrap()),
        ["script/one"]
    );
    // Whoever may name another script gets that, and nothing beside it.
    for agent in ["mixed", "plan"] {
        let policy = bench.resolve(&script, &task(agent)).unwrap();
        assert_eq!(used(&policy), ["script/two"], "{agent}");
    }
    let by_role = bench.resolve(&run(Some("@tiny")), &task("pin")).unwrap();
    assert_eq!(used(&by_role), ["script/one"]);
}
