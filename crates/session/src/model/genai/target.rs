//! Where a request goes, and as whom.

use genai::{
    ModelIden, ServiceTarget,
    adapter::AdapterKind,
    resolver::{AuthData, Endpoint},
};
use reqwest::Url;
use sortie_protocol::{Api, Candidate, Secrets};

use super::transport::without_login;
use crate::model::ModelError;

/// What an endpoint gets as its key that wants none: the library insists on one.
const NO_KEY: &str = "none";
/// Header names as the library spells them. It does not see that another spelling means the same one, and would send
/// both.
const SPELLINGS: [&str; 4] = [
    "Authorization",
    "x-api-key",
    "x-goog-api-key",
    "anthropic-version",
];

/// Where a request goes.
pub(super) struct Target {
    /// For the library.
    pub(super) service: ServiceTarget,
    /// The endpoint, without a user part.
    pub(super) url: Url,
    /// Headers beside the library's own.
    pub(super) headers: Vec<(String, String)>,
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
        let url = endpoint(text, candidate.api).map_err(|reason| {
            ModelError::Request(format!("the base URL of `{}` {reason}", candidate.provider))
        })?;
        let (url, login) = without_login(url);
        let mut headers = Vec::new();
        let key = if let Some(name) = &candidate.key {
            secret(name)?
        } else {
            headers.extend(login.map(|login| ("Authorization".to_owned(), login)));
            NO_KEY
        };
        for (name, value) in &candidate.headers {
            headers.push((spelling(name), secret(value)?.to_owned()));
        }
        Ok(Self {
            service: ServiceTarget {
                endpoint: Endpoint::from_owned(url.as_str()),
                auth: AuthData::from_single(key),
                model: ModelIden::new(kind, wire_name(&candidate.wire_name)),
            },
            url,
            headers,
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

/// The name as the library has to get it. It takes all before the first `::` for a namespace of its own and drops it.
fn wire_name(name: &str) -> String {
    if name.contains("::") {
        format!("sortie::{name}")
    } else {
        name.to_owned()
    }
}

/// The base URL as the library has to get it: its path ends in a slash, else the last part of it would be replaced.
fn endpoint(text: &str, api: Api) -> Result<Url, String> {
    let mut url = Url::parse(text.trim()).map_err(|error| format!("is no URL: {error}"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(format!(
            "starts with `{}`, expected http or https",
            url.scheme()
        ));
    }
    let mut path = url.path().trim_end_matches('/').to_owned();
    if api == Api::AnthropicMessages && !path.ends_with("/v1") {
        path.push_str("/v1");
    }
    path.push('/');
    url.set_path(&path);
    Ok(url)
}

fn spelling(name: &str) -> String {
    SPELLINGS
        .into_iter()
        .find(|known| known.eq_ignore_ascii_case(name))
        .unwrap_or(name)
        .to_owned()
}
