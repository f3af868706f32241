//! What a person can do about a request that failed: said after the provider's own words.

use sortie_protocol::{Api, Candidate};

use crate::model::ModelError;

/// What to look at after `error` of `candidate`; `None`: there is nothing to say beyond the error itself.
pub(super) fn after(error: &ModelError, candidate: &Candidate) -> Option<String> {
    // A script has neither keys nor an endpoint.
    if candidate.api == Api::Script {
        return None;
    }
    match error {
        ModelError::Status { http: 401, .. } => Some(match login(candidate) {
            Some(login) => format!("{login} was refused: check its value"),
            None => format!(
                "no key was sent: name one as `apiKey` of `{}` in `models.yml`",
                candidate.provider
            ),
        }),
        ModelError::Status { http: 403, .. } => {
            let model = &candidate.wire_name;
            Some(match login(candidate) {
                Some(login) => format!("check that {login} may use `{model}`"),
                None => format!("check that `{model}` may be used without a key"),
            })
        }
        ModelError::Status { http: 404, .. } => Some(format!(
            "check that {} knows a model `{}`",
            endpoint(candidate),
            candidate.wire_name
        )),
        ModelError::Connection(_) => Some(format!("the endpoint is {}", endpoint(candidate))),
        _ => None,
    }
}

/// As whom the request was made; `None`: as nobody in particular.
fn login(candidate: &Candidate) -> Option<String> {
    let provider = &candidate.provider;
    if let Some(name) = &candidate.key {
        Some(format!("the key `{name}`"))
    } else if !candidate.headers.is_empty() {
        Some(format!("the login in `headers` of `{provider}`"))
    } else if candidate.url_secret.is_some() {
        Some(format!("the login in `baseUrl` of `{provider}`"))
    } else {
        None
    }
}

fn endpoint(candidate: &Candidate) -> String {
    format!(
        "`{}` (`baseUrl` of `{}`)",
        candidate.base_url, candidate.provider
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::root_double;

    fn candidate() -> Candidate {
        let mut candidate: Candidate =
            serde_json::from_value(root_double::candidate("local/small", &json!([]))).unwrap();
        candidate.api = Api::AnthropicMessages;
        candidate.provider = "local".into();
        candidate.wire_name = "small".into();
        candidate.base_url = "http://h/v1".into();
        candidate
    }

    fn status(http: u16) -> ModelError {
        ModelError::Status {
            http,
            message: "no".into(),
            retry_after: None,
        }
    }

    #[test]
    fn it_is_said_which_key_was_refused_or_that_there_was_none() {
        let bare = candidate();
        let mut keyed = candidate();
        keyed.key = Some("LOCAL_KEY".into());
        let mut headed = candidate();
        headed.headers.insert("x-team".into(), "TEAM".into());
        let mut logged_in = candidate();
        logged_in.url_secret = Some("local.baseUrl".into());
        let mut told = Vec::new();
        for candidate in [&bare, &keyed, &headed, &logged_in] {
            for http in [401, 403] {
                told.push(after(&status(http), candidate).unwrap());
            }
        }
        insta::assert_snapshot!(told.join("\n"), @"
        no key was sent: name one as `apiKey` of `local` in `models.yml`
        check that `small` may be used without a key
        the key `LOCAL_KEY` was refused: check its value
        check that the key `LOCAL_KEY` may use `small`
        the login in `headers` of `local` was refused: check its value
        check that the login in `headers` of `local` may use `small`
        the login in `baseUrl` of `local` was refused: check its value
        check that the login in `baseUrl` of `local` may use `small`
        ");
    }

    #[test]
    fn an_endpoint_is_named_that_is_not_there_or_does_not_know_the_model() {
        let lost = ModelError::Connection("no connection".into());
        let told = [status(404), lost].map(|error| after(&error, &candidate()).unwrap());
        insta::assert_snapshot!(told.join("\n"), @"
        check that `http://h/v1` (`baseUrl` of `local`) knows a model `small`
        the endpoint is `http://h/v1` (`baseUrl` of `local`)
        ");
    }

    #[test]
    fn where_nothing_can_be_done_nothing_is_said() {
        for error in [status(400), status(500), ModelError::Truncated] {
            assert_eq!(after(&error, &candidate()), None);
        }
        let mut script = candidate();
        script.api = Api::Script;
        assert_eq!(after(&status(401), &script), None);
    }
}
