//! One agent: every field, and where it comes from.

use std::{fmt::Write as _, path::PathBuf};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use sortie_config::Problem;
use sortie_discovery::{AgentDefinition, Field, HandOver, Span};
use sortie_protocol::{AgentSource, ProblemRow, Severity};

use super::listing::{spawns, tools};
use crate::report::{Look, on_one_line, table::Table, without_controls};

/// What `agents show NAME --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Agent")]
pub(crate) struct Sheet {
    /// The agent's name.
    name: String,
    /// Where it was found.
    source: AgentSource,
    /// Its file; null for a bundled agent.
    path: Option<PathBuf>,
    /// What it says, and what follows from what it does not say.
    fields: Vec<Row>,
    /// Its text.
    instructions: String,
    /// What its author should know.
    warnings: Vec<ProblemRow>,
    /// What the file is called in a line of text.
    #[serde(skip)]
    file: String,
}

/// One field.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Field")]
struct Row {
    /// Its key.
    field: String,
    /// What it says.
    value: Value,
    /// Where the file says so, from 1; null where it says nothing and `value` is what that means.
    line: Option<u64>,
    /// Where in that line, from 1.
    column: Option<u64>,
    /// What a value that is not written down follows from.
    why: Option<&'static str>,
}

impl Sheet {
    /// What the file of `agent` says.
    pub(super) fn of(agent: &AgentDefinition) -> Self {
        Self {
            name: agent.name.value.clone(),
            source: agent.source,
            path: agent.path().map(Into::into),
            fields: Writer {
                agent,
                rows: Vec::new(),
            }
            .write(),
            instructions: agent.instructions.clone(),
            warnings: agent.warnings.iter().map(Problem::row).collect(),
            file: agent.file.path().display().to_string(),
        }
    }

    /// For people.
    pub(super) fn text(&self, look: Look) -> String {
        let mut table = Table::under(["FIELD", "VALUE", "WHERE"]);
        for row in &self.fields {
            let value = match &row.value {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            let place = match (row.line, row.why) {
                (Some(line), _) => format!("{}:{line}", self.file),
                (None, why) => why.unwrap_or("not stated").to_owned(),
            };
            table.push(vec![row.field.clone(), on_one_line(&value, 60), place]);
        }
        let mut text = table.text(look);
        let notes = self
            .warnings
            .iter()
            .filter(|row| row.severity == Severity::Note);
        for (at, note) in notes.enumerate() {
            let gap = if at == 0 { "\n" } else { "" };
            let _ = writeln!(text, "{gap}note: {}", note.message);
        }
        if !self.instructions.trim().is_empty() {
            text.push('\n');
            text.push_str(&without_controls(self.instructions.trim_end()));
            text.push('\n');
        }
        text
    }
}

/// Puts the fields of an agent into rows.
struct Writer<'a> {
    agent: &'a AgentDefinition,
    rows: Vec<Row>,
}

impl Writer<'_> {
    fn write(mut self) -> Vec<Row> {
        let agent = self.agent;
        self.stated("name", json!(agent.name.value), &agent.name.span);
        self.stated(
            "description",
            json!(agent.description.value),
            &agent.description.span,
        );
        match (tools(&agent.tools), agent.tools.span()) {
            (Some(list), Some(span)) => self.stated("tools", json!(list), &span),
            _ => self.implied(
                "tools",
                json!("*"),
                "not stated: all that the caller may give",
            ),
        }
        let rule = spawns(&agent.spawn_rule());
        match &agent.spawns {
            Some(field) => self.stated("spawns", rule, &field.span),
            None if agent.tools.lists("task") => {
                self.implied(
                    "spawns",
                    rule,
                    "not stated: anybody, since its tools hold `task`",
                );
            }
            None => self.implied("spawns", rule, "not stated: nobody"),
        }
        self.optional("model", agent.model.as_ref(), |model| {
            model
                .iter()
                .map(|selector| selector.value.as_str())
                .collect()
        });
        self.optional("thinking-level", agent.effort.as_ref(), |effort| {
            json!(effort)
        });
        self.optional("output", agent.output.as_ref(), Value::clone);
        self.optional("blocking", agent.blocking.as_ref(), |&on| json!(on));
        for skill in &agent.autoload_skills {
            self.stated("autoload-skills", json!(skill.value), &skill.span);
        }
        self.optional("read-summarize", agent.read_summarize.as_ref(), |&on| {
            json!(on)
        });
        self.optional("prewalk", agent.prewalk.as_ref(), hand_over);
        self.optional("advisor", agent.advisor.as_ref(), hand_over);
        self.optional("ceiling", agent.ceiling.as_ref(), |&on| json!(on));
        match &agent.read_only {
            Some(field) => self.stated("read-only", json!(field.value), &field.span),
            None if agent.is_read_only() => {
                self.implied("read-only", json!(true), "every tool it names only reads");
            }
            None => {}
        }
        for unknown in &agent.unknown {
            self.stated(&unknown.key.value, unknown.value.clone(), &unknown.key.span);
        }
        self.rows
    }

    fn stated(&mut self, field: &str, value: Value, span: &Span) {
        let (line, column) = self.agent.file.position(span.start);
        self.rows.push(Row {
            field: field.to_owned(),
            value,
            line: Some(line),
            column: Some(column),
            why: None,
        });
    }

    fn implied(&mut self, field: &str, value: Value, why: &'static str) {
        self.rows.push(Row {
            field: field.to_owned(),
            value,
            line: None,
            column: None,
            why: Some(why),
        });
    }

    fn optional<T>(&mut self, field: &str, stated: Option<&Field<T>>, value: impl Fn(&T) -> Value) {
        if let Some(stated) = stated {
            self.stated(field, value(&stated.value), &stated.span);
        }
    }
}

fn hand_over(to: &HandOver) -> Value {
    match to {
        HandOver::Off => json!(false),
        HandOver::On => json!(true),
        HandOver::Model(selector) => json!(selector),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_says_where_it_comes_from() {
        let text = "---\nname: lint\ndescription: Runs the linter\ntools: read\nthinking-level: low\ncolour: blue\n---\nLint it.\n";
        let agent = AgentDefinition::parse("agents/lint.md", text, AgentSource::Project).unwrap();
        let sheet = Sheet::of(&agent);
        insta::assert_snapshot!(sheet.text(Look::PLAIN), @r#"
        FIELD           VALUE            WHERE
        name            lint             agents/lint.md:2
        description     Runs the linter  agents/lint.md:3
        tools           ["read"]         agents/lint.md:4
        spawns          []               not stated: nobody
        thinking-level  low              agents/lint.md:5
        read-only       true             every tool it names only reads
        colour          blue             agents/lint.md:6

        note: `colour` means nothing here and is ignored

        Lint it.
        "#);
    }
}
