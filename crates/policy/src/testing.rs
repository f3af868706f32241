//! A small world for tests.

use std::{collections::BTreeMap, fs};

use sortie_config::{Config, Environment, LoadOptions, Problem};
use sortie_discovery::{AgentDefinition, Catalog};
use sortie_protocol::{AgentSource, Mode, SpawnRule, TaskRequest, script::Script};

use crate::{EffectivePolicy, Grant, RootGrant, RunModel, World, resolve};

/// Providers and models of every kind that a choice can meet.
const MODELS: &str = r"
providers:
  mock:
    baseUrl: http://127.0.0.1:9/v1
    api: openai-completions
    models:
      - {id: large, contextWindow: 100, efforts: [low, medium, high]}
      - {id: small, contextWindow: 10, efforts: [low, medium, high], thinking: {mode: effort, efforts: [low, medium, high], defaultLevel: low}}
      - {id: mid, contextWindow: 50}
      - {id: deep, efforts: [high, max]}
      - {id: qwen3:8b}
      - {id: zz-claude-opus-3}
  other:
    baseUrl: http://127.0.0.1:9/v1
    api: openai-completions
    models: [{id: mid}, {id: only-here}]
  keyed:
    baseUrl: http://127.0.0.1:9/v1
    api: openai-completions
    apiKey: TEST_PROVIDER_KEY
    models: [{id: locked}]
  foreign:
    baseUrl: http://127.0.0.1:9/v1
    api: anthropic-messages
    apiKey: FOREIGN_PROVIDER_KEY
    models: [{id: abroad}]
  odd:
    baseUrl: http://127.0.0.1:9
    api: anthropic-messages
    models:
      - {id: gauged, maxTokens: 10000, efforts: [minimal, high]}
      - {id: stepped, api: google-generative-ai, thinking: google-level, efforts: [minimal, high]}
      - {id: crossed, api: openai-responses, thinking: budget, efforts: [high]}
";

/// Everything that a decision looks at.
#[derive(Debug)]
pub(crate) struct Bench {
    pub config: Config,
    pub agents: Catalog,
    pub scripts: BTreeMap<String, Script>,
}

impl Bench {
    /// The bundled agents, and these: the name and the rest of the header, each of a file `agents/NAME.md`.
    pub(crate) fn new(settings: &str, agents: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let user = dir.path().join("user");
        fs::create_dir(&user).unwrap();
        fs::write(user.join("config.yml"), settings).unwrap();
        fs::write(user.join("models.yml"), MODELS).unwrap();
        let config = Config::load(LoadOptions {
            cwd: dir.path().to_owned(),
            environment: Environment::from_iter([("SORTIE_AGENT_DIR", user.to_str().unwrap())]),
            ..LoadOptions::default()
        })
        .unwrap();
        assert!(config.problems.is_empty(), "{:#?}", config.problems);
        let mut bench = Self {
            config,
            agents: Catalog::bundled(),
            scripts: BTreeMap::new(),
        };
        for (name, header) in agents {
            bench.agents.add(definition(name, header));
        }
        bench
    }

    pub(crate) fn world(&self) -> World<'_> {
        World {
            settings: &self.config.settings,
            models: &self.config.models,
            agents: &self.agents,
            scripts: &self.scripts,
        }
    }

    pub(crate) fn resolve(
        &self,
        grant: &Grant,
        request: &TaskRequest,
    ) -> Result<EffectivePolicy, Vec<Problem>> {
        resolve(&self.world(), grant, request)
    }

    /// The policy of a task of the root for this agent.
    pub(crate) fn policy(&self, agent: &str) -> EffectivePolicy {
        self.resolve(&root(), &task(agent)).unwrap()
    }

    /// What speaks against it, a line each.
    pub(crate) fn refused(&self, grant: &Grant, request: &TaskRequest) -> String {
        let user = self.config.places.user_dir.display().to_string();
        shown(&self.resolve(grant, request).unwrap_err()).replace(&user, "USER")
    }
}

/// The definition that a file `agents/NAME.md` with this header gives.
pub(crate) fn definition(name: &str, header: &str) -> AgentDefinition {
    let text = format!("---\nname: {name}\ndescription: does {name}\n{header}\n---\nWork.\n");
    AgentDefinition::parse(format!("agents/{name}.md"), &text, AgentSource::User).unwrap()
}

/// A root that may start anybody, with a model.
pub(crate) fn root() -> Grant {
    Grant::root(root_grant())
}

pub(crate) fn root_grant() -> RootGrant {
    RootGrant {
        mode: Mode::Normal,
        model: Some(RunModel::Flag("mock/large".into())),
        spawns: SpawnRule::Any,
        blocked: None,
        schema: None,
        schema_mode: None,
    }
}

pub(crate) fn task(agent: &str) -> TaskRequest {
    TaskRequest {
        agent: Some(agent.into()),
        task: "go".into(),
        ..TaskRequest::default()
    }
}

pub(crate) fn shown(problems: &[Problem]) -> String {
    let lines: Vec<_> = problems
        .iter()
        .map(|problem| {
            let place = problem
                .whereabouts()
                .map(|place| format!("{place}: "))
                .unwrap_or_default();
            let help = problem
                .advice()
                .map(|help| format!(" ({help})"))
                .unwrap_or_default();
            format!("{place}{}{help}", problem.message())
        })
        .collect();
    lines.join("\n")
}

/// Why `field` is what it is, a line each.
pub(crate) fn why(policy: &EffectivePolicy, field: &str) -> String {
    let lines: Vec<_> = policy
        .explain()
        .iter()
        .filter(|reason| reason.field == field)
        .map(|reason| {
            let place = match (&reason.why.file, reason.why.line) {
                // The user's settings of this bench are in a folder that is never the same.
                (Some(file), Some(line)) if file.is_absolute() => {
                    format!(" (USER/{}:{line})", file.file_name().unwrap().display())
                }
                (Some(file), Some(line)) => format!(" ({}:{line})", file.display()),
                _ => String::new(),
            };
            format!("{}: {}{place}", reason.value, reason.why.text)
        })
        .collect();
    lines.join("\n")
}
