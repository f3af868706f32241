//! HTTP connections, made when they are first needed.

use std::{
    fmt,
    net::IpAddr,
    sync::{Mutex, Once, PoisonError},
};

use genai::Client;
use reqwest::{Url, header::AUTHORIZATION, redirect};

use crate::model::ModelError;

/// The clients that were made so far, one for each way of connecting.
#[derive(Default)]
pub(super) struct Transports(Mutex<Vec<(Way, Client)>>);

impl fmt::Debug for Transports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Transports")
    }
}

impl Transports {
    /// The client for `url`.
    pub(super) fn client(&self, url: &Url) -> Result<Client, ModelError> {
        let way = Way::to(url);
        let mut clients = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, client)) = clients.iter().find(|(other, _)| *other == way) {
            return Ok(client.clone());
        }
        let client = way
            .connect()
            .map_err(|reason| ModelError::Request(format!("no HTTP client: {reason}")))?;
        clients.push((way, client.clone()));
        Ok(client)
    }
}

/// How a URL is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Way {
    /// By TLS, with the system's certificate roots.
    secure: bool,
    /// On this machine, where no proxy is asked whatever the environment says.
    near: bool,
}

impl Way {
    fn to(url: &Url) -> Self {
        let host = url.host_str().unwrap_or_default();
        let host = host.trim_start_matches('[').trim_end_matches(']');
        Self {
            secure: url.scheme() == "https",
            near: host == "localhost"
                || host
                    .parse()
                    .is_ok_and(|address: IpAddr| address.is_loopback()),
        }
    }

    fn connect(self) -> Result<Client, String> {
        let http = self.http().map_err(|error| error.to_string())?;
        Client::builder()
            .with_reqwest(http)
            .build()
            .map_err(|error| error.to_string())
    }

    fn http(self) -> reqwest::Result<reqwest::Client> {
        static PROVIDER: Once = Once::new();
        PROVIDER.call_once(|| {
            // An error means that the host program has chosen one already, which is as good.
            let _ = rustls::crypto::ring::default_provider().install_default();
        });
        let mut builder = reqwest::Client::builder()
            .user_agent(concat!("sortie/", env!("CARGO_PKG_VERSION")))
            // A redirect would carry keys in custom headers to wherever it points.
            .redirect(redirect::Policy::none());
        if !self.secure {
            // No roots are read: that alone is most of what a client costs.
            builder = builder.http1_only().tls_certs_only([]);
        }
        if self.near {
            builder = builder.no_proxy();
        }
        builder.build()
    }
}

/// Takes the user part out of `url`, and makes the `Authorization` header of it that it stands for.
pub(super) fn without_login(url: Url) -> (Url, Option<String>) {
    if url.username().is_empty() && url.password().is_none() {
        return (url, None);
    }
    // The HTTP library knows how. Nothing is sent.
    let way = Way {
        secure: false,
        near: true,
    };
    let Ok(request) = way.http().and_then(|http| http.get(url.clone()).build()) else {
        return (url, None);
    };
    let login = request.headers().get(AUTHORIZATION);
    let login = login
        .and_then(|login| login.to_str().ok())
        .map(str::to_owned);
    (request.url().clone(), login)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_reached_without_a_proxy() {
        let way = |url: &str| Way::to(&url.parse().unwrap());
        for url in [
            "http://localhost:1/",
            "http://127.0.0.1:8080/v1/",
            "http://127.9.9.9/",
            "http://[::1]:80/",
        ] {
            assert!(way(url).near, "{url}");
            assert!(!way(url).secure, "{url}");
        }
        for url in ["http://10.0.0.1/", "https://localhost.example/"] {
            assert!(!way(url).near, "{url}");
        }
        assert!(way("https://localhost/").secure);
    }

    #[test]
    fn a_way_is_connected_once() {
        let transports = Transports::default();
        for url in [
            "http://127.0.0.1:1/",
            "http://localhost:2/",
            "http://10.0.0.1/",
        ] {
            transports.client(&url.parse().unwrap()).unwrap();
        }
        assert_eq!(transports.0.lock().unwrap().len(), 2);
    }
}
