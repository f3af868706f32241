//! The tools of one session, each made when it is first called.

use std::{collections::HashMap, sync::Arc};

use crate::tools::{Tool, local_tool};

/// The tools that were made so far.
#[derive(Debug, Default)]
pub(super) struct Toolbox {
    made: HashMap<&'static str, Arc<dyn Tool>>,
}

impl Toolbox {
    /// The tool by its name in the tool table; `None` for one that this process cannot carry out.
    pub(super) fn get(&mut self, name: &'static str) -> Option<Arc<dyn Tool>> {
        if let Some(tool) = self.made.get(name) {
            return Some(Arc::clone(tool));
        }
        let tool = local_tool(name)?;
        self.made.insert(name, Arc::clone(&tool));
        Some(tool)
    }
}
