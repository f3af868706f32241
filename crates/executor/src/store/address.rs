//! `agent://ID`, `agent://ID?q=.field`, and `history://ID`: what a task left, by its id.

use std::fs;

use serde_json::Value;
use thiserror::Error;

use super::{QueryError, Store, found_text, select};

/// An address that leads nowhere.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AddressError {
    /// It is no address of a run.
    #[error("`{0}` is no address; use `agent://ID`, `agent://ID?q=.field`, or `history://ID`")]
    Form(String),
    /// No task of the run has that id, or it has not ended.
    #[error("no task `{0}` of this run has ended")]
    Unknown(String),
    /// The task made no data.
    #[error("task `{0}` has no data; read `agent://{0}` for its text")]
    NoData(String),
    /// The data has nothing there.
    #[error("in the data of task `{id}`: {fault}")]
    NoField {
        /// The task.
        id: String,
        /// Why not.
        fault: QueryError,
    },
}

impl Store {
    /// Reads an address of this run.
    pub fn read(&self, uri: &str) -> Result<String, AddressError> {
        let form = || AddressError::Form(uri.to_owned());
        let (scheme, rest) = uri.split_once("://").ok_or_else(form)?;
        let (id, query) = match rest.split_once('?') {
            Some((id, query)) => (id, Some(query)),
            None => (rest, None),
        };
        let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-' || b == b'.';
        if id.is_empty() || id.starts_with('.') || !id.bytes().all(plain) {
            return Err(form());
        }
        let file = |extension: &str| fs::read_to_string(self.path(&format!("{id}.{extension}")));
        match (scheme, query) {
            ("agent", None) => file("md").map_err(|_| AddressError::Unknown(id.to_owned())),
            ("history", None) => file("jsonl").map_err(|_| AddressError::Unknown(id.to_owned())),
            ("agent", Some(query)) => {
                let path = query.strip_prefix("q=").ok_or_else(form)?;
                let data = file("json").map_err(|_| AddressError::NoData(id.to_owned()))?;
                let data: Value =
                    serde_json::from_str(&data).map_err(|_| AddressError::NoData(id.to_owned()))?;
                let found = select(&data, path).map_err(|fault| AddressError::NoField {
                    id: id.to_owned(),
                    fault,
                })?;
                Ok(found_text(found))
            }
            _ => Err(form()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use sortie_config::StoreSync;

    use super::*;
    use crate::store::Redactor;

    #[test]
    fn what_a_task_left_is_read_by_its_id() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create(
            folder.path(),
            &json!({}),
            Redactor::default(),
            StoreSync::Never,
        )
        .unwrap();
        fs::write(folder.path().join("A.b.md"), "the text").unwrap();
        fs::write(
            folder.path().join("A.b.json"),
            r#"{"files": [{"path": "x.rs"}]}"#,
        )
        .unwrap();
        let read = |uri: &str| store.read(uri).map_err(|error| error.to_string());
        assert_eq!(read("agent://A.b"), Ok("the text".into()));
        assert_eq!(read("agent://A.b?q=.files[0].path"), Ok("x.rs".into()));
        let faults: Vec<_> = [
            "agent://A.b?q=.files[1]",
            "agent://../run",
            "history://A.b",
            "agent://No",
            "http://x",
            "agent://A.b?x",
        ]
        .into_iter()
        .map(|uri| read(uri).unwrap_err())
        .collect();
        insta::assert_snapshot!(faults.join("\n"), @r"
        in the data of task `A.b`: nothing at `.files[1]`: `.files` has 1 item, counted from 0
        `agent://../run` is no address; use `agent://ID`, `agent://ID?q=.field`, or `history://ID`
        no task `A.b` of this run has ended
        no task `No` of this run has ended
        `http://x` is no address; use `agent://ID`, `agent://ID?q=.field`, or `history://ID`
        `agent://A.b?x` is no address; use `agent://ID`, `agent://ID?q=.field`, or `history://ID`
        ");
        fs::write(folder.path().join("B.md"), "").unwrap();
        assert_eq!(
            read("agent://B?q=.x").unwrap_err(),
            "task `B` has no data; read `agent://B` for its text"
        );
    }
}
