//! The bundled agents.

/// An agent that is part of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BundledAgent {
    /// Its name, as its header says it.
    pub name: &'static str,
    /// Its file: a header between fences, then the instructions.
    pub text: &'static str,
}

macro_rules! bundled {
    ($($name:literal: $($part:literal)+;)+) => {
        &[$(BundledAgent {
            name: $name,
            text: concat!($(include_str!(concat!("../agents/", $part))),+),
        }),+]
    };
}

/// Every bundled agent, in the order in which listings show them.
pub const ALL: &[BundledAgent] = bundled! {
    "scout": "scout.md";
    "reviewer": "reviewer.md";
    "security-reviewer": "security-reviewer.md";
    "designer": "designer.md";
    "librarian": "librarian.md";
    // Two headers for one worker.
    "task": "task.md" "worker.md";
    "sonic": "sonic.md" "worker.md";
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_agent_has_a_header_with_its_name_and_instructions_without_places() {
        for agent in ALL {
            assert!(
                agent
                    .text
                    .starts_with(&format!("---\nname: {}\n", agent.name)),
                "{}",
                agent.name
            );
            let (_, instructions) = agent.text[4..].split_once("\n---\n").unwrap();
            assert!(instructions.len() > 200, "{}", agent.name);
            assert!(!agent.text.contains("{{"), "{}", agent.name);
        }
    }
}
