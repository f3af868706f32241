//! The catalogue of models: what this program knows, and what `models.yml` files add.

mod bundled;
mod command;
mod mask;
mod provider;
mod read;
mod row;
mod secrets;
mod wire_effort;

use std::path::PathBuf;

use sortie_protocol::{Candidate, Thinking, script::Script};

pub use command::{Running, Start};
pub use provider::{
    Hidden, Input, KeySource, LeftOut, Model, Provider, ProviderSource, ThinkingMode,
};
use secrets::Vault;
pub use wire_effort::Unsayable;

use crate::{Environment, Places, Problem, open::open, settings::Owner};

/// The file that holds providers and models, in each of the user's folders.
const FILE: &str = "models.yml";

/// The provider whose turns come from files; see [`Scripts`](crate::Scripts).
pub(crate) const SCRIPT: &str = "script";

/// Every provider and model that a run may name.
#[derive(Clone, Debug)]
pub struct Models {
    providers: Vec<Provider>,
    left_out: Vec<LeftOut>,
    vault: Vault,
}

/// Whether a provider can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Available {
    /// It can.
    Available,
    /// A key or a header comes from a variable that is not set.
    MissingKey {
        /// The variable.
        variable: String,
    },
}

impl Models {
    /// Reads the user's files on top of the bundled catalogue.
    ///
    /// Where two of them speak of the same provider, what the more important one says wins, key by key and model by
    /// model. A project's file is not read, with a note, since nothing yet makes a project trusted.
    pub fn load(places: &Places, environment: &Environment) -> (Self, Vec<Problem>) {
        let mut providers = bundled::providers();
        let mut left_out = Vec::new();
        let mut problems = Vec::new();
        for dir in places.user_dirs.iter().rev() {
            let owner = if *dir == places.user_dir {
                Owner::Ours
            } else {
                Owner::Foreign
            };
            match open(dir.join(FILE)) {
                Ok(Some(source)) => {
                    problems.extend(read::lay(&mut providers, &mut left_out, &source, owner));
                }
                Ok(None) => {}
                Err(problem) => problems.push(problem),
            }
        }
        problems.extend(untrusted(places));
        let models = Self {
            providers,
            left_out,
            vault: Vault::new(environment.clone()),
        };
        (models, problems)
    }

    /// Every provider, bundled ones first.
    pub fn providers(&self) -> &[Provider] {
        &self.providers
    }

    /// The provider of this name.
    pub fn provider(&self, name: &str) -> Option<&Provider> {
        self.providers.iter().find(|provider| provider.name == name)
    }

    /// The model `model` of the provider `provider`.
    pub fn find(&self, provider: &str, model: &str) -> Option<(&Provider, &Model)> {
        let provider = self.provider(provider)?;
        let model = provider.models.iter().find(|row| row.id == model)?;
        Some((provider, model))
    }

    /// What files say and nobody can use, the most important file last. Another file may have said the same, and said it
    /// well.
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// The models of this name, of any provider.
    pub fn named<'a>(&'a self, model: &str) -> impl Iterator<Item = (&'a Provider, &'a Model)> {
        self.iter().filter(move |(_, row)| row.id == model)
    }

    /// Every model, with its provider.
    pub fn iter(&self) -> impl Iterator<Item = (&Provider, &Model)> {
        self.providers
            .iter()
            .flat_map(|provider| provider.models.iter().map(move |model| (provider, model)))
    }

    /// Whether `provider` has the variables it needs. Commands are not run for this.
    pub fn availability(&self, provider: &Provider) -> Available {
        provider
            .key
            .iter()
            .chain(provider.headers.values())
            .find_map(|source| match source {
                KeySource::Variable(name) if self.vault.environment().get(name).is_none() => {
                    Some(Available::MissingKey {
                        variable: name.clone(),
                    })
                }
                _ => None,
            })
            .unwrap_or(Available::Available)
    }

    /// `model` of `provider` ready to use, at a level that the caller has checked against its list.
    ///
    /// # Errors
    ///
    /// [`Unsayable`] when its API has no words for that level.
    pub fn candidate(
        &self,
        provider: &Provider,
        model: &Model,
        effort: Option<Thinking>,
    ) -> Result<Candidate, Unsayable> {
        let api = model.api.unwrap_or(provider.api);
        let wire_effort = effort
            .map(|thinking| wire_effort::wire_effort(model, api, thinking))
            .transpose()?;
        Ok(Candidate {
            selector: format!("{}/{}", provider.name, model.id),
            provider: provider.name.clone(),
            api,
            base_url: provider.base_url.clone(),
            url_secret: provider
                .url_secret
                .as_ref()
                .map(|_| secrets::url_name(provider)),
            key: provider
                .key
                .as_ref()
                .map(|source| secrets::key_name(provider, source)),
            headers: provider
                .headers
                .iter()
                .map(|(header, source)| {
                    (
                        header.clone(),
                        secrets::header_name(provider, header, source),
                    )
                })
                .collect(),
            wire_name: model.id.clone(),
            effort,
            context_window: model.context_window,
            max_tokens: wire_effort::max_tokens(model, api, wire_effort.as_ref()),
            wire_effort,
            price: model.price,
            script: Script::default(),
        })
    }
}

/// Notes on catalogues that are there and are not read.
fn untrusted(places: &Places) -> impl Iterator<Item = Problem> {
    let file = |dir: &PathBuf| dir.join(FILE);
    places
        .project_dirs
        .iter()
        .map(file)
        .filter(|path| path.is_file())
        .map(|path| {
            Problem::note("ignored: a project may not add providers or models")
                .in_file(path)
                .help("move what you need to `models.yml` in your own folder")
        })
}

#[cfg(test)]
#[path = "models_tests.rs"]
mod tests;
