//! A task that passed preflight: what was asked, and what was decided.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use sortie_policy::{EffectivePolicy, Reason, Site};
use sortie_protocol::{Artifacts, Outcome, Secrets, SessionPlan, TaskId, TaskRequest, TaskResult};

use crate::{conclude, ground::Ground, receipt::Receipt};

/// A task that may start. Small, since a thousand may wait: its plan is written when it starts.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) id: TaskId,
    /// What was asked.
    pub(crate) request: TaskRequest,
    /// Background that every task of its batch gets.
    pub(crate) context: Option<Arc<str>>,
    /// What was decided.
    pub(crate) policy: EffectivePolicy,
    /// The values of the keys that its plan will name. None while it is only judged.
    pub(crate) secrets: Secrets,
}

/// What is stored of a task before it starts, as `plans/ID.json`, and what a dry run shows of it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PlannedTask<'a> {
    /// What was asked.
    pub request: &'a TaskRequest,
    /// Every decision with its reason, in the order in which they were made.
    pub why: &'a [Reason],
    /// What whoever reads its result will be told.
    pub warnings: &'a [String],
    /// What its child will do.
    pub plan: &'a SessionPlan,
}

impl Job {
    /// Everything that its child will do.
    pub(crate) fn plan(&self, ground: &Ground) -> SessionPlan {
        self.policy.plan(&Site {
            run: ground.run.clone(),
            id: self.id.clone(),
            cwd: ground.config.places.cwd.clone(),
            scratch: ground.scratch(&self.id),
            context: self.context.as_deref(),
        })
    }

    /// What its child's environment gets beside what is handed down.
    pub(crate) fn environment(&self, ground: &Ground) -> Vec<(String, String)> {
        let parent = self
            .id
            .parent()
            .map(|parent| parent.to_string())
            .unwrap_or_default();
        let mut environment = self.policy.environment();
        environment.push((
            "SORTIE_SESSION".into(),
            format!("{}/{}", ground.run, self.id),
        ));
        environment.push(("SORTIE_PARENT".into(), parent));
        environment
    }

    /// The task with `plan`, which is its own.
    pub(crate) fn planned<'a>(&'a self, plan: &'a SessionPlan) -> PlannedTask<'a> {
        PlannedTask {
            request: &self.request,
            why: self.policy.explain(),
            warnings: self.policy.warnings(),
            plan,
        }
    }

    /// A result that ended so, with nothing made and nothing used.
    pub(crate) fn result(&self, outcome: Outcome) -> TaskResult {
        let policy = &self.policy;
        let receipt = Receipt::new(policy.candidates());
        TaskResult {
            id: self.id.clone(),
            label: self.request.label.clone(),
            agent: policy.agent_name().to_owned(),
            agent_source: policy.source(),
            agent_file: policy.file().map(ToOwned::to_owned),
            tools: policy.tools().into_iter().map(str::to_owned).collect(),
            outcome,
            output: None,
            structured: conclude::structured(None, policy.schema()),
            model: receipt.model(policy.requested_model(), policy.skipped()),
            usage: receipt.usage(),
            requests: 0,
            duration_ms: 0,
            warnings: policy.warnings().to_vec(),
            isolation: None,
            artifacts: Artifacts::default(),
            children: Vec::new(),
        }
    }
}
