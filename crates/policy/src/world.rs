//! What a decision looks at.

use std::collections::BTreeMap;

use sortie_config::{Models, Settings};
use sortie_discovery::Catalog;
use sortie_protocol::script::Script;

/// Everything that a decision looks at beside the grant and the request, read beforehand.
#[derive(Clone, Copy, Debug)]
pub struct World<'a> {
    /// The settings of the run.
    pub settings: &'a Settings,
    /// The models there are.
    pub models: &'a Models,
    /// The agents there are.
    pub agents: &'a Catalog,
    /// The scripts that were read, by name; see [`scripts_named`](crate::scripts_named). One that is missing here
    /// cannot be used.
    pub scripts: &'a BTreeMap<String, Script>,
}
