use std::fmt::Write;

use proptest::prelude::*;

use super::*;

fn model(mode: Option<ThinkingMode>, max_tokens: Option<u64>) -> Model {
    let mut model = Model::new("m");
    (model.thinking, model.max_tokens) = (mode, max_tokens);
    model
}

fn said(model: &Model, api: Api, thinking: Thinking) -> String {
    match wire_effort(model, api, thinking) {
        Ok(wire) => wire.to_string(),
        Err(unsayable) => format!("refused: {unsayable}"),
    }
}

fn every_thinking() -> impl Iterator<Item = Thinking> {
    let levels = Effort::ALL.map(Thinking::Level);
    [Thinking::Off].into_iter().chain(levels)
}

#[test]
fn every_level_in_the_terms_of_every_api() {
    let modes = [None].into_iter().chain(ThinkingMode::ALL.map(Some));
    let mut shown = String::new();
    for mode in modes {
        for api in Api::REMOTE {
            let all: Vec<_> = every_thinking()
                .map(|thinking| said(&model(mode, None), api, thinking))
                .collect();
            let all = if all.iter().all(|one| *one == all[0]) {
                all[0].clone()
            } else {
                all.join(" | ")
            };
            let mode = mode.map_or("-", ThinkingMode::as_str);
            writeln!(shown, "{api} {mode}: {all}").unwrap();
        }
    }
    insta::assert_snapshot!(shown, @"
    openai-completions -: off | `minimal` | `low` | `medium` | `high` | `xhigh` | `max`
    openai-responses -: off | `minimal` | `low` | `medium` | `high` | `xhigh` | `max`
    anthropic-messages -: off | 1024 tokens | 4096 tokens | 8192 tokens | 16384 tokens | 32768 tokens | 32768 tokens
    google-generative-ai -: off | 1024 tokens | 2048 tokens | 8192 tokens | 16384 tokens | 24575 tokens | 32768 tokens
    openai-completions effort: off | `minimal` | `low` | `medium` | `high` | `xhigh` | `max`
    openai-responses effort: off | `minimal` | `low` | `medium` | `high` | `xhigh` | `max`
    anthropic-messages effort: refused: `thinking: effort` cannot be said over `anthropic-messages`
    google-generative-ai effort: refused: `thinking: effort` cannot be said over `google-generative-ai`
    openai-completions budget: refused: `thinking: budget` cannot be said over `openai-completions`
    openai-responses budget: refused: `thinking: budget` cannot be said over `openai-responses`
    anthropic-messages budget: off | 1024 tokens | 4096 tokens | 8192 tokens | 16384 tokens | 32768 tokens | 32768 tokens
    google-generative-ai budget: off | 1024 tokens | 2048 tokens | 8192 tokens | 16384 tokens | 24575 tokens | 32768 tokens
    openai-completions google-level: refused: `thinking: google-level` cannot be said over `openai-completions`
    openai-responses google-level: refused: `thinking: google-level` cannot be said over `openai-responses`
    anthropic-messages google-level: refused: `thinking: google-level` cannot be said over `anthropic-messages`
    google-generative-ai google-level: refused: it is asked to think by level, and none of `google-generative-ai` means `off` | `MINIMAL` | `LOW` | `MEDIUM` | `HIGH` | `HIGH` | `HIGH`
    openai-completions anthropic-adaptive: refused: `thinking: anthropic-adaptive` cannot be said over `openai-completions`
    openai-responses anthropic-adaptive: refused: `thinking: anthropic-adaptive` cannot be said over `openai-responses`
    anthropic-messages anthropic-adaptive: off | `low`, adaptive | `low`, adaptive | `medium`, adaptive | `high`, adaptive | `xhigh`, adaptive | `max`, adaptive
    google-generative-ai anthropic-adaptive: refused: `thinking: anthropic-adaptive` cannot be said over `google-generative-ai`
    openai-completions anthropic-budget-effort: refused: `thinking: anthropic-budget-effort` cannot be said over `openai-completions`
    openai-responses anthropic-budget-effort: refused: `thinking: anthropic-budget-effort` cannot be said over `openai-responses`
    anthropic-messages anthropic-budget-effort: off | `low` and 1024 tokens | `low` and 4096 tokens | `medium` and 8192 tokens | `high` and 16384 tokens | `xhigh` and 32768 tokens | `max` and 32768 tokens
    google-generative-ai anthropic-budget-effort: refused: `thinking: anthropic-budget-effort` cannot be said over `google-generative-ai`
    ");
}

#[test]
fn an_effort_map_wins() {
    let mut model = model(None, Some(20_000));
    model.effort_words = [
        (Effort::Low, "light".to_owned()),
        (Effort::Medium, "9000".to_owned()),
        (Effort::High, "20000".to_owned()),
        (Effort::Max, "0".to_owned()),
    ]
    .into();
    let mut shown = String::new();
    for (mode, api) in [
        (ThinkingMode::Effort, Api::OpenaiCompletions),
        (ThinkingMode::Budget, Api::AnthropicMessages),
        (ThinkingMode::AnthropicAdaptive, Api::AnthropicMessages),
        (ThinkingMode::AnthropicBudgetEffort, Api::AnthropicMessages),
        (ThinkingMode::GoogleLevel, Api::GoogleGenerativeAi),
    ] {
        model.thinking = Some(mode);
        for level in [Effort::Low, Effort::Medium, Effort::High, Effort::Max] {
            let said = said(&model, api, Thinking::Level(level));
            writeln!(shown, "{} {level}: {said}", mode.as_str()).unwrap();
        }
    }
    insta::assert_snapshot!(shown, @"
    effort low: `light`
    effort medium: `9000`
    effort high: `20000`
    effort max: `0`
    budget low: refused: `effortMap` says `light` for `low`, and a budget is a number of tokens, 1 or more
    budget medium: 9000 tokens
    budget high: refused: `maxTokens` is 20000, which leaves no room to think and to answer
    budget max: refused: `effortMap` says `0` for `max`, and a budget is a number of tokens, 1 or more
    anthropic-adaptive low: `light`, adaptive
    anthropic-adaptive medium: `9000`, adaptive
    anthropic-adaptive high: `20000`, adaptive
    anthropic-adaptive max: `0`, adaptive
    anthropic-budget-effort low: `light` and 4096 tokens
    anthropic-budget-effort medium: `9000` and 8192 tokens
    anthropic-budget-effort high: `20000` and 15000 tokens
    anthropic-budget-effort max: `0` and 15000 tokens
    google-level low: `light`
    google-level medium: `9000`
    google-level high: `20000`
    google-level max: `0`
    ");
}

#[test]
fn an_answer_has_a_limit_where_the_api_wants_one() {
    let limit =
        |max, api, wire: Option<WireEffort>| max_tokens(&model(None, max), api, wire.as_ref());
    let budget = Some(WireEffort::Budget(16_384));
    for api in Api::REMOTE {
        let unstated = (api == Api::AnthropicMessages).then_some(8_192);
        assert_eq!(limit(None, api, None), unstated);
        assert_eq!(limit(Some(500), api, budget.clone()), Some(500));
    }
    assert_eq!(limit(None, Api::AnthropicMessages, budget), Some(24_576));
}

proptest! {
    #[test]
    fn a_budget_leaves_a_quarter_of_the_limit(
        max in 1_u64..200_000,
        level in prop::sample::select(Effort::ALL.to_vec()),
        api in prop::sample::select(vec![Api::AnthropicMessages, Api::GoogleGenerativeAi]),
    ) {
        let model = model(Some(ThinkingMode::Budget), Some(max));
        match wire_effort(&model, api, Thinking::Level(level)) {
            Ok(WireEffort::Budget(tokens)) => {
                prop_assert!(tokens > 0 && tokens <= max / 4 * 3 + 3);
                prop_assert!(tokens < max);
                prop_assert!(api != Api::AnthropicMessages || tokens >= 1_024);
            }
            other => {
                prop_assert_eq!(other, Err(Unsayable::NoRoom { max_tokens: max }));
                prop_assert!(max < 1_366);
            }
        }
    }
}

#[test]
fn a_limit_leaves_half_of_the_window_to_the_conversation() {
    let sent = |window: Option<u64>, limit: Option<u64>| {
        let mut model = Model::new("m");
        (model.context_window, model.max_tokens) = (window, limit);
        [Api::OpenaiCompletions, Api::AnthropicMessages].map(|api| max_tokens(&model, api, None))
    };
    assert_eq!(sent(None, Some(8_000)), [Some(8_000); 2]);
    assert_eq!(sent(Some(200_000), Some(8_000)), [Some(8_000); 2]);
    assert_eq!(sent(Some(8_000), Some(8_000)), [None, Some(4_000)]);
    assert_eq!(sent(Some(8_000), None), [None, Some(8_192)]);
}
