//! What all children of one run share.

use std::sync::Arc;

use crate::{
    bus::Bus,
    gate::Gate,
    ground::Ground,
    launch::{self, Launch},
    store::Store,
};

/// One run's table of slots, its store, its events, and the means to start a child.
#[derive(Debug)]
pub(crate) struct Family {
    pub(crate) ground: Ground,
    pub(crate) store: Arc<Store>,
    pub(crate) launcher: Arc<dyn Launch>,
    pub(crate) gate: Gate,
    pub(crate) bus: Bus,
}

impl Family {
    /// A child's environment: what may be handed down, and `added`.
    pub(crate) fn environment(&self, added: Vec<(String, String)>) -> Vec<(String, String)> {
        let config = &self.ground.config;
        let ours = config
            .environment
            .iter()
            .filter_map(|(name, value)| Some((name.to_owned(), value.to_str()?.to_owned())));
        launch::built(ours, &config.settings.task_environment.value, added)
    }
}
