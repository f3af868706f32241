//! The values of keys and headers: named everywhere, handed out only here.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use base64::prelude::{BASE64_STANDARD, Engine as _};
use percent_encoding::percent_decode_str;
use sortie_protocol::{Candidate, Secrets};

use super::{KeySource, Models, Provider, Start, command};
use crate::{Environment, Problem};

/// A literal that is shorter than this is no key: `ollama`, `none`.
const SHORTEST_LITERAL: usize = 12;

/// The longest word: more letters in a row were drawn by lot.
const LONGEST_WORD: usize = 12;

/// The password of a URL that is shorter than this stands for none.
const SHORTEST_PASSWORD: usize = 6;

/// What the password of a URL is called.
const PASSWORD: &str = "password";

/// What values are made of: the environment, and what commands have printed so far.
#[derive(Clone)]
pub(super) struct Vault {
    environment: Environment,
    printed: Arc<Mutex<HashMap<String, String>>>,
}

impl Vault {
    pub(super) fn new(environment: Environment) -> Self {
        Self {
            environment,
            printed: Arc::default(),
        }
    }

    pub(super) fn environment(&self) -> &Environment {
        &self.environment
    }

    /// The value, as far as it is known without running anything.
    fn known(&self, source: &KeySource) -> Option<String> {
        // A line's end comes along with what is read from a file, and is part of no key.
        let whole = |value: &str| value.trim().to_owned();
        match source {
            KeySource::Variable(name) => self.environment.get(name).map(whole),
            KeySource::Literal(value) => Some(whole(value.reveal())),
            KeySource::Command(command) => {
                let printed = self.printed.lock().unwrap_or_else(PoisonError::into_inner);
                printed.get(command).cloned()
            }
        }
    }

    /// The value of the secret `name`. A command runs once a run.
    fn value(&self, name: &str, source: &KeySource, start: Start<'_>) -> Result<String, Problem> {
        if let Some(value) = self.known(source) {
            return Ok(value);
        }
        match source {
            KeySource::Command(command) => {
                let line = command::first_line(command, &self.environment, start);
                let value = line.map_err(|fault| {
                    Problem::error(format!("the command for `{name}` {fault}"))
                        .help("run the command in a shell to see what it prints")
                })?;
                let mut printed = self.printed.lock().unwrap_or_else(PoisonError::into_inner);
                printed.insert(command.clone(), value.clone());
                Ok(value)
            }
            KeySource::Variable(variable) => {
                Err(Problem::error(format!("`{variable}` is not set"))
                    .help(format!("export `{variable}`, or use another model")))
            }
            KeySource::Literal(value) => Ok(value.reveal().trim().to_owned()),
        }
    }
}

impl fmt::Debug for Vault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Vault")
    }
}

pub(super) fn url_name(provider: &Provider) -> String {
    format!("{}.baseUrl", provider.name)
}

pub(super) fn key_name(provider: &Provider, source: &KeySource) -> String {
    match source {
        KeySource::Variable(name) => name.clone(),
        KeySource::Command(_) | KeySource::Literal(_) => format!("{}.apiKey", provider.name),
    }
}

pub(super) fn header_name(provider: &Provider, header: &str, source: &KeySource) -> String {
    match source {
        KeySource::Variable(name) => name.clone(),
        KeySource::Command(_) | KeySource::Literal(_) => {
            format!("{}.headers.{header}", provider.name)
        }
    }
}

/// Every value that a provider has, by the name that candidates use.
fn sources(provider: &Provider) -> impl Iterator<Item = (String, &KeySource)> {
    let key = provider
        .key
        .iter()
        .map(|source| (key_name(provider, source), source));
    let headers = provider
        .headers
        .iter()
        .map(|(header, source)| (header_name(provider, header, source), source));
    key.chain(headers)
}

/// Whether a text that somebody wrote in place of a key or into a header is plainly none: short, or of words without a
/// digit, such as `not-needed` and `sk-no-key-required`. It stands in many texts for what it says.
fn is_plain(literal: &str) -> bool {
    let is_word = |word: &str| word.len() <= LONGEST_WORD;
    literal.len() < SHORTEST_LITERAL
        || !literal.contains(|c: char| c.is_ascii_digit())
            && literal.split(|c: char| !c.is_alphabetic()).all(is_word)
}

