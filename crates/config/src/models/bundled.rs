//! The catalogue that comes with the program.
//!
//! People edit `data/models.yml`; `data/models.json` is made from it by a test, and is what is embedded: it is read
//! ten times faster.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sortie_protocol::Api;

use super::{KeySource, Model, Provider, ProviderSource};

const JSON: &str = include_str!("../../data/models.json");

/// A provider as the embedded catalogue writes it.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    name: String,
    base_url: String,
    api: Api,
    api_key: String,
    models: Vec<Model>,
}

/// The bundled providers, in the order of the file.
pub(super) fn providers() -> Vec<Provider> {
    let rows: Vec<Row> = serde_json::from_str(JSON).expect("a test reads the same text");
    rows.into_iter()
        .map(|row| Provider {
            name: row.name,
            base_url: row.base_url,
            url_secret: None,
            api: row.api,
            key: Some(KeySource::Variable(row.api_key)),
            headers: BTreeMap::new(),
            models: row.models,
            source: ProviderSource::Bundled,
        })
        .collect()
}

#[cfg(test)]
#[path = "bundled_tests.rs"]
mod tests;
