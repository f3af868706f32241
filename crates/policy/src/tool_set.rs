//! Sets of tools.

use std::fmt;

use sortie_protocol::tool::{Access, TOOLS, Tool, YIELD};

/// Some tools of the table. Small, and always in the table's order.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct ToolSet(u64);

const _: () = assert!(TOOLS.len() <= 64, "a tool set has a bit for each tool");

impl ToolSet {
    /// No tool but the one that every child has.
    pub(crate) fn nothing() -> Self {
        let mut set = Self(0);
        set.insert(YIELD);
        set
    }

    /// The tools for which `fits` holds, and `yield`.
    pub(crate) fn of(fits: impl Fn(&Tool) -> bool) -> Self {
        let mut set = Self::nothing();
        for (place, tool) in TOOLS.iter().enumerate() {
            if fits(tool) {
                set.0 |= 1 << place;
            }
        }
        set
    }

    /// Every tool that exists.
    pub(crate) fn built() -> Self {
        Self::of(|tool| tool.built)
    }

    /// What somebody may have who must change nothing: what only looks, and the handing on of work, which the same
    /// limit binds. No `bash`, until there is a sandbox that keeps it from writing.
    pub(crate) fn read_only() -> Self {
        Self::of(|tool| tool.built && (tool.is_read_only() || tool.access == Access::Spawn))
    }

    pub(crate) fn contains(self, name: &str) -> bool {
        place(name).is_some_and(|place| self.0 & (1 << place) != 0)
    }

    pub(crate) fn insert(&mut self, name: &str) {
        if let Some(place) = place(name) {
            self.0 |= 1 << place;
        }
    }

    pub(crate) fn remove(&mut self, name: &str) {
        if let Some(place) = place(name) {
            self.0 &= !(1 << place);
        }
    }

    pub(crate) const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(crate) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(crate) const fn is_within(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }

    /// The tools, in the table's order.
    pub(crate) fn iter(self) -> impl Iterator<Item = &'static Tool> {
        TOOLS
            .iter()
            .enumerate()
            .filter(move |(place, _)| self.0 & (1 << place) != 0)
            .map(|(_, tool)| tool)
    }

    /// Their names, in the table's order.
    pub(crate) fn names(self) -> Vec<&'static str> {
        self.iter().map(|tool| tool.name).collect()
    }
}

impl fmt::Debug for ToolSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}

fn place(name: &str) -> Option<usize> {
    TOOLS.iter().position(|tool| tool.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_can_write_is_read_only() {
        let set = ToolSet::read_only();
        for name in ["write", "edit", "patch", "bash", "hub"] {
            assert!(!set.contains(name), "{name}");
        }
        for name in ["read", "todo", "task", "yield"] {
            assert!(set.contains(name), "{name}");
        }
    }

    #[test]
    fn sets_keep_the_order_of_the_table() {
        let mut set = ToolSet::nothing();
        set.insert("bash");
        set.insert("read");
        set.insert("no such tool");
        assert_eq!(set.names(), ["read", "bash", "yield"]);
        set.remove("bash");
        assert!(set.is_within(ToolSet::read_only()));
        assert_eq!(
            ToolSet::built().without(ToolSet::read_only()).names(),
            ["write", "edit", "bash"]
        );
    }
}
