//! Every agent in a line.

use std::{fmt::Write as _, path::PathBuf};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use sortie_config::Problem;
use sortie_discovery::{AgentDefinition, Catalog, Shadowed, Tools};
use sortie_protocol::{AgentSource, EffortWord, ProblemRow, SpawnRule};

use crate::report::{Look, on_one_line, table::Table};

/// What `agents list --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "AgentListing")]
pub(crate) struct Listing {
    /// The winner of each name.
    agents: Vec<Row>,
    /// Agents of the same names that are not used.
    shadowed: Vec<ShadowedRow>,
    /// Files that cannot be used, and what else is wrong.
    problems: Vec<ProblemRow>,
}

/// Whether an agent can be dispatched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Group {
    /// It can.
    Runnable,
    /// Not while `task.disabledAgents` names it.
    Hidden,
}

/// One agent.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "AgentRow")]
struct Row {
    /// Its name.
    name: String,
    /// What it is for.
    description: String,
    /// Where it was found.
    source: AgentSource,
    /// Its file; null for a bundled agent.
    path: Option<PathBuf>,
    /// In which words its file is written.
    dialect: &'static str,
    /// Whether it can be dispatched.
    group: Group,
    /// As written; null says nothing about tools, and so asks for all.
    tools: Option<Vec<String>>,
    /// `"*"`, or the names.
    spawns: Value,
    /// The models it asks for, best first; null says nothing about models.
    model: Option<Vec<String>>,
    /// How hard it asks its model to think; null says nothing about that.
    effort: Option<EffortWord>,
    /// Whether it changes nothing.
    read_only: bool,
    /// What its author should know.
    warnings: Vec<ProblemRow>,
}

/// An agent that is not used, since another one of its name is.
#[derive(Debug, Serialize, JsonSchema)]
struct ShadowedRow {
    /// Its name.
    name: String,
    /// Where it was found.
    source: AgentSource,
    /// Its file; null for a bundled agent.
    path: Option<PathBuf>,
    /// The file of the agent that is used.
    by: PathBuf,
}

impl Listing {
    /// The agents of `catalog`, of which those in `disabled` cannot be dispatched.
    pub(super) fn of(catalog: &Catalog, disabled: &[String]) -> Self {
        let rows = catalog
            .agents()
            .iter()
            .map(|agent| Row::of(agent, disabled));
        Self {
            agents: rows.collect(),
            shadowed: catalog.shadowed().iter().map(ShadowedRow::of).collect(),
            problems: catalog.problems().iter().map(Problem::row).collect(),
        }
    }

    /// A table for people, the agents that can be dispatched first.
    pub(super) fn text(&self, look: Look) -> String {
        let mut text = String::new();
        let hidden = self.agents.iter().any(|row| row.group == Group::Hidden);
        for group in [Group::Runnable, Group::Hidden] {
            let mut table = Table::under(["NAME", "SOURCE", "MODEL", "TOOLS", "DESCRIPTION"]);
            let rows = self.agents.iter().filter(|row| row.group == group);
            let cells = rows.map(Row::cells).collect::<Vec<_>>();
            if cells.is_empty() {
                continue;
            }
            for row in cells {
                table.push(row);
            }
            if hidden {
                text.push_str(match group {
                    Group::Runnable => "runnable\n",
                    Group::Hidden => "\nhidden by `task.disabledAgents`\n",
                });
            }
            text.push_str(&table.text(look));
        }
        for shadowed in &self.shadowed {
            let path = shadowed.path.as_ref().map_or_else(
                || format!("{} (bundled)", shadowed.name),
                |path| path.display().to_string(),
            );
            let _ = write!(text, "\nshadowed: {path}, by {}", shadowed.by.display());
        }
        if !self.shadowed.is_empty() {
            text.push('\n');
        }
        text
    }
}

impl Row {
    fn of(agent: &AgentDefinition, disabled: &[String]) -> Self {
        Self {
            name: agent.name.value.clone(),
            description: agent.description.value.clone(),
            source: agent.source,
            path: agent.path().map(Into::into),
            dialect: "native",
            group: if disabled.contains(&agent.name.value) {
                Group::Hidden
            } else {
                Group::Runnable
            },
            tools: tools(&agent.tools),
            spawns: spawns(&agent.spawn_rule()),
            model: agent.model.as_ref().map(|model| {
                model
                    .value
                    .iter()
                    .map(|selector| selector.value.clone())
                    .collect()
            }),
            effort: agent.effort.as_ref().map(|effort| effort.value),
            read_only: agent.is_read_only(),
            warnings: agent.warnings.iter().map(Problem::row).collect(),
        }
    }

