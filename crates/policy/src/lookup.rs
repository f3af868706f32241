//! Finding a model in the catalogue.

use sortie_config::{Available, LeftOut, Model, Models, Provider, nearest};
use sortie_protocol::EffortWord;

use crate::{agent::quoted, family};

/// The prefix of scripts: `script/NAME`.
pub(crate) const SCRIPT: &str = "script/";

/// What a name led to.
#[derive(Debug)]
pub(crate) enum Found<'a> {
    /// One model, and the level at the end of the name.
    One {
        provider: &'a Provider,
        model: &'a Model,
        level: Option<EffortWord>,
    },
    /// Nothing that could be used; the reason is a fragment.
    None(String),
    /// Something that a file describes, and describes badly.
    Faulty(&'a LeftOut),
    /// Several; a person has to choose. The candidates, as a message lists them.
    Ambiguous(String),
}

/// `provider/model`.
pub(crate) fn selector(provider: &Provider, model: &Model) -> String {
    format!("{}/{}", provider.name, model.id)
}

/// Why a provider's models cannot be used, as a fragment.
pub(crate) fn hindrance(models: &Models, provider: &Provider) -> Option<String> {
    match models.availability(provider) {
        Available::Available => None,
        Available::MissingKey { variable } => Some(format!("no key: `{variable}` is not set")),
    }
}

/// Finds the model that `name` means: exactly, then without a level at its end, then as part of exactly one name. Who
/// names the provider as well means what is written, and a slip is not taken for another model.
pub(crate) fn find<'a>(models: &'a Models, name: &str) -> Found<'a> {
    let (base, level) = family::split(name);
    for (text, level) in [(name, None), (base, level)] {
        if let Some(found) = exact(models, text, level) {
            return found;
        }
    }
    if let Some(faulty) = faulty(models, name, base) {
        return Found::Faulty(faulty);
    }
    partial(models, base, level)
}

/// A model that was left out, by its name with or without the level at its end. Of two that bear it, the one that the
/// more important file describes.
fn faulty<'a>(models: &'a Models, name: &str, base: &str) -> Option<&'a LeftOut> {
    let is_meant = |one: &&LeftOut| {
        one.model.as_deref().is_some_and(|model| {
            [name, base].iter().any(|text| {
                *text == model || text.split_once('/') == Some((one.provider.as_str(), model))
            })
        })
    };
    models.left_out().iter().rev().find(is_meant)
}

/// A provider that was left out.
fn faulty_provider<'a>(models: &'a Models, provider: &str) -> Option<&'a LeftOut> {
    let is_meant = |one: &&LeftOut| one.model.is_none() && one.provider == provider;
    models.left_out().iter().rev().find(is_meant)
}

fn exact<'a>(models: &'a Models, text: &str, level: Option<EffortWord>) -> Option<Found<'a>> {
    let one = |(provider, model)| Found::One {
        provider,
        model,
        level,
    };
    if let Some((provider, id)) = text.split_once('/')
        && let Some(pair) = models.find(provider, id)
    {
        return Some(one(pair));
    }
    let named: Vec<_> = models.named(text).collect();
    if let [only] = named.as_slice() {
        return Some(one(*only));
    }
    let mut usable = named
        .iter()
        .filter(|(provider, _)| hindrance(models, provider).is_none());
    match (usable.next(), usable.next()) {
        (Some(only), None) => Some(one(*only)),
        // Of several that cannot be used each says why in the same words, or nearly.
        (None, _) => named.first().map(|first| one(*first)),
        (Some(_), Some(_)) => Some(ambiguous(named.iter().copied())),
    }
}

fn partial<'a>(models: &'a Models, text: &str, level: Option<EffortWord>) -> Found<'a> {
    let within = match text.split_once('/') {
        Some((provider, _)) => match models.provider(provider) {
            Some(provider) => Some(provider),
            None => return unknown_provider(models, provider),
        },
        None => None,
    };
    let part = text.to_lowercase();
    let matches: Vec<_> = models
        .iter()
        .filter(|(provider, model)| {
            within.is_none()
                && !part.is_empty()
                && model.id.to_lowercase().contains(&part)
                && hindrance(models, provider).is_none()
        })
        .collect();
    match matches.as_slice() {
        [(provider, model)] => Found::One {
            provider,
            model,
            level,
        },
        // What a file says of a provider on top of another may be where the model stands.
        [] => match within.and_then(|within| faulty_provider(models, &within.name)) {
            Some(faulty) => Found::Faulty(faulty),
            None => Found::None(unknown(models, within, text)),
        },
        _ => ambiguous(matches.iter().copied()),
    }
}

fn ambiguous<'a>(pairs: impl Iterator<Item = (&'a Provider, &'a Model)>) -> Found<'a> {
    let names: Vec<_> = pairs
        .map(|(provider, model)| selector(provider, model))
        .collect();
    Found::Ambiguous(quoted(names.iter().map(String::as_str)))
}

fn unknown_provider<'a>(models: &'a Models, provider: &str) -> Found<'a> {
    if let Some(faulty) = faulty_provider(models, provider) {
        return Found::Faulty(faulty);
    }
    let known = models
        .providers()
        .iter()
        .map(|provider| provider.name.as_str());
    Found::None(match nearest(provider, known) {
        Some(meant) => format!("there is no provider `{provider}`; did you mean `{meant}`?"),
        None => format!("there is no provider `{provider}`"),
    })
}

fn unknown(models: &Models, within: Option<&Provider>, text: &str) -> String {
    let names: Vec<String> = models
        .iter()
        .filter(|(provider, _)| within.is_none_or(|within| within.name == provider.name))
        .map(|(provider, model)| match within {
            Some(_) => selector(provider, model),
            None => model.id.clone(),
        })
        .collect();
    match nearest(text, names.iter().map(String::as_str)) {
        Some(meant) => format!("it is in no catalogue; did you mean `{meant}`?"),
        None => "it is in no catalogue".to_owned(),
    }
}
