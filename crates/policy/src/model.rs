//! Which models an agent may use, best first.

use serde_json::{Value, json};
use sortie_config::{Model, Problem, Provider, Unsayable};
use sortie_discovery::AgentDefinition;
use sortie_protocol::{
    AgentSource, Api, Attempt, Candidate, EffortHint, TaskRequest, Thinking, WireEffort,
};

use crate::{
    effort::{self, AboveCeiling, By, Wish},
    grant::Grant,
    lookup::{self, Found},
    origin::{Origin, Unusable, exhausted},
    roles::{Asked, Roles, pieces},
    scripts,
    why::{Reason, Why},
    world::World,
};

/// The setting that gives agents other models than their files do.
const OVERRIDES: &str = "task.agentModelOverrides";

/// The models of one agent.
#[derive(Debug)]
pub(crate) struct Choice {
    /// Best first; never empty.
    pub candidates: Vec<Candidate>,
    /// What was asked for, as written.
    pub requested: Option<String>,
    /// What was asked for and cannot be used.
    pub skipped: Vec<Attempt>,
    pub reasons: Vec<Reason>,
}

/// Chooses them: the task's word, then `task.agentModelOverrides`, then the file's list, then the caller's model.
pub(crate) fn choose(
    world: &World<'_>,
    grant: &Grant,
    request: &TaskRequest,
    agent: &AgentDefinition,
) -> Result<Choice, Problem> {
    let (origin, named) = origin(world, request, agent);
    if let (Origin::File(_), AgentSource::Project) = (&origin, agent.source) {
        trusted(&named).map_err(|problem| origin.blame(problem))?;
    }
    let mut roles = Roles::new(world, grant, origin.clone());
    let asked = match origin {
        Origin::Caller => roles.inherited(),
        _ => roles.expand(&named),
    }?;
    let asked = roles.in_this_run(asked);
    let requested = match origin {
        Origin::Caller => grant
            .active
            .as_ref()
            .map(|active| active.selector.clone())
            .or_else(|| roles.run_model()),
        _ => Some(named.join(", ")),
    };
    let mut picks = Picks {
        world,
        wish: Wish {
            hint: request.effort,
            file: agent.effort.as_ref().map(|field| field.value),
            caller: grant.active.as_ref().and_then(|active| active.level),
            ..Wish::default()
        },
        candidates: Vec::new(),
        by: Vec::new(),
        unusable: Vec::new(),
    };
    for one in &asked {
        picks.consider(one)?;
    }
    if picks.candidates.is_empty() {
        return Err(exhausted(&picks.unusable, &agent.name.value, &origin));
    }
    let reasons = reasons(&picks, &origin, agent, &roles.notes, request.effort);
    Ok(Choice {
        candidates: picks.candidates,
        requested,
        skipped: picks.unusable.into_iter().map(attempt).collect(),
        reasons,
    })
}

/// Who names the models, and as what. `Caller` is nobody.
fn origin<'a>(
    world: &World<'_>,
    request: &TaskRequest,
    agent: &'a AgentDefinition,
) -> (Origin<'a>, Vec<String>) {
    // `inherit` alone names no model.
    let of = |list: &[String]| {
        let pieces = pieces(list);
        let any = pieces
            .iter()
            .any(|piece| !piece.eq_ignore_ascii_case("inherit"));
        any.then_some(pieces)
    };
    if let Some(named) = request
        .model
        .as_ref()
        .and_then(|model| of(std::slice::from_ref(model)))
    {
        return (Origin::Task, named);
    }
    let setting = world
        .settings
        .task_agent_model_overrides
        .get(&agent.name.value);
    if let Some((setting, named)) = setting.and_then(|setting| Some((setting, of(&setting.value)?)))
    {
        let key = OVERRIDES.to_owned();
        return (Origin::setting(key, &setting.origin), named);
    }
    let stated: Vec<String> = agent
        .model
        .iter()
        .flat_map(|field| field.value.iter().map(|selector| selector.value.clone()))
        .collect();
    match of(&stated) {
        Some(named) => (Origin::File(agent), named),
        None => (Origin::Caller, Vec::new()),
    }
}

