//! The system prompt of a child.

use crate::fill;

/// What goes before the instructions of an agent whose caller is planning.
pub const PLAN_MODE: &str = include_str!("../system/plan-mode.md");
/// What an agent that may spawn others is told about it.
pub const SPAWNING: &str = include_str!("../system/spawning.md");
/// What a read-only agent is told about it.
pub const READ_ONLY: &str = include_str!("../system/read-only.md");

const CHILD: &str = include_str!("../system/child.md");
const RESULT_TEXT: &str = include_str!("../system/result-text.md");
const RESULT_DATA: &str = include_str!("../system/result-data.md");
const SCHEMA: &str = include_str!("../system/schema.md");
const CONTEXT: &str = include_str!("../system/context.md");

/// The pieces of a child's system prompt.
#[derive(Clone, Copy, Debug, Default)]
pub struct Child<'a> {
    /// The agent's name.
    pub agent: &'a str,
    /// What its file says below the header.
    pub instructions: &'a str,
    /// The folder it works in.
    pub cwd: &'a str,
    /// Its own folder.
    pub scratch: &'a str,
    /// [`PLAN_MODE`], or nothing.
    pub preamble: &'a str,
    /// [`READ_ONLY`], or nothing.
    pub read_only: &'a str,
    /// [`SPAWNING`], or nothing.
    pub spawning: &'a str,
    /// The JSON Schema of its result, as text.
    pub schema: Option<&'a str>,
    /// Background from the caller; blank is none.
    pub context: Option<&'a str>,
}

impl Child<'_> {
    /// The whole prompt.
    pub fn render(&self) -> String {
        let schema = self
            .schema
            .map(|schema| fill(SCHEMA, &[("schema", schema)]))
            .unwrap_or_default();
        let context = self
            .context
            .map(str::trim)
            .filter(|context| !context.is_empty())
            .map(|context| fill(CONTEXT, &[("context", context)]))
            .unwrap_or_default();
        let result = match self.schema {
            Some(_) => RESULT_DATA,
            None => RESULT_TEXT,
        };
        fill(
            CHILD,
            &[
                ("preamble", self.preamble),
                ("instructions", self.instructions.trim()),
                ("agent", self.agent),
                ("cwd", self.cwd),
                ("scratch", self.scratch),
                ("readonly", self.read_only),
                ("spawning", self.spawning),
                ("result", result.trim_end()),
                ("schema", &schema),
                ("context", &context),
            ],
        )
        .trim()
        .to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full() -> Child<'static> {
        Child {
            agent: "scout",
            instructions: "Look.\n",
            cwd: "/w",
            scratch: "/s",
            preamble: PLAN_MODE,
            read_only: READ_ONLY,
            spawning: SPAWNING,
            schema: Some("{}"),
            context: Some("The goal."),
        }
    }

    #[test]
    fn no_place_is_left_unfilled() {
        for prompt in [full().render(), Child::default().render()] {
            assert!(!prompt.contains("{{"), "{prompt}");
            assert!(!prompt.contains("\n\n\n"), "{prompt}");
        }
    }

    #[test]
    fn pieces_that_are_absent_leave_no_heading() {
        let prompt = Child {
            instructions: "Look.",
            context: Some("  \n"),
            ..Child::default()
        }
        .render();
        assert!(prompt.starts_with("Look.\n\n# How you work here"));
        for heading in ["# Delegating", "# The shape", "# Background", "read-only"] {
            assert!(!prompt.contains(heading), "{heading}");
        }
        assert!(prompt.contains("type: \"text\""));
    }

    #[test]
    fn the_agents_own_words_are_never_filled_in() {
        let prompt = Child {
            instructions: "Write {{cwd}} as it is.",
            cwd: "/secret",
            ..Child::default()
        }
        .render();
        assert!(prompt.contains("Write {{cwd}} as it is."));
    }

    #[test]
    fn plan_mode_comes_before_the_instructions() {
        let prompt = full().render();
        let (plan, own) = (prompt.find("is planning"), prompt.find("Look."));
        assert!(plan.is_some() && plan < own);
    }
}
