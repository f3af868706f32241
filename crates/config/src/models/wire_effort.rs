//! Levels of effort in the terms of an API.

use sortie_protocol::{Api, Effort, Thinking, WireEffort};
use thiserror::Error;

use super::{Model, ThinkingMode};

/// Tokens for Anthropic's models to think with, by level.
const ANTHROPIC_BUDGETS: [u64; 6] = [1_024, 4_096, 8_192, 16_384, 32_768, 32_768];
/// Tokens for Gemini to think with, by level.
const GOOGLE_BUDGETS: [u64; 6] = [1_024, 2_048, 8_192, 16_384, 24_575, 32_768];
/// The smallest budget that Anthropic takes.
const ANTHROPIC_LEAST: u64 = 1_024;
/// Tokens that a model behind Anthropic's API may answer with when nobody stated it: that API wants a number.
const ANTHROPIC_ANSWER: u64 = 8_192;

/// A level that cannot be asked for as things are.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Unsayable {
    /// The API has no such way.
    #[error("`thinking: {}` cannot be said over `{api}`", mode.as_str())]
    Mode {
        /// The way that the catalogue names.
        mode: ThinkingMode,
        /// The model's API.
        api: Api,
    },
    /// Gemini's levels begin above nothing.
    #[error("it is asked to think by level, and none of `{api}` means `off`")]
    Off {
        /// The model's API.
        api: Api,
    },
    /// A word where a number of tokens is wanted.
    #[error(
        "`effortMap` says `{word}` for `{level}`, and a budget is a number of tokens, 1 or more"
    )]
    NoBudget {
        /// The level.
        level: Effort,
        /// What `effortMap` says.
        word: String,
    },
    /// The limit of the answer leaves none for thinking.
    #[error("`maxTokens` is {max_tokens}, which leaves no room to think and to answer")]
    NoRoom {
        /// The limit.
        max_tokens: u64,
    },
}

/// What a request to `model` over `api` says of `thinking`.
pub(super) fn wire_effort(
    model: &Model,
    api: Api,
    thinking: Thinking,
) -> Result<WireEffort, Unsayable> {
    let mode = model.thinking.unwrap_or(match api {
        Api::OpenaiCompletions | Api::OpenaiResponses | Api::Script => ThinkingMode::Effort,
        // Newer models take a budget too; older ones take nothing else.
        Api::AnthropicMessages | Api::GoogleGenerativeAi => ThinkingMode::Budget,
    });
    let fits = match api {
        Api::OpenaiCompletions | Api::OpenaiResponses | Api::Script => mode == ThinkingMode::Effort,
        Api::AnthropicMessages => matches!(
            mode,
            ThinkingMode::Budget
                | ThinkingMode::AnthropicAdaptive
                | ThinkingMode::AnthropicBudgetEffort
        ),
        Api::GoogleGenerativeAi => matches!(mode, ThinkingMode::Budget | ThinkingMode::GoogleLevel),
    };
    if !fits {
        return Err(Unsayable::Mode { mode, api });
    }
    let Thinking::Level(level) = thinking else {
        return match mode {
            ThinkingMode::GoogleLevel => Err(Unsayable::Off { api }),
            _ => Ok(WireEffort::Off),
        };
    };
    let given = model.effort_words.get(&level).map(String::as_str);
    let word = |own: &str| given.unwrap_or(own).to_owned();
    let for_anthropic = match level {
        Effort::Minimal => "low",
        other => other.as_str(),
    };
    Ok(match mode {
        ThinkingMode::Effort => WireEffort::Word(word(level.as_str())),
        ThinkingMode::AnthropicAdaptive => WireEffort::Adaptive(word(for_anthropic)),
        ThinkingMode::AnthropicBudgetEffort => WireEffort::BudgetAndWord {
            tokens: fitted(budget(api, level), api, model)?,
            word: word(for_anthropic),
        },
        ThinkingMode::GoogleLevel => WireEffort::Word(word(match level {
            Effort::Minimal => "MINIMAL",
            Effort::Low => "LOW",
            Effort::Medium => "MEDIUM",
            Effort::High | Effort::Xhigh | Effort::Max => "HIGH",
        })),
        ThinkingMode::Budget => WireEffort::Budget(match given {
            Some(word) => stated(word, level, model)?,
            None => fitted(budget(api, level), api, model)?,
        }),
    })
}

/// The budget that `effortMap` states.
fn stated(word: &str, level: Effort, model: &Model) -> Result<u64, Unsayable> {
    let tokens = word.parse().ok().filter(|&tokens| tokens > 0);
    let tokens = tokens.ok_or_else(|| Unsayable::NoBudget {
        level,
        word: word.to_owned(),
    })?;
    match room(model) {
        Some(max_tokens) if tokens >= max_tokens => Err(Unsayable::NoRoom { max_tokens }),
        _ => Ok(tokens),
    }
}

/// The limit of an answer to be sent, thinking included. A request is refused whose conversation and limit are together
/// more than the window, so a limit that leaves less than half of it is not sent: whatever is left is the limit then, or
/// half of the window over an API that wants a number.
pub(super) fn max_tokens(model: &Model, api: Api, wire: Option<&WireEffort>) -> Option<u64> {
    let thinking = match wire {
        Some(WireEffort::Budget(tokens) | WireEffort::BudgetAndWord { tokens, .. }) => *tokens,
        _ => 0,
    };
    let room = room(model);
    if api == Api::AnthropicMessages {
        return room.or_else(|| Some(ANTHROPIC_ANSWER.saturating_add(thinking)));
    }
    room.filter(|_| room == model.max_tokens)
}

/// What a model may answer with, without taking more than half of its window.
fn room(model: &Model) -> Option<u64> {
    let most = model.context_window.map_or(u64::MAX, |window| window / 2);
    model.max_tokens.map(|limit| limit.min(most))
}

fn budget(api: Api, level: Effort) -> u64 {
    let budgets = match api {
        Api::AnthropicMessages => ANTHROPIC_BUDGETS,
        _ => GOOGLE_BUDGETS,
    };
    budgets[level as usize]
}

/// A budget that leaves a quarter of the answer's limit to answer with. It has to stay under that limit.
fn fitted(budget: u64, api: Api, model: &Model) -> Result<u64, Unsayable> {
    let Some(max_tokens) = room(model) else {
        return Ok(budget);
    };
    let least = match api {
        Api::AnthropicMessages => ANTHROPIC_LEAST,
        _ => 1,
    };
    let fitted = budget.min(max_tokens - max_tokens.div_ceil(4));
    if fitted < least {
        return Err(Unsayable::NoRoom { max_tokens });
    }
    Ok(fitted)
}

#[cfg(test)]
#[path = "wire_effort_tests.rs"]
mod tests;
