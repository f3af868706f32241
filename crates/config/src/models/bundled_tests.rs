use std::{fmt::Write, path::Path};

use sortie_protocol::Thinking;

use super::*;
use crate::{Source, models::read, settings::Owner};

/// The JSON that `data/models.yml` makes: a model a line, so that changes are easy to read.
fn made() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/models.yml");
    let source = Source::new(&path, std::fs::read_to_string(&path).unwrap());
    let mut providers = Vec::new();
    assert_eq!(
        read::lay(&mut providers, &mut Vec::new(), &source, Owner::Ours),
        []
    );
    let mut json = String::from("[");
    for (at, provider) in providers.into_iter().enumerate() {
        let Some(KeySource::Variable(api_key)) = provider.key else {
            panic!("a bundled key is a variable");
        };
        assert_eq!((provider.url_secret, provider.headers.len()), (None, 0));
        let row = Row {
            name: provider.name,
            base_url: provider.base_url,
            api: provider.api,
            api_key,
            models: Vec::new(),
        };
        let head = serde_json::to_string(&row).unwrap();
        let models: Vec<String> = provider
            .models
            .iter()
            .map(|model| serde_json::to_string(model).unwrap())
            .collect();
        let comma = if at == 0 { "" } else { "," };
        let head = head.strip_suffix("]}").unwrap();
        write!(json, "{comma}\n{head}\n{}]}}", models.join(",\n")).unwrap();
    }
    json + "\n]\n"
}

#[test]
fn the_embedded_catalogue_is_made_of_the_written_one() {
    let made = made();
    if std::env::var_os("UPDATE").is_some() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/models.json");
        std::fs::write(path, &made).unwrap();
    } else {
        assert!(made == JSON, "stale: run this test again with `UPDATE=1`");
    }
}

#[test]
fn it_is_read_whole() {
    let providers = providers();
    let names: Vec<&str> = providers.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names[..3], ["openai", "anthropic", "google"]);
    let openai = &providers[0];
    assert_eq!(openai.api, Api::OpenaiResponses);
    assert_eq!(
        openai.key,
        Some(KeySource::Variable("OPENAI_API_KEY".into()))
    );
    let model = openai.models.iter().find(|m| m.id == "gpt-5-mini").unwrap();
    assert_eq!(model.context_window, Some(400_000));
    assert_eq!(model.efforts.len(), 4);
}

#[test]
fn every_level_of_every_model_can_be_asked_for() {
    let environment = crate::Environment::default();
    let models = crate::Models {
        providers: providers(),
        left_out: Vec::new(),
        vault: crate::models::Vault::new(environment),
    };
    let mut refused = Vec::new();
    for (provider, model) in models.iter() {
        for level in model.efforts.iter().copied().map(Thinking::Level) {
            if let Err(unsayable) = models.candidate(provider, model, Some(level)) {
                refused.push(format!("{}/{}: {unsayable}", provider.name, model.id));
            }
        }
        // Without a level too, for an API that wants a limit.
        let candidate = models.candidate(provider, model, None).unwrap();
        assert!(
            candidate.api != Api::AnthropicMessages || candidate.max_tokens.is_some(),
            "{}",
            candidate.selector
        );
    }
    assert_eq!(refused, Vec::<String>::new());
}
