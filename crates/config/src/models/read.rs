//! Reading a `models.yml` on top of the providers that are known so far.
//!
//! A fault costs the model or the provider it is in, never the file.

use std::collections::BTreeMap;

use sortie_protocol::Api;

use super::{Hidden, KeySource, LeftOut, Provider, ProviderSource, SCRIPT, mask, row};
use crate::{
    Node, Problem, Source,
    fields::{Fields, Misfit},
    nearest,
    settings::Owner,
};

const PROVIDER_KEYS: &[&str] = &["baseUrl", "apiKey", "api", "headers", "models"];

/// Lays what `source` says on `providers`, and notes what of it cannot be used.
pub(super) fn lay(
    providers: &mut Vec<Provider>,
    left_out: &mut Vec<LeftOut>,
    source: &Source,
    owner: Owner,
) -> Vec<Problem> {
    let parsed = Node::parse(source);
    let shown = match &parsed {
        Ok(node) => mask::without_values(source, node),
        Err(_) => mask::without_any_value(source),
    };
    let mut file = File {
        source: &shown,
        owner,
        problems: Vec::new(),
        left_out,
    };
    let read = parsed
        .and_then(|node| file.read(providers, &node))
        .map_err(|problem| problem.shown_in(&shown));
    if let Err(problem) = read {
        file.problems.push(match owner {
            Owner::Ours => problem,
            Owner::Foreign => problem.into_warning("; the file is ignored"),
        });
    }
    file.problems
}

/// One file as it may be shown, and what was wrong in it so far.
pub(super) struct File<'a> {
    source: &'a Source,
    owner: Owner,
    problems: Vec<Problem>,
    left_out: &'a mut Vec<LeftOut>,
}

impl File<'_> {
    fn read(&mut self, providers: &mut Vec<Provider>, node: &Node) -> Result<(), Problem> {
        if node.is_null() {
            return Ok(());
        }
        let source = self.source;
        let root = Fields::of(node, "a catalogue").map_err(|misfit| misfit.error(source))?;
        self.note_unknown(root, &["providers"]);
        let entries = root
            .map("providers", "`providers`")
            .map_err(|misfit| misfit.error(source))?;
        for (key, value) in entries.iter().flat_map(Fields::entries) {
            if let Err(misfit) = self.provider(providers, key, value) {
                self.note_left_out(key, None, &misfit);
                self.leave_out("the provider", misfit);
            }
        }
        Ok(())
    }

    fn provider(
        &mut self,
        providers: &mut Vec<Provider>,
        key: &Node,
        value: &Node,
    ) -> Result<(), Misfit> {
        let name = provider_name(key)?;
        let fields = Fields::of(value, "a provider")?;
        self.note_unknown(fields, PROVIDER_KEYS);
        let old = providers.iter().position(|provider| provider.name == name);
        let known = old.map(|at| &providers[at]);

        let mut models = known.map_or_else(Vec::new, |provider| provider.models.clone());
        let mut listed = Vec::new();
        let default_api = fields.read("api", &apis(), read_api)?;
        for node in fields.list("models")? {
            let api = default_api.or(known.map(|provider| provider.api));
            match row::read(self, node, &models, api) {
                Ok(model) if listed.contains(&model.id) => {
                    let twice = format!("the model `{}` is listed twice", model.id);
                    self.leave_out("the second", Misfit::new(twice, node));
                }
                Ok(model) => {
                    listed.push(model.id.clone());
                    match models.iter_mut().find(|old| old.id == model.id) {
                        Some(old) => *old = model,
                        None => models.push(model),
                    }
                }
                Err(misfit) => {
                    if let Some(id) = node.get("id").and_then(Node::as_text) {
                        self.note_left_out(key, Some(id), &misfit);
                    }
                    self.leave_out("the model", misfit);
                }
            }
        }

        let (base_url, url_secret) = match fields.text("baseUrl")? {
            // Not shown when it is wrong: a key may be part of it.
            Some(url) => split_url(url).ok_or_else(|| {
                let node = fields.get("baseUrl").unwrap_or(value);
                let message = "`baseUrl` wants a URL that starts with `http://` or `https://`";
                Misfit::new(message, node)
            })?,
            None => match known {
                Some(provider) => (provider.base_url.clone(), provider.url_secret.clone()),
                None => return Err(Misfit::new(format!("`{name}` says no `baseUrl`"), key)),
            },
        };
        let api = default_api
            .or(known.map(|provider| provider.api))
            .or_else(|| models.iter().find_map(|model| model.api))
            .ok_or_else(|| {
                Misfit::new(format!("`{name}` says no `api`"), key).help(format!("say {}", apis()))
            })?;
        let key_source = match fields.text("apiKey")? {
            Some(text) => Some(KeySource::parse(text)),
            None => known.and_then(|provider| provider.key.clone()),
        };
        let mut all_headers = known.map_or_else(BTreeMap::new, |provider| provider.headers.clone());
        all_headers.extend(headers(fields)?);
        let provider = Provider {
            name: name.to_owned(),
            base_url,
            url_secret,
            api,
            key: key_source,
            headers: all_headers,
            models,
            source: ProviderSource::File {
                path: self.source.path().to_owned(),
                line: self.source.position(key.span.start).0,
            },
        };
        match old {
            Some(at) => providers[at] = provider,
            None => providers.push(provider),
        }
        Ok(())
    }

    /// Warns of keys that nobody reads. Another program's file has keys for that program.
    pub(super) fn note_unknown(&mut self, fields: Fields<'_>, known: &'static [&'static str]) {
        if self.owner == Owner::Ours {
            let source = self.source;
            let unknown = fields.unknown(known);
            self.problems
                .extend(unknown.map(|misfit| misfit.warning(source, "")));
        }
    }

    /// Keeps what is wrong with a provider, or with a model of it, for whoever asks for it by name.
    fn note_left_out(&mut self, provider: &Node, model: Option<&str>, misfit: &Misfit) {
        let Some(provider) = provider.as_text() else {
            return;
        };
        self.left_out.push(LeftOut {
            provider: provider.to_owned(),
            model: model.map(str::to_owned),
            fault: misfit.clone().error(self.source),
        });
    }

    fn leave_out(&mut self, what: &str, misfit: Misfit) {
        let so = format!("; {what} is left out");
        self.problems.push(misfit.warning(self.source, &so));
    }
}

