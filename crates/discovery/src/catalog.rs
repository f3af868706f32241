//! Every agent there is, by name.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Arc, LazyLock},
};

use sortie_config::{Places, Problem, Source, nearest};
use sortie_prompts::agents;
use sortie_protocol::AgentSource;

use crate::{
    definition::AgentDefinition,
    header,
    walk::{self, Found},
};

/// The bundled agents, read once: nested spawns look again at what is on disk, but not at these.
static BUNDLED: LazyLock<Vec<Result<Arc<AgentDefinition>, Problem>>> = LazyLock::new(|| {
    agents::ALL
        .iter()
        .map(|bundled| {
            let path = format!("bundled/{}.md", bundled.name);
            AgentDefinition::parse(path, bundled.text, AgentSource::Bundled).map(Arc::new)
        })
        .collect()
});

/// Every agent, as the folders stood when it was made.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    agents: Vec<Arc<AgentDefinition>>,
    by_name: HashMap<String, usize>,
    shadowed: Vec<Shadowed>,
    invalid: Vec<Invalid>,
    problems: Vec<Problem>,
}

/// A definition that another one of the same name came before.
#[derive(Clone, Debug)]
pub struct Shadowed {
    /// The definition that is not used.
    pub agent: Arc<AgentDefinition>,
    /// The file of the one that is.
    pub by: PathBuf,
}

/// A file that defines nothing, and the name that it would have had.
#[derive(Clone, Debug)]
struct Invalid {
    name: String,
    problem: Problem,
    /// The problem, for somebody who asked for that name.
    refusal: Problem,
}

/// The answer to a name. Names are compared exactly.
#[derive(Clone, Debug)]
pub enum Lookup<'a> {
    /// There is such an agent.
    Found(&'a Arc<AgentDefinition>),
    /// There is a file for it, and this is wrong with it. Says that the agent exists, why it is invalid, and where.
    Invalid(&'a Problem),
    /// There is none.
    Unknown {
        /// The name that was probably meant.
        nearest: Option<&'a str>,
        /// Every name there is, in the order of [`Catalog::agents`].
        names: Vec<&'a str>,
    },
}

impl Catalog {
    /// Reads every agent file: the project's folders, then the user's, then the bundled ones. Of several of one name
    /// the first counts.
    ///
    /// Never fails: what cannot be read is among [`Catalog::problems`].
    pub fn discover(places: &Places) -> Self {
        let mut catalog = Self::default();
        for dir in &places.project_dirs {
            catalog.add_folder(
                &dir.join("agents"),
                AgentSource::Project,
                &places.project_root,
            );
        }
        for dir in &places.user_dirs {
            // `~/.sortie/agent`: links may lead anywhere below the home that the folder is in.
            let home = dir.ancestors().nth(2).unwrap_or(dir);
            catalog.add_folder(&dir.join("agents"), AgentSource::User, home);
        }
        catalog.add_bundled();
        catalog
    }

    /// The bundled agents alone.
    pub fn bundled() -> Self {
        let mut catalog = Self::default();
        catalog.add_bundled();
        catalog
    }

    /// The winner of every name, in order of discovery.
    pub fn agents(&self) -> &[Arc<AgentDefinition>] {
        &self.agents
    }

    /// The definitions that lost to another of the same name, in order of discovery.
    pub fn shadowed(&self) -> &[Shadowed] {
        &self.shadowed
    }

    /// What is wrong with files and folders that define no agent. What is wrong with an agent is among its own
    /// [`warnings`](AgentDefinition::warnings).
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Looks a name up.
    pub fn find(&self, name: &str) -> Lookup<'_> {
        if let Some(&at) = self.by_name.get(name) {
            return Lookup::Found(&self.agents[at]);
        }
        if let Some(invalid) = self.invalid.iter().find(|invalid| invalid.name == name) {
            return Lookup::Invalid(&invalid.refusal);
        }
        let names: Vec<&str> = self
            .agents
            .iter()
            .map(|agent| agent.name.value.as_str())
            .collect();
        Lookup::Unknown {
            nearest: nearest(name, names.iter().copied()),
            names,
        }
    }

    /// Adds one definition below all that are there already, as though a later folder held it.
    pub fn add(&mut self, agent: AgentDefinition) {
        self.insert(Arc::new(agent), None);
    }

    fn add_bundled(&mut self) {
        for bundled in BUNDLED.iter() {
            match bundled {
                Ok(agent) => self.insert(Arc::clone(agent), None),
                Err(problem) => self.problems.push(problem.clone()),
            }
        }
    }

    fn add_folder(&mut self, folder: &Path, source: AgentSource, boundary: &Path) {
        for found in walk::agent_files(folder, boundary) {
            match found {
                Found::Problem(problem) => self.problems.push(problem),
                Found::File { path, text } => match AgentDefinition::parse(&path, &text, source) {
                    Ok(agent) => self.insert(Arc::new(agent), Some(folder)),
                    Err(problem) => self.refuse(&path, &text, problem),
                },
            }
        }
    }

    fn refuse(&mut self, path: &Path, text: &str, problem: Problem) {
        let stem = || {
            path.file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned()
        };
        let name = AgentDefinition::intended_name(text).unwrap_or_else(stem);
        let message = format!("`{name}` exists but is invalid: {}", problem.message());
        let file = Source::new(path, header::plain(text));
        let at = problem.position().map_or(0, |(line, column)| {
            header::offset(file.text(), line, column)
        });
        let mut refusal = Problem::error(message).at(&file, at..at);
        if let Some(help) = problem.advice() {
            refusal = refusal.help(help);
        }
        self.invalid.push(Invalid {
            name,
            refusal,
            problem: problem.clone(),
        });
        self.problems.push(problem);
    }

    fn insert(&mut self, mut agent: Arc<AgentDefinition>, folder: Option<&Path>) {
        let name = agent.name.value.clone();
        if let Some(&at) = self.by_name.get(&name) {
            let winner = &self.agents[at];
            let by = winner.file.path().to_owned();
            // Two folders may well hold one name; one folder with two of it is a mistake.
            if folder.is_some_and(|folder| by.starts_with(folder)) {
                self.problems.push(
                    Problem::warning(format!(
                        "`{name}` is defined again; {} counts",
                        by.display()
                    ))
                    .at(&agent.file, agent.name.span.clone())
                    .help("give one of the two another name"),
                );
            }
            self.shadowed.push(Shadowed { agent, by });
            return;
        }
        if let Some(invalid) = self.invalid.iter().find(|invalid| invalid.name == name) {
            let place = invalid.problem.whereabouts().unwrap_or_default();
            let warning = Problem::warning(format!(
                "`{name}` of {place} would come first, but is invalid: {}",
                invalid.problem.message()
            ))
            .at(&agent.file, agent.name.span.clone());
            Arc::make_mut(&mut agent).warnings.push(warning);
        }
        self.by_name.insert(name, self.agents.len());
        self.agents.push(agent);
    }
}

#[cfg(test)]
#[path = "catalog_tests.rs"]
mod tests;
