//! The tool table: every tool that a plan may name, what it may do, and which side runs it.

/// What a tool may do to the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// Looks at files of the workspace.
    Read,
    /// Looks at the network.
    Fetch,
    /// Changes files.
    Write,
    /// Runs commands, and so may do anything.
    Execute,
    /// Starts other agents.
    Spawn,
    /// Talks to other agents and to jobs.
    Converse,
    /// Keeps notes of the session.
    Note,
    /// Hands in the report.
    Finish,
}

/// Which process runs a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The child itself.
    Child,
    /// The root, asked by a `call`.
    Root,
}

/// One row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tool {
    /// The name that plans, scripts, and models use.
    pub name: &'static str,
    /// Names that other harnesses use for it.
    pub aliases: &'static [&'static str],
    /// What it may do.
    pub access: Access,
    /// Who runs it.
    pub side: Side,
    /// Whether it exists yet. A listed tool that does not is left out of a plan with a note.
    pub built: bool,
}

impl Tool {
    /// Whether a read-only agent may have it. Until there is a sandbox that excludes `bash`.
    pub const fn is_read_only(&self) -> bool {
        matches!(
            self.access,
            Access::Read | Access::Fetch | Access::Note | Access::Finish
        )
    }

    /// Whether calls of it within one turn may run side by side.
    pub const fn runs_in_parallel(&self) -> bool {
        matches!(self.access, Access::Read | Access::Fetch | Access::Spawn)
    }
}

const fn child(name: &'static str, access: Access, aliases: &'static [&'static str]) -> Tool {
    Tool {
        name,
        aliases,
        access,
        side: Side::Child,
        built: true,
    }
}

const fn root(name: &'static str, access: Access, aliases: &'static [&'static str]) -> Tool {
    Tool {
        name,
        aliases,
        access,
        side: Side::Root,
        built: true,
    }
}

const fn planned(tool: Tool) -> Tool {
    Tool {
        built: false,
        ..tool
    }
}

/// Every known tool, in the order in which plans list them.
pub const TOOLS: &[Tool] = &[
    child("read", Access::Read, &["Read", "read_file", "view"]),
    child("grep", Access::Read, &["Grep", "search"]),
    child("glob", Access::Read, &["Glob", "find"]),
    planned(child("ast_grep", Access::Read, &[])),
    planned(child("lsp", Access::Read, &["LSP"])),
    planned(child("web_search", Access::Fetch, &["WebSearch"])),
    planned(child("web_fetch", Access::Fetch, &["WebFetch"])),
    child("write", Access::Write, &["Write", "write_file"]),
    child("edit", Access::Write, &["Edit", "MultiEdit", "str_replace"]),
    planned(child("patch", Access::Write, &["apply_patch"])),
    child("bash", Access::Execute, &["Bash", "shell"]),
    child("todo", Access::Note, &["TodoWrite", "todo_write"]),
    root("task", Access::Spawn, &["Task", "Agent"]),
    planned(root("hub", Access::Converse, &[])),
    child(YIELD, Access::Finish, &["submit_result"]),
];

/// The tool that every child has: it hands in the report.
pub const YIELD: &str = "yield";

/// The tool by its name or by one of its aliases.
pub fn find(name: &str) -> Option<&'static Tool> {
    TOOLS
        .iter()
        .find(|tool| tool.name == name)
        .or_else(|| TOOLS.iter().find(|tool| tool.aliases.contains(&name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_word_means_two_tools() {
        let mut words: Vec<_> = TOOLS
            .iter()
            .flat_map(|tool| tool.aliases.iter().chain([&tool.name]))
            .collect();
        words.sort_unstable();
        let all = words.len();
        words.dedup();
        assert_eq!(words.len(), all);
    }

    #[test]
    fn aliases_find_the_tool_they_stand_for() {
        assert_eq!(find("search").unwrap().name, "grep");
        assert_eq!(find("find").unwrap().name, "glob");
        assert_eq!(find("Bash").unwrap().name, "bash");
        assert_eq!(find("grpe"), None);
    }

    #[test]
    fn nothing_that_writes_or_runs_is_read_only() {
        for name in ["write", "edit", "patch", "bash", "task", "hub"] {
            assert!(!find(name).unwrap().is_read_only(), "{name}");
        }
        for name in [
            "read",
            "grep",
            "glob",
            "ast_grep",
            "web_search",
            "web_fetch",
            "todo",
            "yield",
        ] {
            assert!(find(name).unwrap().is_read_only(), "{name}");
        }
    }
}
