//! The environment of a child: built, not inherited.

/// The variables that a child gets from us, where we have them. `task.environment` adds to them.
pub const ALLOWED: [&str; 21] = [
    "PATH",
    "HOME",
    "LANG",
    "TERM",
    "TZ",
    "TMPDIR",
    "USER",
    "SHELL",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "all_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "CURL_CA_BUNDLE",
    "REQUESTS_CA_BUNDLE",
    "SORTIE_LOG",
];

/// Builds a child's environment: what is allowed of `ours`, what `also` names, and then `added`, which wins.
pub fn built(
    ours: impl IntoIterator<Item = (String, String)>,
    also: &[String],
    added: Vec<(String, String)>,
) -> Vec<(String, String)> {
    let mut environment: Vec<_> = ours
        .into_iter()
        .filter(|(name, _)| {
            ALLOWED.contains(&name.as_str()) || name.starts_with("LC_") || also.contains(name)
        })
        .filter(|(name, _)| !added.iter().any(|(other, _)| other == name))
        .collect();
    environment.extend(added);
    environment
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_allowed_or_named_is_handed_down() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let ours = [
            "PATH",
            "LC_ALL",
            "OPENAI_API_KEY",
            "PYTHONPATH",
            "SORTIE_DEPTH",
            "LD_PRELOAD",
        ]
        .map(|name| pair(name, "x"));
        let built = built(
            ours,
            &["PYTHONPATH".into()],
            vec![pair("SORTIE_DEPTH", "1")],
        );
        let expected = [
            ("PATH", "x"),
            ("LC_ALL", "x"),
            ("PYTHONPATH", "x"),
            ("SORTIE_DEPTH", "1"),
        ]
        .map(|(name, value)| pair(name, value));
        assert_eq!(built, expected);
    }
}