fn provider_name(key: &Node) -> Result<&str, Misfit> {
    let name = key.as_text().unwrap_or_default();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if name.is_empty() || !name.chars().all(plain) {
        return Err(
            Misfit::new(format!("`{name}` cannot be the name of a provider"), key)
                .help("a name has letters, digits, `-`, `_`, and `.`"),
        );
    }
    if name == SCRIPT {
        return Err(Misfit::new(
            format!("`{SCRIPT}` is the built-in provider of scripted turns"),
            key,
        )
        .help("give the provider another name"));
    }
    Ok(name)
}

fn headers(fields: Fields<'_>) -> Result<BTreeMap<String, KeySource>, Misfit> {
    let Some(map) = fields.map("headers", "`headers`")? else {
        return Ok(BTreeMap::new());
    };
    let mut headers = BTreeMap::new();
    for (key, value) in map.entries() {
        let name = key.as_text().unwrap_or_default();
        let plain = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        if name.is_empty() || !name.chars().all(plain) {
            return Err(Misfit::new(
                format!("`{name}` cannot be the name of an HTTP header"),
                key,
            ));
        }
        // Not shown when it is wrong: it may be a key all the same.
        let text = value
            .as_text()
            .filter(|text| !text.is_empty() && !text.contains(char::is_control))
            .ok_or_else(|| {
                Misfit::new(format!("the header `{name}` wants text of one line"), value)
            })?;
        headers.insert(name.to_owned(), KeySource::parse(text));
    }
    Ok(headers)
}

/// The words for APIs, for messages.
pub(super) fn apis() -> String {
    let words = Api::REMOTE.map(Api::as_str).join(", ");
    format!("one of {words}")
}

/// An API by its word.
pub(super) fn read_api(node: &Node) -> Option<Api> {
    node.as_text()?.parse().ok()
}

/// A URL without its user, query, and fragment; and the whole of it when it has one of the first two.
pub(super) fn split_url(url: &str) -> Option<(String, Option<Hidden>)> {
    let (scheme, rest) = url.split_once("://")?;
    if !["http", "https"].contains(&scheme.to_ascii_lowercase().as_str()) {
        return None;
    }
    let rest = rest.split('#').next().unwrap_or_default();
    let (rest, query) = rest
        .split_once('?')
        .map_or((rest, None), |(rest, query)| (rest, Some(query)));
    let (authority, path) = match rest.find('/') {
        Some(at) => rest.split_at(at),
        None => (rest, ""),
    };
    let (user, host) = match authority.rsplit_once('@') {
        Some((user, host)) => (Some(user), host),
        None => (None, authority),
    };
    if host.is_empty() || url.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return None;
    }
    let secret = user.or(query).map(|_| Hidden::new(url));
    Some((format!("{scheme}://{host}{path}"), secret))
}

/// Help that names the nearest of some words.
pub(super) fn or_nearest(
    misfit: Misfit,
    node: &Node,
    known: impl IntoIterator<Item = &'static str>,
) -> Misfit {
    match node.as_text().and_then(|word| nearest(word, known)) {
        Some(meant) => misfit.help(format!("did you mean `{meant}`?")),
        None => misfit,
    }
}