/// A script runs commands without a model, so a project that nobody trusted may not name one.
fn trusted(named: &[String]) -> Result<(), Problem> {
    match named.iter().find(|piece| scripts::name(piece).is_some()) {
        Some(script) => Err(Problem::error(format!(
            "`{script}`: an agent of a project may not name a script"
        ))
        .help("name it by `--model`, in the batch, or in your own settings")),
        None => Ok(()),
    }
}

/// What to do about a level that cannot be asked for.
fn remedy(unsayable: &Unsayable) -> &'static str {
    match unsayable {
        Unsayable::Off { .. } => "ask for one of its levels, or choose another model",
        _ => "correct the model in `models.yml`, or choose another",
    }
}

/// How a receipt shows what cannot be used.
fn attempt(unusable: Unusable<'_>) -> Attempt {
    Attempt {
        selector: unusable.selector,
        effort: None,
        requests: 0,
        left: unusable.left,
    }
}

/// The candidates, as they are found.
struct Picks<'a> {
    world: &'a World<'a>,
    wish: Wish,
    candidates: Vec<Candidate>,
    /// Who decided the level of each.
    by: Vec<By>,
    unusable: Vec<Unusable<'a>>,
}

impl<'a> Picks<'a> {
    fn consider(&mut self, asked: &Asked<'a>) -> Result<(), Problem> {
        if let Some(name) = scripts::name(&asked.name) {
            return self
                .script(name)
                .map_err(|problem| asked.origin.blame(problem));
        }
        match lookup::find(self.world.models, &asked.name) {
            Found::Ambiguous(candidates) => {
                let fault = Problem::error(format!(
                    "`{}` fits several models: {candidates}",
                    asked.name
                ));
                Err(asked.origin.blame(fault.help("write `provider/model`")))
            }
            Found::None(left) => {
                self.skip(asked.name.clone(), left, asked);
                Ok(())
            }
            Found::Faulty(faulty) => {
                let name = match &faulty.model {
                    Some(model) => format!("{}/{model}", faulty.provider),
                    None => faulty.provider.clone(),
                };
                let left = format!("`{name}` is faulty: {}", faulty.fault.message());
                self.skip(asked.name.clone(), left, asked).fault = Some(faulty.fault.clone());
                Ok(())
            }
            Found::One {
                provider,
                model,
                level,
            } => {
                let wish = Wish {
                    selector: asked.level.or(level),
                    inherited: asked.inherited,
                    ..self.wish
                };
                self.model(provider, model, wish, asked)
            }
        }
    }

    fn model(
        &mut self,
        provider: &Provider,
        model: &Model,
        wish: Wish,
        asked: &Asked<'a>,
    ) -> Result<(), Problem> {
        let selector = lookup::selector(provider, model);
        if let Some(left) = lookup::hindrance(self.world.models, provider) {
            self.skip(selector, left, asked);
            return Ok(());
        }
        let (left, help) = match effort::level(self.world.settings, model, wish) {
            Ok(level) => match self.world.models.candidate(provider, model, level.thinking) {
                Ok(candidate) => {
                    self.add(candidate, level.by);
                    return Ok(());
                }
                Err(unsayable) => (unsayable.to_string(), remedy(&unsayable)),
            },
            Err(AboveCeiling { lowest }) => {
                let ceiling = self.world.settings.task_max_effort.value;
                let left =
                    format!("its lowest effort is {lowest}, and `task.maxEffort` is {ceiling}");
                let help = "raise `task.maxEffort`, ask for `:off`, or choose another model";
                (left, help)
            }
        };
        if self.candidates.is_empty() && self.unusable.is_empty() {
            let fault = Problem::error(format!("`{selector}` cannot be used: {left}")).help(help);
            return Err(asked.origin.blame(fault));
        }
        self.skip(selector, left, asked);
        Ok(())
    }

