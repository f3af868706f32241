//! The table of settings: every name, type, default, and meaning there is.

use std::{
    num::{NonZeroU32, NonZeroU64},
    path::PathBuf,
};

use serde_json::Value;
use sortie_protocol::{Effort, Thinking};

use super::{
    Depth, Limit, Origin, Setting,
    entries::Entries,
    kinds::{FolderNames, StoreSync},
    layer::Written,
    value::{SettingValue, Shape},
};
use crate::Problem;

/// What an untrusted project may do to a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Project {
    /// Make it narrower, in the sense of its type.
    Narrows,
    /// Nothing.
    Fixed,
}

/// One row of the table.
#[derive(Debug)]
pub(crate) struct Row {
    /// The dotted name.
    pub(crate) key: &'static str,
    /// What it means, in Markdown. Lines begin with a space.
    pub(crate) doc: &'static str,
    /// What an untrusted project may do to it.
    pub(crate) project: Project,
    /// What it holds, in words.
    pub(crate) noun: &'static str,
    /// How a project narrows it, in words.
    pub(crate) narrowing: &'static str,
    /// Whether it holds one value or one a name.
    pub(crate) shape: Shape,
    /// What it holds, as a JSON Schema.
    pub(crate) schema: fn() -> Value,
    /// Its value when nobody sets it.
    pub(crate) default: fn() -> Value,
    /// Lays one layer's word on it.
    pub(crate) lay: fn(&mut Settings, &Written<'_>) -> Vec<Problem>,
    /// Its value and origin.
    pub(crate) show: fn(&Settings) -> (Value, Origin),
}

macro_rules! settings {
    ($(
        $(#[doc = $doc:literal])+
        $key:literal $field:ident: $type:ty = $default:expr, $project:ident;
    )+) => {
        /// Every setting of a run, each with its origin. Read once; nested spawns use the same.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Settings {
            $(
                $(#[doc = $doc])+
                pub $field: Setting<$type>,
            )+
        }

        impl Default for Settings {
            fn default() -> Self {
                Self { $($field: Setting::default($default),)+ }
            }
        }

        /// The rows, in the order of the table.
        pub(crate) static ROWS: &[Row] = &[$(Row {
            key: $key,
            doc: concat!($($doc, "\n"),+),
            project: Project::$project,
            noun: <$type as SettingValue>::NOUN,
            narrowing: <$type as SettingValue>::NARROWING,
            shape: <$type as SettingValue>::SHAPE,
            schema: <$type as SettingValue>::schema,
            default: || <$type as SettingValue>::to_json(&$default),
            lay: |settings, written| SettingValue::lay(&mut settings.$field, written),
            show: |settings| (settings.$field.value.to_json(), settings.$field.origin.clone()),
        }),+];
    };
}

settings! {
    /// How many children of a run may work at once. The default is less where memory is small: the available
    /// MiB divided by 16.
    "task.maxConcurrency" task_max_concurrency: NonZeroU32 = MAX_CONCURRENCY, Narrows;
    /// How deep agents may spawn agents; a task of the run itself is at depth 1. Negative: no limit.
    "task.maxRecursionDepth" task_max_recursion_depth: Depth = Depth(Some(2)), Narrows;
    /// How many tasks a run may have, at all depths together. 0: no limit.
    "task.maxDescendants" task_max_descendants: Limit<u64> = Limit(None), Narrows;
    /// How long a model may take to the first byte of its answer, in milliseconds. 0: no limit.
    "task.firstActivityMs" task_first_activity_ms: Limit<u64> = Limit(Some(120_000)), Narrows;
    /// How long a model may pause within its answer, in milliseconds. 0: no limit.
    "task.idleMs" task_idle_ms: Limit<u64> = Limit(Some(600_000)), Narrows;
    /// How long a task may take in all, in milliseconds. 0: no limit.
    "task.maxRuntimeMs" task_max_runtime_ms: Limit<u64> = Limit(None), Narrows;
    /// How long a child that was asked to stop has before it is killed, in milliseconds.
    "task.killGraceMs" task_kill_grace_ms: u64 = 5_000, Narrows;
    /// How long one `bash` call may run when it names no timeout, in milliseconds.
    "bash.timeoutMs" bash_timeout_ms: NonZeroU64 = BASH_TIMEOUT_MS, Narrows;
    /// After this many model requests a task is asked to wrap up. 0: never.
    "task.softRequestBudget" task_soft_request_budget: Limit<u64> = Limit(Some(200)), Narrows;
    /// How many model requests a task may make. 0: no limit.
    "task.budget.requests" task_budget_requests: Limit<u64> = Limit(None), Narrows;
    /// How many tokens a task may use. 0: no limit.
    "task.budget.tokens" task_budget_tokens: Limit<u64> = Limit(None), Narrows;
    /// How many US dollars a task may cost, by the catalogue's list prices. 0: no limit.
    "task.budget.cost" task_budget_cost: Limit<f64> = Limit(None), Narrows;
    /// Whether a task that ends in prose without handing in a result counts as completed, with a warning.
    "task.acceptProse" task_accept_prose: bool = false, Narrows;
    /// Whether a caller may hint at a task's effort.
    "task.enableEffort" task_enable_effort: bool = false, Narrows;
    /// The highest effort that any task may ask of a model.
    "task.maxEffort" task_max_effort: Effort = Effort::Max, Narrows;
    /// Agents that may not be dispatched.
    "task.disabledAgents" task_disabled_agents: Vec<String> = Vec::new(), Narrows;
    /// Models for agents by name, in place of what their files say: a selector, or a list of them, best first.
    "task.agentModelOverrides" task_agent_model_overrides: Entries<Vec<String>> = Entries::default(), Fixed;
    /// Names of further variables that a child's environment holds. Keys of providers are never among them.
    "task.environment" task_environment: Vec<String> = Vec::new(), Fixed;
    /// Another program that speaks the wire, in place of this one, as the child.
    "engine" engine: Option<PathBuf> = None, Fixed;
    /// The effort to ask for when neither the task, nor the agent, nor the model says one: a level, or `off`.
    "defaultThinkingLevel" default_thinking_level: Thinking = Thinking::Level(Effort::High), Narrows;
    /// What `@ROLE` stands for: a selector, or a list of them, best first. `default` is the run's model.
    "modelRoles" model_roles: Entries<Vec<String>> = Entries::default(), Fixed;
    /// How often a failed request is repeated when no other model is left.
    "retry.maxRetries" retry_max_retries: u32 = 10, Narrows;
    /// The wait before the first repetition, in milliseconds. Each further one doubles.
    "retry.baseDelayMs" retry_base_delay_ms: u64 = 500, Fixed;
    /// The longest wait before a repetition, in milliseconds. A provider that asks for more is given up on.
    "retry.maxDelayMs" retry_max_delay_ms: u64 = 300_000, Narrows;
    /// Whether the `read` tool shows long source files in summary.
    "read.summarize.enabled" read_summarize_enabled: bool = true, Fixed;
    /// When records are flushed to disk: `batch` groups them, `always` waits for each, `never` leaves it to the
    /// system.
    "store.sync" store_sync: StoreSync = StoreSync::Batch, Fixed;
    /// The names of configuration folders, most important first.
    "discovery.configDirs" discovery_config_dirs: FolderNames = FolderNames::default(), Fixed;
    /// How many requests may be open to a provider at once, by its name.
    "providers.maxInFlightRequests" providers_max_in_flight_requests: Entries<NonZeroU32> = Entries::default(), Narrows;
}

/// The default of `task.maxConcurrency` where memory is plenty.
const MAX_CONCURRENCY: NonZeroU32 = NonZeroU32::new(32).expect("32 is not zero");

/// The default of `bash.timeoutMs`.
const BASH_TIMEOUT_MS: NonZeroU64 = NonZeroU64::new(300_000).expect("300,000 is not zero");

/// The MiB that one working child should have to itself.
const MIB_A_CHILD: u64 = 16;

impl Settings {
    /// The defaults on a machine with this much memory to spare.
    pub(crate) fn defaults(available_mib: Option<u64>) -> Self {
        let mut settings = Self::default();
        let fitting = available_mib
            .and_then(|mib| u32::try_from(mib / MIB_A_CHILD).ok())
            .map(|children| NonZeroU32::new(children).unwrap_or(NonZeroU32::MIN));
        if let Some(fitting) = fitting {
            let most = settings.task_max_concurrency.value;
            settings.task_max_concurrency.value = most.min(fitting);
        }
        settings
    }

    /// Every setting with its dotted name, value, and origin, in the order of the table.
    pub fn list(&self) -> Vec<(&'static str, Value, Origin)> {
        ROWS.iter()
            .map(|row| {
                let (value, origin) = (row.show)(self);
                (row.key, value, origin)
            })
            .collect()
    }
}
