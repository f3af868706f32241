//! `sortie schema`: the JSON Schema of everything that we read or print.

use sortie_protocol::schemas::{self, Named, written};

use crate::{
    agents, answer, dry_run,
    exit::Exit,
    report::{Look, table::Table},
    runs,
};

/// The schemas of what the doors print, and of the settings. Those of what crosses a pipe are the protocol's.
const OURS: [Named; 7] = [
    Named::new(
        "agent",
        "what `sortie agents show --json` prints",
        written::<agents::Sheet>,
    ),
    Named::new(
        "agents",
        "what `sortie agents list --json` prints",
        written::<agents::Listing>,
    ),
    Named::new(
        "dry-run",
        "what `--dry-run --json` prints",
        written::<dry_run::Plans<'_>>,
    ),
    Named::new(
        "run",
        "what `sortie runs show RUN --json` prints",
        written::<runs::RunSheet>,
    ),
    Named::new(
        "runs",
        "what `sortie runs list --json` prints",
        written::<runs::Listing>,
    ),
    Named::new("settings", "a `config.yml`", sortie_config::settings_schema),
    Named::new(
        "transcript",
        "what `sortie runs transcript --json` prints",
        written::<runs::Transcript>,
    ),
];

/// Every schema, in alphabetical order.
pub(crate) fn all() -> Vec<Named> {
    let mut all = [&schemas::ALL[..], &OURS].concat();
    all.sort_unstable_by_key(|schema| schema.name);
    all
}

/// Prints a schema, or without one lists them.
pub(crate) fn schema(which: Option<&Named>) -> Exit {
    if let Some(named) = which {
        return answer::print_json(&(named.schema)());
    }
    let mut table = Table::default();
    for named in all() {
        table.push(vec![named.name.to_owned(), named.about.to_owned()]);
    }
    answer::print(&table.text(Look::stdout()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_name_stands_for_one_schema() {
        let names: BTreeSet<_> = all().iter().map(|named| named.name).collect();
        assert_eq!(names.len(), all().len());
        for named in all() {
            let schema = (named.schema)();
            assert!(sortie_schema::check(&schema).is_ok(), "{}", named.name);
        }
    }
}