    fn script(&mut self, name: &str) -> Result<(), Problem> {
        let selector = format!("{}{name}", lookup::SCRIPT);
        let Some(entries) = self.world.scripts.get(name) else {
            return Err(
                Problem::error(format!("there is no script `{name}`")).help(format!(
                    "put `{name}.yaml` beside the batch, or into `scripts` of your own folder"
                )),
            );
        };
        let candidate = Candidate {
            selector,
            provider: "script".to_owned(),
            api: Api::Script,
            base_url: String::new(),
            url_secret: None,
            key: None,
            headers: std::collections::BTreeMap::new(),
            wire_name: name.to_owned(),
            effort: None,
            wire_effort: None,
            context_window: None,
            max_tokens: None,
            price: None,
            script: entries.clone(),
        };
        self.add(candidate, By::Nobody);
        Ok(())
    }

    fn add(&mut self, candidate: Candidate, by: By) {
        let again = self
            .candidates
            .iter()
            .any(|other| other.selector == candidate.selector && other.effort == candidate.effort);
        if !again {
            self.candidates.push(candidate);
            self.by.push(by);
        }
    }

    fn skip(&mut self, selector: String, left: String, asked: &Asked<'a>) -> &mut Unusable<'a> {
        self.unusable.push_mut(Unusable {
            selector,
            left,
            origin: asked.origin.clone(),
            fault: None,
        })
    }
}

fn reasons(
    picks: &Picks<'_>,
    origin: &Origin<'_>,
    agent: &AgentDefinition,
    notes: &[String],
    hint: Option<EffortHint>,
) -> Vec<Reason> {
    let mut why = match origin {
        Origin::Task => Why::rule("the task names it"),
        Origin::Setting { why, .. } => why.clone(),
        Origin::File(agent) => Why::field(
            "model",
            agent,
            agent.model.as_ref().map(|field| &field.span),
        ),
        Origin::Caller | Origin::Flag | Origin::Batch(_) => {
            Why::rule("nobody names one, so it is the caller's")
        }
    };
    for note in notes {
        why.text.push_str("; ");
        why.text.push_str(note);
    }
    let selectors: Vec<_> = picks
        .candidates
        .iter()
        .map(|candidate| candidate.selector.as_str())
        .collect();
    let mut reasons = vec![Reason::new("model", selectors, why)];
    for attempt in &picks.unusable {
        let why = Why::rule(attempt.left.clone());
        reasons.push(Reason::new("model.skipped", attempt.selector.as_str(), why));
    }
    for (candidate, by) in picks.candidates.iter().zip(&picks.by) {
        let asked = match by {
            By::Hint => Why::rule(format!(
                "the task's hint `{}`",
                json!(hint).as_str().unwrap_or_default()
            )),
            By::Selector => Why::rule(format!(
                "the level of the selector of `{}`",
                candidate.selector
            )),
            By::File => Why::field(
                "thinking-level",
                agent,
                agent.effort.as_ref().map(|field| &field.span),
            ),
            By::Caller => Why::rule("the level of the caller, whose model it is"),
            By::Model => Why::rule(format!("the default of `{}`", candidate.selector)),
            By::Setting => Why::setting(
                "defaultThinkingLevel",
                &picks.world.settings.default_thinking_level.origin,
            ),
            By::Nobody => Why::rule(format!("`{}` has no levels", candidate.selector)),
        };
        let value = candidate
            .effort
            .map_or(Value::Null, |effort| effort.to_string().into());
        let asked = match (&candidate.effort, &candidate.wire_effort) {
            (Some(effort), Some(wire)) if !is_plain(*effort, wire) => Why {
                text: format!("{}; sent as {wire}", asked.text),
                ..asked
            },
            _ => asked,
        };
        reasons.push(Reason::new("effort", value, asked));
    }
    reasons
}

/// Whether a level is sent by its own name.
fn is_plain(effort: Thinking, wire: &WireEffort) -> bool {
    match wire {
        WireEffort::Off => effort == Thinking::Off,
        WireEffort::Word(word) => word.eq_ignore_ascii_case(&effort.to_string()),
        WireEffort::Budget(_) | WireEffort::Adaptive(_) | WireEffort::BudgetAndWord { .. } => false,
    }
}

#[cfg(test)]
#[path = "model_tests.rs"]
mod tests;
