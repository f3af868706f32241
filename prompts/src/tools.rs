//! The descriptions of the tools.

use std::borrow::Cow;

use crate::fill;

/// What the descriptions need to know of the agent that reads them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reader<'a> {
    /// Seconds that a `bash` call may take when it names no limit.
    pub bash_timeout_s: u64,
    /// Whether `read` summarises long source files.
    pub summarizes: bool,
    /// Whether the result has a schema.
    pub has_schema: bool,
    /// The agent that a task goes to when it names none.
    pub default_agent: &'a str,
    /// The agents that may be spawned, a line each.
    pub agents: &'a str,
}

/// What the model is told of the tool `name`; `None` for a tool that is not built.
pub fn description(name: &str, reader: &Reader<'_>) -> Option<Cow<'static, str>> {
    let text = match name {
        "read" => include_str!("../tools/read.md"),
        "grep" => include_str!("../tools/grep.md"),
        "glob" => include_str!("../tools/glob.md"),
        "write" => include_str!("../tools/write.md"),
        "edit" => include_str!("../tools/edit.md"),
        "bash" => include_str!("../tools/bash.md"),
        "todo" => include_str!("../tools/todo.md"),
        "task" => include_str!("../tools/task.md"),
        "yield" => include_str!("../tools/yield.md"),
        _ => return None,
    }
    .trim_end();
    Some(match name {
        "read" => {
            let summaries = if reader.summarizes {
                " A long source file without `range` is summarised: its declarations by line number, and the ranges between them."
            } else {
                ""
            };
            fill(text, &[("summaries", summaries)]).into()
        }
        "bash" => fill(text, &[("timeout", &reader.bash_timeout_s.to_string())]).into(),
        "task" => fill(
            text,
            &[
                ("default", &default_agent(reader.default_agent)),
                ("agents", reader.agents.trim_end()),
            ],
        )
        .into(),
        "yield" => {
            let shape = if reader.has_schema {
                ", which has to fit its schema"
            } else {
                ", in whatever shape serves your caller"
            };
            fill(text, &[("shape", shape)]).into()
        }
        _ => text.into(),
    })
}

fn default_agent(name: &str) -> String {
    format!("`agent` names who does it; without it, `{name}` does.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_place_is_left_unfilled() {
        let reader = Reader {
            bash_timeout_s: 300,
            summarizes: true,
            has_schema: true,
            default_agent: "task",
            agents: "- `scout`: looks around\n",
        };
        for name in [
            "read", "grep", "glob", "write", "edit", "bash", "todo", "task", "yield",
        ] {
            let text = description(name, &reader).unwrap();
            assert!(!text.contains("{{"), "{name}: {text}");
            assert!(!text.ends_with('\n'), "{name}");
        }
        assert!(description("bash", &reader).unwrap().contains("300 s"));
        assert_eq!(description("lsp", &reader), None);
    }
}
