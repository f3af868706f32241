//! Budgets, clocks, and the other numbers of a session.

use serde_json::{Value, json};
use sortie_config::{Limit, Setting, Settings};
use sortie_discovery::AgentDefinition;
use sortie_protocol::{AgentSource, Budgets, Clocks, ReadOptions, Retry, TaskRequest};

use crate::why::{Reason, Why};

/// Bundled agents that are meant to be quick, and the model requests after which they are asked to wrap up.
const QUICK: [(&str, u64); 2] = [("scout", 100), ("sonic", 100)];

/// The numbers of one session.
#[derive(Debug)]
pub(crate) struct Limits {
    pub budgets: Budgets,
    pub clocks: Clocks,
    pub retry: Retry,
    pub read: ReadOptions,
    pub accept_prose: bool,
    pub reasons: Vec<Reason>,
}

/// Takes them from the settings; the request and the file may only lower them.
pub(crate) fn derive(
    settings: &Settings,
    request: &TaskRequest,
    agent: &AgentDefinition,
) -> Limits {
    let mut reasons = Vec::new();
    let budgets = Budgets {
        soft_requests: limit(
            &mut reasons,
            "task.softRequestBudget",
            &settings.task_soft_request_budget,
        ),
        requests: limit(
            &mut reasons,
            "task.budget.requests",
            &settings.task_budget_requests,
        ),
        tokens: limit(
            &mut reasons,
            "task.budget.tokens",
            &settings.task_budget_tokens,
        ),
        cost: limit(&mut reasons, "task.budget.cost", &settings.task_budget_cost),
    };
    let ms =
        |reasons: &mut Vec<Reason>, field, setting| limit(reasons, field, setting).unwrap_or(0);
    let clocks = Clocks {
        first_activity_ms: ms(
            &mut reasons,
            "task.firstActivityMs",
            &settings.task_first_activity_ms,
        ),
        idle_ms: ms(&mut reasons, "task.idleMs", &settings.task_idle_ms),
        total_ms: ms(
            &mut reasons,
            "task.maxRuntimeMs",
            &settings.task_max_runtime_ms,
        ),
        kill_grace_ms: settings.task_kill_grace_ms.value,
        bash_timeout_ms: settings.bash_timeout_ms.value.get(),
    };
    let mut limits = Limits {
        budgets,
        clocks,
        retry: Retry {
            max_retries: settings.retry_max_retries.value,
            base_delay_ms: settings.retry_base_delay_ms.value,
            max_delay_ms: settings.retry_max_delay_ms.value,
        },
        read: read(&mut reasons, settings, agent),
        accept_prose: settings.task_accept_prose.value,
        reasons,
    };
    limits.lower_soft_budget(agent);
    limits.lower_total(request);
    limits
}

/// One limit and its reason, where it is set or differs from none.
fn limit<N>(
    reasons: &mut Vec<Reason>,
    field: &'static str,
    setting: &Setting<Limit<N>>,
) -> Option<N>
where
    N: Copy + Default,
    Value: From<N>,
{
    let limit = setting.value.get()?;
    reasons.push(Reason::new(
        field,
        limit,
        Why::setting(field, &setting.origin),
    ));
    Some(limit)
}

fn read(reasons: &mut Vec<Reason>, settings: &Settings, agent: &AgentDefinition) -> ReadOptions {
    let setting = &settings.read_summarize_enabled;
    let (summarize, why) = match &agent.read_summarize {
        Some(stated) => (
            stated.value,
            Why::field("read-summarize", agent, Some(&stated.span)),
        ),
        None => (
            setting.value,
            Why::setting("read.summarize.enabled", &setting.origin),
        ),
    };
    reasons.push(Reason::new("read.summarize", summarize, why));
    ReadOptions { summarize }
}

impl Limits {
    fn lower_soft_budget(&mut self, agent: &AgentDefinition) {
        let quick = QUICK.iter().find(|(name, _)| *name == agent.name.value);
        if let (AgentSource::Bundled, Some(&(_, most)), Some(budget)) =
            (agent.source, quick, &mut self.budgets.soft_requests)
            && *budget > most
        {
            *budget = most;
            let why = Why::rule("this bundled agent is meant to be quick");
            self.reasons
                .push(Reason::new("task.softRequestBudget", most, why));
        }
    }

    fn lower_total(&mut self, request: &TaskRequest) {
        let Some(seconds) = request.timeout.filter(|seconds| *seconds > 0.0) else {
            return;
        };
        let asked = std::time::Duration::try_from_secs_f64(seconds)
            .ok()
            .and_then(|timeout| u64::try_from(timeout.as_millis()).ok())
            .unwrap_or(u64::MAX)
            .max(1);
        let total = &mut self.clocks.total_ms;
        if *total == 0 || asked < *total {
            *total = asked;
            let why = Why::rule("the task states a timeout");
            self.reasons
                .push(Reason::new("task.maxRuntimeMs", json!(asked), why));
        }
    }
}