fn add(secrets: &mut Secrets, name: String, source: &KeySource, value: String) {
    match source {
        KeySource::Literal(_) if is_plain(&value) => secrets.insert_plain(name, value),
        KeySource::Literal(_) | KeySource::Variable(_) | KeySource::Command(_) => {
            secrets.insert(name, value);
        }
    }
}

impl Models {
    /// The values that `candidates` name. Commands are run for this by `start`, each once a run, for at most 10 seconds.
    ///
    /// The problem is a variable that is not set, or a command that fails or prints nothing.
    pub fn secrets_for(
        &self,
        candidates: &[Candidate],
        start: Start<'_>,
    ) -> Result<Secrets, Problem> {
        let mut secrets = Secrets::default();
        let mut wanted: Vec<&str> = candidates.iter().map(|c| c.provider.as_str()).collect();
        wanted.sort_unstable();
        wanted.dedup();
        for provider in wanted.into_iter().filter_map(|name| self.provider(name)) {
            for (name, source) in sources(provider) {
                let value = self.vault.value(&name, source, start)?;
                add(&mut secrets, name, source, value);
            }
            if let Some(url) = &provider.url_secret {
                secrets.insert(url_name(provider), url.reveal());
            }
        }
        Ok(secrets)
    }

    /// Every value of every provider, whether it is used or not: what must not be stored or shown is among them.
    ///
    /// Runs no command; what one printed is among them once [`Self::secrets_for`] has handed it out.
    pub fn all_secrets(&self) -> Secrets {
        let mut secrets = Secrets::default();
        for provider in self.providers() {
            for (name, source) in sources(provider) {
                if let Some(value) = self.vault.known(source) {
                    add(&mut secrets, name, source, value);
                }
            }
            if let Some(url) = &provider.url_secret {
                secrets.insert(url_name(provider), url.reveal());
                for (part, value) in url_parts(url.reveal()) {
                    let name = format!("{}.{part}", url_name(provider));
                    if part != PASSWORD && is_plain(value) {
                        secrets.insert_plain(name, value);
                    } else {
                        // What is sent is not written as it is in a URL, and comes back as it was sent.
                        let sent = percent_decode_str(value).decode_utf8_lossy();
                        if sent != value {
                            secrets.insert(format!("{name}.decoded"), sent);
                        }
                        secrets.insert(name, value);
                    }
                }
                if let Some(login) = login(url.reveal()) {
                    secrets.insert(format!("{}.login", url_name(provider)), login);
                }
            }
        }
        secrets
    }
}

/// The user and the password of a URL as an `Authorization` header holds them.
fn login(url: &str) -> Option<String> {
    let (_, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let (login, _) = authority.rsplit_once('@')?;
    let (user, password) = login.split_once(':').unwrap_or((login, ""));
    let sent = |part| percent_decode_str(part).collect::<Vec<u8>>();
    let login = [sent(user), b":".to_vec(), sent(password)].concat();
    Some(BASE64_STANDARD.encode(login))
}

/// The parts of a URL that are secrets by themselves, and what to call them: its password, else its user, and each
/// value of its query.
fn url_parts(url: &str) -> impl Iterator<Item = (&str, &str)> {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let rest = rest.split('#').next().unwrap_or_default();
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let authority = rest.split('/').next().unwrap_or_default();
    let user = authority.rsplit_once('@').map(|(user, _)| user);
    let user = user.map(|user| match user.split_once(':') {
        // Some take a key for the user, and anything or nothing for the password.
        Some((_, password)) if password.len() >= SHORTEST_PASSWORD => (PASSWORD, password),
        Some((user, _)) => ("user", user),
        None => ("user", user),
    });
    let query = query.split('&').filter_map(|part| part.split_once('='));
    // A date that says which release of an endpoint is meant is no secret, and stands in many texts.
    user.into_iter()
        .chain(query.filter(|(name, _)| *name != "api-version"))
        .filter(|(_, value)| !value.is_empty())
}

#[cfg(test)]
#[path = "secrets_tests.rs"]
mod tests;
