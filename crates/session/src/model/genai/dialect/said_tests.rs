use std::fmt::Write;

use serde_json::json;
use sortie_protocol::{Origin, RecordKind, WireEffort};

use super::*;
use crate::model::genai::asking::{candidate, read_tool, records, request};

/// A request for `effort` over `api`, without its conversation.
fn without_conversation(api: Api, effort: Option<WireEffort>, forced: bool) -> Value {
    let mut candidate = candidate("http://localhost/v1");
    candidate.api = api;
    candidate.wire_effort = effort;
    candidate.max_tokens = Some(64_000);
    let transcript = records([RecordKind::User {
        origin: Origin::Assignment,
        text: "go".into(),
    }]);
    let tools = if forced { vec![read_tool()] } else { vec![] };
    let mut body = body(&ModelRequest {
        tools: &tools,
        must_call: forced.then_some("read"),
        ..request(&candidate, &transcript)
    });
    for key in ["model", "stream", "messages", "input", "contents", "tools"] {
        body.shift_remove(key);
    }
    body.into()
}

#[test]
fn an_effort_is_spelled_as_the_plan_says() {
    let word = |word: &str| WireEffort::Word(word.into());
    let both = |tokens| WireEffort::BudgetAndWord {
        tokens,
        word: "low".into(),
    };
    let efforts = |api| match api {
        Api::AnthropicMessages => vec![
            WireEffort::Budget(16_384),
            WireEffort::Adaptive("xhigh".into()),
            both(4_096),
        ],
        Api::GoogleGenerativeAi => vec![WireEffort::Budget(24_575), word("HIGH")],
        _ => vec![word("minimal"), word("of their own")],
    };
    let mut shown = String::new();
    for api in Api::REMOTE {
        let all = [None, Some(WireEffort::Off)].into_iter();
        for effort in all.chain(efforts(api).into_iter().map(Some)) {
            let body = without_conversation(api, effort.clone(), false);
            let effort = effort.map_or_else(|| "-".to_owned(), |effort| effort.to_string());
            writeln!(shown, "{api} {effort}: {body}").unwrap();
        }
    }
    insta::assert_snapshot!(shown, @r#"
    openai-completions -: {"stream_options":{"include_usage":true},"max_tokens":64000}
    openai-completions off: {"stream_options":{"include_usage":true},"reasoning_effort":"none","max_tokens":64000}
    openai-completions `minimal`: {"stream_options":{"include_usage":true},"reasoning_effort":"minimal","max_tokens":64000}
    openai-completions `of their own`: {"stream_options":{"include_usage":true},"reasoning_effort":"of their own","max_tokens":64000}
    openai-responses -: {"store":false,"max_output_tokens":64000}
    openai-responses off: {"store":false,"max_output_tokens":64000,"reasoning":{"effort":"none"}}
    openai-responses `minimal`: {"store":false,"max_output_tokens":64000,"reasoning":{"effort":"minimal","summary":"auto"},"include":["reasoning.encrypted_content"]}
    openai-responses `of their own`: {"store":false,"max_output_tokens":64000,"reasoning":{"effort":"of their own","summary":"auto"},"include":["reasoning.encrypted_content"]}
    anthropic-messages -: {"max_tokens":64000}
    anthropic-messages off: {"max_tokens":64000,"thinking":{"type":"disabled"}}
    anthropic-messages 16384 tokens: {"max_tokens":64000,"thinking":{"type":"enabled","budget_tokens":16384}}
    anthropic-messages `xhigh`, adaptive: {"max_tokens":64000,"thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":"xhigh"}}
    anthropic-messages `low` and 4096 tokens: {"max_tokens":64000,"thinking":{"type":"enabled","budget_tokens":4096},"output_config":{"effort":"low"}}
    google-generative-ai -: {"generationConfig":{"maxOutputTokens":64000}}
    google-generative-ai off: {"generationConfig":{"maxOutputTokens":64000,"thinkingConfig":{"thinkingBudget":0}}}
    google-generative-ai 24575 tokens: {"generationConfig":{"maxOutputTokens":64000,"thinkingConfig":{"thinkingBudget":24575,"includeThoughts":true}}}
    google-generative-ai `HIGH`: {"generationConfig":{"maxOutputTokens":64000,"thinkingConfig":{"thinkingLevel":"HIGH","includeThoughts":true}}}
    "#);
}

#[test]
fn a_tool_is_forced_where_the_api_takes_it() {
    let thinking = [
        (Api::OpenaiCompletions, WireEffort::Word("high".into())),
        (Api::OpenaiResponses, WireEffort::Word("high".into())),
        (Api::AnthropicMessages, WireEffort::Budget(4_096)),
        (Api::AnthropicMessages, WireEffort::Off),
        (Api::GoogleGenerativeAi, WireEffort::Word("HIGH".into())),
    ];
    let mut shown = String::new();
    for (api, effort) in thinking {
        let body = without_conversation(api, Some(effort), true);
        let choice = body.get("tool_choice").or_else(|| body.get("toolConfig"));
        writeln!(shown, "{api} {}", json!(choice)).unwrap();
    }
    insta::assert_snapshot!(shown, @r#"
    openai-completions {"type":"function","function":{"name":"read"}}
    openai-responses {"type":"function","name":"read"}
    anthropic-messages null
    anthropic-messages {"type":"tool","name":"read"}
    google-generative-ai {"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["read"]}}
    "#);
}

#[test]
fn a_new_openai_model_has_another_word_for_its_limit() {
    let mut candidate = candidate("http://localhost/v1");
    candidate.max_tokens = Some(5);
    for (name, key) in [
        ("gpt-5-mini", "max_completion_tokens"),
        ("o3", "max_completion_tokens"),
        ("gpt-4.1", "max_tokens"),
        ("openai/gpt-5", "max_tokens"),
    ] {
        candidate.wire_name = name.into();
        let body = completions::body(&request(&candidate, &[]));
        assert_eq!(body.get(key), Some(&5.into()), "{name}");
    }
}
