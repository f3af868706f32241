//! Who wrote a selector: whoever it is has to hear what is wrong with it.

use sortie_config::{Problem, Source};
use sortie_discovery::{AgentDefinition, Span};
use sortie_protocol::AgentSource;

use crate::why::Why;

/// Who wrote a selector.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Origin<'a> {
    /// `--model`.
    Flag,
    /// `model` of the batch, and where that stands.
    Batch(Option<(Source, Span)>),
    /// `model` of the task.
    Task,
    /// The setting of this key.
    Setting { key: String, why: Why },
    /// The agent's file.
    File(&'a AgentDefinition),
    /// Nobody: it is the caller's model.
    Caller,
}

/// Something that was asked for and cannot be used.
#[derive(Clone, Debug)]
pub(crate) struct Unusable<'a> {
    pub selector: String,
    /// Why, as a fragment.
    pub left: String,
    pub origin: Origin<'a>,
    /// What is wrong in the file that describes it, when that is why.
    pub fault: Option<Problem>,
}

impl Origin<'_> {
    /// A setting, and who set it.
    pub(crate) fn setting(key: String, origin: &sortie_config::Origin) -> Self {
        let why = Why::setting(&key, origin);
        Self::Setting { key, why }
    }

    /// What somebody calls the place where the selector stands.
    fn subject(&self) -> String {
        match self {
            Self::Flag => "`--model`".to_owned(),
            Self::Batch(_) => "`model` of the batch".to_owned(),
            Self::Task => "`model` of the task".to_owned(),
            Self::Setting { why, .. } => match (&why.file, why.line) {
                (Some(file), Some(line)) => format!("{} ({}:{line})", why.text, file.display()),
                _ => why.text.clone(),
            },
            Self::File(agent) => format!("`model` of `{}`", agent.name.value),
            Self::Caller => "the caller's model".to_owned(),
        }
    }

    /// `problem`, which is with what stands there.
    pub(crate) fn blame(&self, problem: Problem) -> Problem {
        match self {
            Self::File(_) => self.place(problem),
            _ => self.place(problem.about(&self.subject())),
        }
    }

    /// `problem` at the place, where it is one that its reader can change: nobody who reads it wrote a bundled file.
    fn place(&self, problem: Problem) -> Problem {
        match self {
            Self::Batch(Some((source, span))) => problem.at(source, span.clone()),
            Self::File(agent) if agent.source != AgentSource::Bundled => match &agent.model {
                Some(model) => problem.at(&agent.file, model.span.clone()),
                None => problem,
            },
            _ => problem,
        }
    }

    /// That no selector stands there.
    pub(crate) fn is_empty(&self) -> Problem {
        let fault = Problem::error(format!("{} is empty", self.subject()));
        self.place(fault.help(match self {
            Self::Flag => "name a model, or leave `--model` out",
            _ => "name a model there, or leave it out",
        }))
    }

    /// What its author can do when it leads to nothing.
    fn advice(&self) -> String {
        match self {
            Self::Flag => "name another model by `--model PROVIDER/MODEL`".to_owned(),
            Self::Batch(_) => {
                "name another model by `model` of the batch, or by `--model PROVIDER/MODEL`"
                    .to_owned()
            }
            Self::Setting { key, .. } if key.starts_with("modelRoles.") => {
                format!("name another model in `{key}`")
            }
            // Nobody who reads this can edit a bundled list.
            Self::File(agent) if agent.source == AgentSource::Bundled => {
                "choose another model".to_owned()
            }
            Self::Setting { .. } | Self::File(_) => {
                "choose another model, or end the list with `@parent` to fall back on the caller's"
                    .to_owned()
            }
            Self::Task | Self::Caller => "choose another model".to_owned(),
        }
    }
}

/// That nothing is left of what was asked for. `whole` is who wrote the list, some of whose entries may stand for what
/// others wrote.
pub(crate) fn exhausted(unusable: &[Unusable<'_>], agent: &str, whole: &Origin<'_>) -> Problem {
    let origin = match unusable {
        [first, rest @ ..] if rest.iter().all(|one| one.origin == first.origin) => &first.origin,
        _ => whole,
    };
    let (message, fault) = match unusable {
        [only] => {
            let Unusable { selector, left, .. } = only;
            let message = match origin {
                Origin::File(_) => format!("`{agent}` cannot use its model `{selector}`: {left}"),
                Origin::Caller => format!("the caller's model `{selector}` cannot be used: {left}"),
                _ => format!("{} names `{selector}`: {left}", origin.subject()),
            };
            (message, only.fault.as_ref())
        }
        several => {
            let reasons: Vec<_> = several
                .iter()
                .map(|one| match &one.fault {
                    // One problem has one place.
                    Some(fault) => format!(
                        "`{}`: {} ({})",
                        one.selector,
                        one.left,
                        fault.whereabouts().unwrap_or_default()
                    ),
                    None => format!("`{}`: {}", one.selector, one.left),
                })
                .collect();
            let subject = match origin {
                Origin::File(_) | Origin::Caller => format!("`{agent}` can use none of its models"),
                _ => format!("{} names no model that can be used", origin.subject()),
            };
            (format!("{subject}: {}", reasons.join("; ")), None)
        }
    };
    if let Some(fault) = fault {
        return fault.clone().says(message);
    }
    let problem = Problem::error(message);
    let missing_key = unusable.iter().any(|one| one.left.contains("is not set"));
    origin.place(if missing_key {
        problem.help("set the variable, or choose another model")
    } else {
        problem.help(origin.advice())
    })
}

#[cfg(test)]
#[path = "origin_tests.rs"]
mod tests;