    fn cells(&self) -> Vec<String> {
        let list = |list: &Option<Vec<String>>, none: &str| match list {
            None => none.to_owned(),
            Some(list) if list.is_empty() => "none".to_owned(),
            Some(list) => list.join(", "),
        };
        vec![
            on_one_line(&self.name, 24),
            self.source.as_str().to_owned(),
            on_one_line(&list(&self.model, "the run's"), 24),
            on_one_line(&list(&self.tools, "all"), 28),
            on_one_line(&self.description, 400),
        ]
    }
}

impl ShadowedRow {
    fn of(shadowed: &Shadowed) -> Self {
        Self {
            name: shadowed.agent.name.value.clone(),
            source: shadowed.agent.source,
            path: shadowed.agent.path().map(Into::into),
            by: shadowed.by.clone(),
        }
    }
}

/// The tools a file asks for, as written.
pub(super) fn tools(tools: &Tools) -> Option<Vec<String>> {
    match tools {
        Tools::Absent => None,
        Tools::Empty { .. } => Some(Vec::new()),
        Tools::Listed { entries, .. } => {
            Some(entries.iter().map(|entry| entry.written.clone()).collect())
        }
    }
}

/// Whom it may spawn: `"*"`, or the names.
pub(super) fn spawns(rule: &SpawnRule) -> Value {
    match rule {
        SpawnRule::Any => json!("*"),
        SpawnRule::None => json!([]),
        SpawnRule::Only(names) => json!(names),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn catalog() -> Catalog {
        let mut catalog = Catalog::default();
        let file = |path: &str, text: &str| {
            AgentDefinition::parse(path, text, AgentSource::Project).unwrap()
        };
        catalog.add(file(
            "agents/lint.md",
            "---\nname: lint\ndescription: Runs the linter\ntools: [read, bash]\nmodel: [local/small, \"@smol\"]\n---\nx\n",
        ));
        catalog.add(file(
            "agents/quiet.md",
            "---\nname: quiet\ndescription: Says nothing\ntools: []\nspawns: [lint]\n---\nx\n",
        ));
        catalog.add(file(
            "more/lint.md",
            "---\nname: lint\ndescription: Another one\n---\nx\n",
        ));
        catalog
    }

    #[test]
    fn a_table_shows_who_does_what() {
        let listing = Listing::of(&catalog(), &[]);
        insta::assert_snapshot!(listing.text(Look::PLAIN), @"
        NAME   SOURCE   MODEL               TOOLS       DESCRIPTION
        lint   project  local/small, @smol  read, bash  Runs the linter
        quiet  project  the run's           none        Says nothing

        shadowed: more/lint.md, by agents/lint.md
        ");
    }

    #[test]
    fn disabled_agents_stand_apart() {
        let listing = Listing::of(&catalog(), &["lint".to_owned()]);
        insta::assert_snapshot!(listing.text(Look::PLAIN), @"
        runnable
        NAME   SOURCE   MODEL      TOOLS  DESCRIPTION
        quiet  project  the run's  none   Says nothing

        hidden by `task.disabledAgents`
        NAME  SOURCE   MODEL               TOOLS       DESCRIPTION
        lint  project  local/small, @smol  read, bash  Runs the linter

        shadowed: more/lint.md, by agents/lint.md
        ");
    }

    #[test]
    fn the_document_has_a_row_a_name() {
        let listing = Listing::of(&catalog(), &[]);
        let json = serde_json::to_string_pretty(&listing).unwrap();
        insta::assert_snapshot!(json, @r#"
        {
          "agents": [
            {
              "name": "lint",
              "description": "Runs the linter",
              "source": "project",
              "path": "agents/lint.md",
              "dialect": "native",
              "group": "runnable",
              "tools": [
                "read",
                "bash"
              ],
              "spawns": [],
              "model": [
                "local/small",
                "@smol"
              ],
              "effort": null,
              "readOnly": false,
              "warnings": []
            },
            {
              "name": "quiet",
              "description": "Says nothing",
              "source": "project",
              "path": "agents/quiet.md",
              "dialect": "native",
              "group": "runnable",
              "tools": [],
              "spawns": [
                "lint"
              ],
              "model": null,
              "effort": null,
              "readOnly": false,
              "warnings": []
            }
          ],
          "shadowed": [
            {
              "name": "lint",
              "source": "project",
              "path": "more/lint.md",
              "by": "agents/lint.md"
            }
          ],
          "problems": []
        }
        "#);
    }
}
