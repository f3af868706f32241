//! A model that answers from the plan: no endpoint, no key, the same every time.

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use futures_util::{StreamExt, stream};
use sortie_protocol::{
    Candidate, StopReason, Thought, ToolCall, Usage,
    script::{ScriptCall, ScriptError, Turn, fill_scratch},
    tool::YIELD,
};

use super::{Answer, Chunk, ChunkStream, ModelClient, ModelError, ModelRequest};

/// Walks the scripts of the candidates: a request takes the next turn of the first entry that matches it.
#[derive(Debug)]
pub struct ScriptClient {
    scratch: PathBuf,
    /// Turns taken of each entry, by the candidate's selector.
    taken: Mutex<HashMap<String, Vec<usize>>>,
}

impl ScriptClient {
    /// A client that puts `scratch` in the place of `${scratch}` in every string of a turn.
    pub fn new(scratch: PathBuf) -> Self {
        Self {
            scratch,
            taken: Mutex::default(),
        }
    }

    fn next_turn(&self, n: u64, candidate: &Candidate) -> Option<Turn> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = taken.entry(candidate.selector.clone()).or_default();
        taken.resize(candidate.script.len(), 0);
        let entries = candidate.script.iter().zip(taken);
        let (entry, taken) = entries
            .filter(|(entry, _)| entry.when.request.is_none_or(|wanted| wanted == n))
            .find(|(entry, taken)| **taken < entry.turns.len())?;
        let turn = entry.turns.get(*taken)?.clone();
        if !turn.repeat {
            *taken += 1;
        }
        let scratch = self.scratch.to_string_lossy();
        Some(turn.map_text(&|text| fill_scratch(text, &scratch)))
    }
}

fn calls(n: u64, turn: &Turn) -> Vec<ToolCall> {
    let single = turn.tool.iter().map(|tool| ScriptCall {
        tool: tool.clone(),
        args: turn.args.clone().unwrap_or_default(),
    });
    let finish = turn.finish.iter().map(|finish| ScriptCall {
        tool: YIELD.into(),
        args: finish.arguments(),
    });
    single
        .chain(turn.tools.iter().cloned())
        .chain(finish)
        .enumerate()
        .map(|(i, call)| ToolCall {
            id: format!("script-{n}-{}", i + 1),
            name: call.tool,
            args: call.args,
        })
        .collect()
}

#[async_trait]
impl ModelClient for ScriptClient {
    async fn stream(&self, request: ModelRequest<'_>) -> Result<ChunkStream, ModelError> {
        let ModelRequest { n, candidate, .. } = request;
        let turn = self
            .next_turn(n, candidate)
            .ok_or(ModelError::ScriptEnded(n))?;
        let calls = calls(n, &turn);
        let end = how_it_ends(&turn, !calls.is_empty())?;
        let finish = turn.finish.as_ref();
        let said = [
            turn.text.as_deref(),
            finish.and_then(|finish| finish.text.as_deref()),
        ];
        let text = said.into_iter().flatten().collect::<Vec<_>>().join("\n\n");
        let think = turn.think;
        let mut chunks = Vec::new();
        chunks.extend(think.clone().map(Chunk::Thought).map(Ok));
        if !text.is_empty() {
            chunks.push(Ok(Chunk::Text(text.clone())));
        }
        let stop = match end {
            End::Error(error) if chunks.is_empty() => return Err(error),
            End::Error(error) => {
                chunks.push(Err(error));
                return Ok(stream::iter(chunks).boxed());
            }
            End::Never => return Ok(stream::iter(chunks).chain(stream::pending()).boxed()),
            End::Well(stop) => stop,
        };
        let thoughts = think
            .into_iter()
            .map(|text| Thought {
                text,
                signature: None,
                ..Thought::default()
            })
            .collect();
        let usage = priced(turn.usage.unwrap_or_default(), candidate);
        chunks.push(Ok(Chunk::End(Answer {
            thoughts,
            text,
            calls,
            stop,
            usage,
        })));
        Ok(stream::iter(chunks).boxed())
    }
}

enum End {
    Well(StopReason),
    Error(ModelError),
    Never,
}

fn how_it_ends(turn: &Turn, has_calls: bool) -> Result<End, ModelError> {
    if let Some(error) = &turn.error {
        return Ok(failing(turn, status(error)));
    }
    if turn.cut {
        return Ok(failing(turn, ModelError::Truncated));
    }
    if turn.stall {
        return Ok(End::Never);
    }
    let stop = match turn.end.as_deref() {
        None if has_calls => StopReason::ToolUse,
        None | Some("stop") => StopReason::Stop,
        Some("length") => StopReason::Length,
        Some("refusal") => StopReason::Refusal,
        Some(other) => {
            let message =
                format!("`end: {other}` in the script; it is `stop`, `length` or `refusal`");
            return Err(ModelError::Request(message));
        }
    };
    Ok(End::Well(stop))
}

fn status(error: &ScriptError) -> ModelError {
    let message = error.message.as_deref();
    let wait = error.retry_after_s;
    ModelError::Status {
        http: error.status,
        message: message.unwrap_or("the script says so").to_owned(),
        retry_after: wait.and_then(|wait| Duration::try_from_secs_f64(wait).ok()),
    }
}

fn failing(turn: &Turn, error: ModelError) -> End {
    End::Error(if turn.repeat {
        ModelError::ForGood(Box::new(error))
    } else {
        error
    })
}

fn priced(usage: Usage, candidate: &Candidate) -> Usage {
    let by_list = || candidate.price.and_then(|price| price.of(&usage));
    Usage {
        cost: usage.cost.or_else(by_list),
        ..usage
    }
}

#[cfg(test)]
#[path = "script_tests.rs"]
mod tests;
