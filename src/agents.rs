//! `sortie agents`: which agents there are, and what their files say.

mod fields;
mod listing;

use sortie_config::{Config, Problem};
use sortie_discovery::{Catalog, Lookup};
use sortie_protocol::Severity;

pub(crate) use self::{fields::Sheet, listing::Listing};
use crate::{answer, cli::AgentsCommand, exit::Exit, inputs, report::Look};

/// Lists the agents, or shows one.
pub(crate) fn agents(command: &AgentsCommand) -> Exit {
    let config = match inputs::look_at_config() {
        Ok(config) => config,
        Err(problem) => {
            answer::warn(&[problem]);
            return Exit::NothingRan;
        }
    };
    let catalog = Catalog::discover(&config.places);
    match command {
        AgentsCommand::List { json } => list(&config, &catalog, *json),
        AgentsCommand::Show { name, json } => show(&catalog, name, *json),
    }
}

fn list(config: &Config, catalog: &Catalog, json: bool) -> Exit {
    let listing = Listing::of(catalog, &config.settings.task_disabled_agents);
    if json {
        return answer::print_json(&listing);
    }
    let exit = answer::print(&listing.text(Look::stdout()));
    let warnings = catalog.agents().iter().flat_map(|agent| &agent.warnings);
    answer::warn(&worth_a_report(catalog.problems().iter().chain(warnings)));
    exit
}

fn show(catalog: &Catalog, name: &str, json: bool) -> Exit {
    match catalog.find(name) {
        Lookup::Found(agent) => {
            let sheet = Sheet::of(agent);
            if json {
                return answer::print_json(&sheet);
            }
            let exit = answer::print(&sheet.text(Look::stdout()));
            answer::warn(&worth_a_report(&agent.warnings));
            exit
        }
        Lookup::Invalid(problem) => answer::not_found(problem.clone()),
        Lookup::Unknown { nearest, names } => {
            let problem = Problem::error(format!("there is no agent `{name}`"));
            answer::not_found(match nearest {
                Some(nearest) => problem.help(format!("did you mean `{nearest}`?")),
                None => problem.help(format!("there are {}", names.join(", "))),
            })
        }
    }
}

/// All but the notes, which are a line each where the agent is shown.
fn worth_a_report<'a>(problems: impl IntoIterator<Item = &'a Problem>) -> Vec<Problem> {
    problems
        .into_iter()
        .filter(|problem| problem.severity() != Severity::Note)
        .cloned()
        .collect()
}
