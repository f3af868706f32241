//! Where a request goes, and as whom.

use genai::{
    Headers, ModelIden, ServiceTarget,
    adapter::AdapterKind,
    resolver::{AuthData, Endpoint},
};
use reqwest::Url;
use sortie_protocol::{Api, Candidate, Secrets};

use super::transport::without_login;
use crate::model::ModelError;

/// The version of Anthropic's API that is spoken.
const ANTHROPIC_VERSION: &str = "2023-06-01";
/// What the library is told for the model's name: it reads much out of names. The real one is in the body or the URL.
const NAMELESS: &str = "model";

/// Where a request goes.
pub(super) struct Target {
    /// For the library.
    pub(super) service: ServiceTarget,
    /// The whole URL, without a user part.
    pub(super) url: Url,
}

impl Target {
    /// The endpoint, key, and headers of `candidate`, out of `secrets` where it only names them.
    pub(super) fn of(candidate: &Candidate, secrets: &Secrets) -> Result<Self, ModelError> {
        let secret = |name: &str| {
            secrets.get(name).ok_or_else(|| {
                ModelError::Request(format!(
                    "`{}` needs the secret `{name}`, which did not come with the plan",
                    candidate.selector
                ))
            })
        };
        let kind = kind(candidate)?;
        let text = match &candidate.url_secret {
            Some(name) => secret(name)?,
            None => &candidate.base_url,
        };
        let url = address(text, candidate).map_err(|reason| {
            ModelError::Request(format!("the base URL of `{}` {reason}", candidate.provider))
        })?;
        let (url, login) = without_login(url);
        let mut headers = Vec::new();
        if candidate.api == Api::AnthropicMessages {
            set(&mut headers, "anthropic-version", ANTHROPIC_VERSION.into());
        }
        if let Some(name) = &candidate.key {
            let (header, value) = authorization(candidate.api, secret(name)?);
            set(&mut headers, header, value);
        } else if let Some(login) = login {
            set(&mut headers, "authorization", login);
        }
        for (name, value) in &candidate.headers {
            set(&mut headers, name, secret(value)?.to_owned());
        }
        Ok(Self {
            service: ServiceTarget {
                // Not used: the whole URL is below. The library would lose its query over one API, and its last part.
                endpoint: Endpoint::from_static("http://localhost/"),
                auth: AuthData::RequestOverride {
                    url: url.to_string(),
                    headers: Headers::from(headers),
                },
                model: ModelIden::new(kind, NAMELESS),
            },
            url,
        })
    }
}

fn kind(candidate: &Candidate) -> Result<AdapterKind, ModelError> {
    match candidate.api {
        Api::OpenaiCompletions => Ok(AdapterKind::OpenAI),
        Api::OpenaiResponses => Ok(AdapterKind::OpenAIResp),
        Api::AnthropicMessages => Ok(AdapterKind::Anthropic),
        Api::GoogleGenerativeAi => Ok(AdapterKind::Gemini),
        Api::Script => Err(ModelError::Request(format!(
            "`{}` is a script, not an endpoint",
            candidate.selector
        ))),
    }
}

/// How a key is shown.
fn authorization(api: Api, key: &str) -> (&'static str, String) {
    match api {
        Api::AnthropicMessages => ("x-api-key", key.to_owned()),
        Api::GoogleGenerativeAi => ("x-goog-api-key", key.to_owned()),
        Api::OpenaiCompletions | Api::OpenaiResponses | Api::Script => {
            ("authorization", format!("Bearer {key}"))
        }
    }
}

/// Adds a header. One of the same name, in whatever spelling, makes way.
fn set(headers: &mut Vec<(String, String)>, name: &str, value: String) {
    headers.retain(|(other, _)| !other.eq_ignore_ascii_case(name));
    headers.push((name.to_owned(), value));
}

/// The URL to post to, made of a base URL with or without a slash at its end, and with the query that it has.
fn address(base: &str, candidate: &Candidate) -> Result<Url, String> {
    let mut url = Url::parse(base.trim()).map_err(|error| format!("is no URL: {error}"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(format!(
            "starts with `{}`, expected http or https",
            url.scheme()
        ));
    }
    let mut path = url.path().trim_end_matches('/').to_owned();
    match candidate.api {
        Api::OpenaiCompletions | Api::Script => path += "/chat/completions",
        Api::OpenaiResponses => path += "/responses",
        Api::AnthropicMessages => {
            if !path.ends_with("/v1") {
                path += "/v1";
            }
            path += "/messages";
        }
        Api::GoogleGenerativeAi => {
            if path.is_empty() {
                path += "/v1beta";
            }
            let name = &candidate.wire_name;
            let name = name.strip_prefix("models/").unwrap_or(name);
            path = format!("{path}/models/{name}:streamGenerateContent");
        }
    }
    url.set_path(&path);
    if candidate.api == Api::GoogleGenerativeAi {
        url.query_pairs_mut().append_pair("alt", "sse");
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::genai::asking::candidate;

    #[test]
    fn a_base_url_is_written_in_many_ways() {
        let mut shown = Vec::new();
        for api in Api::REMOTE {
            for base in [
                "http://h",
                "http://h/",
                "http://h/v1",
                "http://h/v1beta//",
                "https://h/a/anthropic/?api-version=2",
            ] {
                let mut candidate = candidate("unused");
                candidate.api = api;
                candidate.wire_name = "models/x y?z".into();
                let url = address(base, &candidate).unwrap();
                shown.push(format!("{base} {url}"));
            }
        }
        insta::assert_snapshot!(shown.join("\n"), @"
        http://h http://h/chat/completions
        http://h/ http://h/chat/completions
        http://h/v1 http://h/v1/chat/completions
        http://h/v1beta// http://h/v1beta/chat/completions
        https://h/a/anthropic/?api-version=2 https://h/a/anthropic/chat/completions?api-version=2
        http://h http://h/responses
        http://h/ http://h/responses
        http://h/v1 http://h/v1/responses
        http://h/v1beta// http://h/v1beta/responses
        https://h/a/anthropic/?api-version=2 https://h/a/anthropic/responses?api-version=2
        http://h http://h/v1/messages
        http://h/ http://h/v1/messages
        http://h/v1 http://h/v1/messages
        http://h/v1beta// http://h/v1beta/v1/messages
        https://h/a/anthropic/?api-version=2 https://h/a/anthropic/v1/messages?api-version=2
        http://h http://h/v1beta/models/x%20y%3Fz:streamGenerateContent?alt=sse
        http://h/ http://h/v1beta/models/x%20y%3Fz:streamGenerateContent?alt=sse
        http://h/v1 http://h/v1/models/x%20y%3Fz:streamGenerateContent?alt=sse
        http://h/v1beta// http://h/v1beta/models/x%20y%3Fz:streamGenerateContent?alt=sse
        https://h/a/anthropic/?api-version=2 https://h/a/anthropic/models/x%20y%3Fz:streamGenerateContent?api-version=2&alt=sse
        ");
    }

    #[test]
    fn a_header_of_the_plan_wins_in_any_spelling() {
        let mut headers = Vec::new();
        set(&mut headers, "authorization", "Bearer a".into());
        set(&mut headers, "Authorization", "Basic b".into());
        assert_eq!(headers, [("Authorization".into(), "Basic b".into())]);
    }
}
