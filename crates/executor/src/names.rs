//! The ids of tasks: every one once in a run.

use std::collections::HashSet;

use sortie_protocol::TaskId;

/// The ids that a run has given out. Two ids that differ only in case would be one file on some disks, so they are
/// one id here.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    taken: HashSet<String>,
}

impl Names {
    /// Takes an id for a task that `parent` dispatches: `name` where it asked for one, else one made from the agent's
    /// name. An id that an earlier dispatch has taken gets `-2`, `-3`, and so on.
    pub(crate) fn take(
        &mut self,
        parent: Option<&TaskId>,
        name: Option<&str>,
        agent: &str,
    ) -> TaskId {
        let stem = name.map_or_else(|| readable(agent), str::to_owned);
        let mut id = TaskId::under(parent, &stem);
        let mut n = 1_u64;
        while !self.taken.insert(id.as_str().to_lowercase()) {
            n += 1;
            id = TaskId::under(parent, &format!("{stem}-{n}"));
        }
        id
    }
}

/// `security-reviewer` as `SecurityReviewer`.
fn readable(agent: &str) -> String {
    let name: String = agent
        .split(|c: char| !c.is_ascii_alphanumeric())
        .flat_map(|word| {
            let mut letters = word.chars();
            letters
                .next()
                .map(|first| first.to_ascii_uppercase())
                .into_iter()
                .chain(letters)
        })
        .take(40)
        .collect();
    match sortie_protocol::check_name(&name) {
        Ok(()) => name,
        Err(_) => "Task".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_id_is_given_out_once_whatever_its_case() {
        let mut names = Names::default();
        let mut take = |name, agent| names.take(None, name, agent).to_string();
        assert_eq!(take(Some("Scan"), "scout"), "Scan");
        assert_eq!(take(Some("scan"), "scout"), "scan-2");
        assert_eq!(take(None, "security-reviewer"), "SecurityReviewer");
        assert_eq!(take(None, "security-reviewer"), "SecurityReviewer-2");
        assert_eq!(take(None, "日本"), "Task");
        assert_eq!(take(None, "run"), "Task-2");
    }

    #[test]
    fn the_same_name_under_two_parents_is_two_ids() {
        let mut names = Names::default();
        let lead = names.take(None, Some("Lead"), "task");
        assert_eq!(
            names.take(Some(&lead), Some("Lead"), "task").as_str(),
            "Lead.Lead"
        );
        assert_eq!(
            names.take(Some(&lead), Some("lead"), "task").as_str(),
            "Lead.lead-2"
        );
    }
}
