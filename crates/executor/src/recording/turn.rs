//! A model's answer, as a turn.

use serde_json::Value;
use sortie_protocol::{
    AssistantTurn, StopReason, ToolCall, Usage,
    script::{Finish, ScriptCall, Turn},
    tool::YIELD,
};

/// What stands for a tool without a name, which is as unknown.
const NAMELESS: &str = "nameless";

/// The turn that says the same as `answer`. What a provider has signed is left out: a script signs nothing.
pub(super) fn of(answer: &AssistantTurn) -> Turn {
    let thoughts = answer.thoughts.iter().map(|thought| thought.text.as_str());
    let thoughts: Vec<_> = thoughts.filter(|text| !text.is_empty()).collect();
    let (calls, finish) = match answer.calls.split_last() {
        Some((last, calls)) => match finish(last, &answer.text) {
            Some(finish) => (calls, Some(finish)),
            None => (&answer.calls[..], None),
        },
        None => (&[][..], None),
    };
    let told = finish.as_ref().is_some_and(|finish| finish.text.is_some());
    let mut turn = Turn {
        think: (!thoughts.is_empty()).then(|| thoughts.join("\n\n")),
        text: (!told && !answer.text.is_empty()).then(|| answer.text.clone()),
        finish,
        end: end(answer.stop, !answer.calls.is_empty()),
        usage: (answer.usage != Usage::default()).then_some(answer.usage),
        ..Turn::default()
    };
    match calls {
        [only] => {
            turn.tool = Some(name(only));
            turn.args = Some(only.args.clone());
        }
        calls => turn.tools = calls.iter().map(call).collect(),
    }
    turn
}

fn name(call: &ToolCall) -> String {
    if call.name.is_empty() {
        NAMELESS.to_owned()
    } else {
        call.name.clone()
    }
}

fn call(call: &ToolCall) -> ScriptCall {
    ScriptCall {
        tool: name(call),
        args: call.args.clone(),
    }
}

/// A `yield` in the words that a script has for it, where they mean exactly the same.
fn finish(call: &ToolCall, said: &str) -> Option<Finish> {
    if call.name != YIELD {
        return None;
    }
    let args = call.args.as_object()?;
    let word = |value: &Value| {
        value
            .as_str()
            .filter(|text| !text.is_empty())
            .map(str::to_owned)
    };
    let section = args.get("type").and_then(|kind| word(kind.get(0)?));
    let error = args.get("error").and_then(word);
    let data = args.get("data").cloned();
    let finish = Finish {
        text: (data.is_none() && error.is_none()).then(|| said.to_owned()),
        data,
        error,
        section,
    };
    let is_one = finish.data.is_none() || finish.error.is_none();
    let has_data = finish.section.is_none() || finish.data.is_some();
    (is_one && has_data && finish.arguments() == call.args).then_some(finish)
}

/// What a turn has to say of its end, where that is not plain from its calls.
fn end(stop: StopReason, has_calls: bool) -> Option<String> {
    let word = match stop {
        StopReason::Length => "length",
        StopReason::Refusal => "refusal",
        StopReason::Stop if has_calls => "stop",
        StopReason::Stop | StopReason::ToolUse => return None,
    };
    Some(word.to_owned())
}

#[cfg(test)]
#[path = "turn_tests.rs"]
mod tests;
