//! A task that passed preflight: everything its supervisor needs, and nothing left to decide.

use std::path::PathBuf;

use serde::Serialize;
use serde_json::Value;
use sortie_policy::Grant;
use sortie_protocol::{
    Artifacts, Attempt, Outcome, Secrets, SessionPlan, TaskId, TaskRequest, TaskResult,
};

use crate::receipt::Receipt;

/// A task that may start.
#[derive(Debug)]
pub(crate) struct Job {
    /// What was asked.
    pub(crate) request: TaskRequest,
    /// What it will do.
    pub(crate) plan: SessionPlan,
    /// The values of the keys that the plan names.
    pub(crate) secrets: Secrets,
    /// What the child's environment gets beside what is handed down.
    pub(crate) environment: Vec<(String, String)>,
    /// The model that was asked for, as written.
    pub(crate) requested: Option<String>,
    /// The models that policy left out.
    pub(crate) unfit: Vec<Attempt>,
    /// Why it got what it got.
    pub(crate) explain: Value,
    /// What its caller should know already.
    pub(crate) warnings: Vec<String>,
    /// What it may hand down.
    pub(crate) grant: Grant,
}

/// What is stored of a task before it starts.
#[derive(Serialize)]
pub(crate) struct StoredPlan<'a> {
    request: &'a TaskRequest,
    why: &'a Value,
    plan: &'a SessionPlan,
}

impl Job {
    /// Its id.
    pub(crate) fn id(&self) -> &TaskId {
        &self.plan.id
    }

    /// What `plans/ID.json` holds.
    pub(crate) fn stored(&self) -> StoredPlan<'_> {
        StoredPlan {
            request: &self.request,
            why: &self.explain,
            plan: &self.plan,
        }
    }

    /// A result that ended so, with nothing made and nothing used.
    pub(crate) fn result(&self, outcome: Outcome) -> TaskResult {
        let receipt = Receipt::new(&self.plan.candidates);
        TaskResult {
            id: self.plan.id.clone(),
            label: self.request.label.clone(),
            agent: self.plan.agent.name.clone(),
            agent_source: self.plan.agent.source,
            agent_file: self.plan.agent.file.clone(),
            tools: self
                .plan
                .tools
                .iter()
                .map(|tool| tool.name.clone())
                .collect(),
            outcome,
            output: None,
            structured: crate::conclude::structured(None, self.plan.schema.as_ref()),
            model: receipt.model(self.requested.as_deref(), &self.unfit),
            usage: receipt.usage(),
            requests: 0,
            duration_ms: 0,
            warnings: self.warnings.clone(),
            isolation: None,
            artifacts: Artifacts {
                output: None,
                transcript: None::<PathBuf>,
                patch: None,
            },
            children: Vec::new(),
        }
    }
}
