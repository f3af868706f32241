//! Reading what a caller asks for.
//!
//! Every door reads a batch here, from the same shape and by the same rules; they differ only in the keys that they
//! offer. Everything that is wrong with a batch is told at once, and nothing of it is dropped or rewritten. Whether
//! the agents, tools, and schemas that it names exist is for `policy` to say.

mod draft;
mod fields;
mod keys;

use std::{collections::HashMap, ops::Range};

use sortie_config::{Kind, Node, Problem, Source};
use sortie_protocol::{Batch, EffortHint, Mode, SchemaMode, TaskRequest, check_name};

pub use self::draft::Draft;
use self::{
    fields::{Field, Fields, unwrapped},
    keys::Scope,
};

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Door {
    /// A person, with a batch file or the words of a command line.
    CommandLine,
    /// A model, with the arguments of its `task` call.
    Model {
        /// Whether it may hint at effort (`task.enableEffort`).
        effort: bool,
    },
}

/// Reads a batch from YAML or JSON text.
///
/// A lone task is a batch of one. Each problem says where in `source` it is.
pub fn read_batch(source: &Source, door: Door) -> Draft {
    match Node::parse(source) {
        Ok(node) => read_batch_node(&node, Some(source), door),
        Err(problem) => Draft {
            problems: vec![problem],
            ..Draft::default()
        },
    }
}

/// Reads a batch from a value. Each problem says where in `source` it is, when the value was read from one.
pub fn read_batch_node(node: &Node, source: Option<&Source>, door: Door) -> Draft {
    let mut reader = Reader {
        source,
        door,
        problems: Vec::new(),
        places: Vec::new(),
        model: None,
    };
    let batch = reader.batch(node);
    // Not by line and column, which are counted anew for every comparison.
    reader
        .problems
        .sort_by_key(|problem| problem.place().map(|(_, span)| span.start));
    Draft {
        batch,
        problems: reader.problems,
        source: source.cloned(),
        places: reader.places,
        model: reader.model,
    }
}

struct Reader<'s> {
    source: Option<&'s Source>,
    door: Door,
    problems: Vec<Problem>,
    /// Where each task stands: at its agent, where it names one.
    places: Vec<Range<usize>>,
    /// Where the batch's model stands.
    model: Option<Range<usize>>,
}

impl Reader<'_> {
    /// Notes a problem with what stands at `node`.
    fn fault(&mut self, node: &Node, problem: Problem) {
        self.problems.push(match self.source {
            Some(source) => problem.at(source, node.span.clone()),
            None => problem,
        });
    }

    fn batch(&mut self, node: &Node) -> Batch {
        let node = unwrapped(node);
        let Some(entries) = node.as_map() else {
            let problem = match &node.kind {
                Kind::Null => Problem::error("the batch is empty"),
                _ => Problem::error(format!("a batch is a map, and this is {}", node.noun())),
            };
            self.fault(&node, problem.help(keys::SHAPE));
            return Batch::default();
        };
        let is_there = |key: &str| node.get(key).is_some_and(|value| !value.is_null());
        let is_lone = !is_there("tasks") && (is_there("task") || is_there("prompt"));
        let scope = if is_lone { Scope::Lone } else { Scope::Batch };
        let mut fields = self.fields(entries, scope, "");
        let mut batch = Batch {
            context: self.context(&mut fields, &node),
            model: fields.take("model").and_then(|field| {
                self.model = Some(field.node().span.clone());
                self.name(&field)
            }),
            mode: fields
                .take("mode")
                .and_then(|field| self.word(&field, &MODES))
                .unwrap_or_default(),
            ..Batch::default()
        };
        if is_lone {
            batch.tasks.push(self.task_of(fields, &node, ""));
            return batch;
        }
        batch.output_schema = fields
            .take("outputSchema")
            .and_then(|field| self.schema(&field));
        batch.schema_mode = fields
            .take("schemaMode")
            .and_then(|field| self.word(&field, &SCHEMA_MODES));
        match fields.take("tasks") {
            Some(field) => batch.tasks = self.tasks(&field),
            // A key that is nearly `tasks` has been told already.
            None if entries
                .iter()
                .any(|(key, value)| !value.is_null() && keys::is_nearly_tasks(key)) => {}
            None => self.fault(
                &node,
                Problem::error("the batch has no `tasks`").help(keys::SHAPE),
            ),
        }
        batch
    }

    fn context(&mut self, fields: &mut Fields<'_>, batch: &Node) -> Option<String> {
        let field = fields.take("context");
        let context = field.as_ref().and_then(|field| self.text(field));
        let is_blank = |text: &String| text.trim().is_empty();
        let is_required = matches!(self.door, Door::Model { .. });
        if is_required && context.as_ref().is_none_or(is_blank) {
            let place = field.as_ref().map_or(batch, |field| field.node());
            // One that is no text has been told already.
            if field.is_none() || context.is_some() {
                let problem = Problem::error("`context` is missing").help(
                    "say there what every task needs to know: the goal, the constraints, what is known so far",
                );
                self.fault(place, problem);
            }
        }
        context
    }

    fn tasks(&mut self, field: &Field<'_>) -> Vec<TaskRequest> {
        let node = unwrapped(field.node());
        let Some(items) = node.as_list() else {
            let problem = format!("`tasks` should be a list, and is {}", node.noun());
            self.fault(&node, Problem::error(problem).help(keys::SHAPE));
            return Vec::new();
        };
        if items.is_empty() {
            self.fault(
                &node,
                Problem::error("`tasks` is empty").help("list at least one task"),
            );
        }
        let mut names = HashMap::new();
        let tasks = items.iter().enumerate();
        tasks
            .map(|(i, item)| self.task(item, &format!("tasks[{i}]"), &mut names))
            .collect()
    }

    fn task(
        &mut self,
        item: &Node,
        path: &str,
        names: &mut HashMap<String, String>,
    ) -> TaskRequest {
        let node = unwrapped(item);
        let Some(entries) = node.as_map() else {
            let problem = format!("`{path}` should be a map, and is {}", node.noun());
            self.places.push(node.span.clone());
            self.fault(
                &node,
                Problem::error(problem).help("write `{task: \"what to do\"}`"),
            );
            return TaskRequest::default();
        };
        let fields = self.fields(entries, Scope::Task, path);
        let name_at = fields.get("name").map(|field| field.node().clone());
        let task = self.task_of(fields, &node, path);
        if let (Some(name), Some(node)) = (&task.name, name_at)
            && let Some(other) = names.insert(name.to_lowercase(), format!("{path}.name"))
        {
            let problem = format!("`{path}.name` is `{name}`, which `{other}` is too");
            let help =
                "names have to differ by more than case; leave one out, and it is given a name";
            self.fault(&node, Problem::error(problem).help(help));
        }
        task
    }

    fn task_of(&mut self, mut fields: Fields<'_>, node: &Node, path: &str) -> TaskRequest {
        let place = fields.get("agent").map_or(node, |field| field.node());
        self.places.push(place.span.clone());
        TaskRequest {
            name: fields.take("name").and_then(|field| self.task_name(&field)),
            label: fields.take("label").and_then(|field| self.text(&field)),
            agent: fields.take("agent").and_then(|field| self.name(&field)),
            task: self.assignment(fields.take("task"), node, path),
            output_schema: fields
                .take("outputSchema")
                .and_then(|field| self.schema(&field)),
            schema_mode: fields
                .take("schemaMode")
                .and_then(|field| self.word(&field, &SCHEMA_MODES)),
            effort: fields
                .take("effort")
                .and_then(|field| self.word(&field, &EFFORTS)),
            isolated: fields
                .take("isolated")
                .and_then(|field| self.isolated(&field)),
            tools: fields.take("tools").and_then(|field| self.tools(&field)),
            ..TaskRequest::default()
        }
    }

    fn assignment(&mut self, field: Option<Field<'_>>, node: &Node, path: &str) -> String {
        let help = "say what to do, where, and what to hand back";
        let Some(field) = field else {
            let problem = format!("`{path}` has no `task`");
            self.fault(node, Problem::error(problem).help(help));
            return String::new();
        };
        let text = self.text(&field);
        if text.as_ref().is_some_and(|text| text.trim().is_empty()) {
            let problem = format!("{field} is empty");
            self.fault(field.node(), Problem::error(problem).help(help));
        }
        text.unwrap_or_default()
    }

    fn task_name(&mut self, field: &Field<'_>) -> Option<String> {
        let name = self.text(field)?;
        if let Err(fault) = check_name(&name) {
            let problem = format!("{field} is {}, and {fault}", field.shown());
            self.fault(field.node(), Problem::error(problem));
        }
        Some(name)
    }

    /// Text that names something.
    fn name(&mut self, field: &Field<'_>) -> Option<String> {
        let name = self.text(field)?;
        if name.trim().is_empty() {
            let problem = format!("{field} is empty");
            self.fault(
                field.node(),
                Problem::error(problem).help("name one, or leave it out"),
            );
        }
        Some(name)
    }

    fn text(&mut self, field: &Field<'_>) -> Option<String> {
        let text = field.node().as_text().map(str::to_owned);
        if text.is_none() {
            self.expected(field, "text");
        }
        text
    }

    fn word<T: Copy>(&mut self, field: &Field<'_>, words: &[(&str, T)]) -> Option<T> {
        let text = field.node().as_text();
        let found = words.iter().find(|(word, _)| Some(*word) == text);
        if found.is_none() {
            let words: Vec<_> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
            self.expected(field, &fields::or(&words));
        }
        found.map(|(_, value)| *value)
    }

    fn isolated(&mut self, field: &Field<'_>) -> Option<bool> {
        match field.node().kind {
            Kind::Bool(false) => Some(false),
            Kind::Bool(true) => {
                let problem = format!("{field} cannot be `true`: isolated tasks are not built yet");
                let help = "leave it out; the task then works in the folder of the run";
                self.fault(field.node(), Problem::error(problem).help(help));
                None
            }
            _ => {
                self.expected(field, "`true` or `false`");
                None
            }
        }
    }

    fn tools(&mut self, field: &Field<'_>) -> Option<Vec<String>> {
        let Some(items) = field.node().as_list() else {
            self.expected(field, "a list of tool names");
            return None;
        };
        let mut tools = Vec::with_capacity(items.len());
        for (i, item) in items.iter().enumerate() {
            let field = field.item(i, item);
            tools.extend(self.name(&field));
        }
        Some(tools)
    }

    fn schema(&mut self, field: &Field<'_>) -> Option<serde_json::Value> {
        let node = unwrapped(field.node());
        match node.kind {
            Kind::Map(_) | Kind::Bool(_) => Some(node.to_json()),
            _ => {
                self.expected(field, "a schema: a map, `true` or `false`");
                None
            }
        }
    }

    fn expected(&mut self, field: &Field<'_>, what: &str) {
        let problem = format!("{field} should be {what}, and is {}", field.shown());
        self.fault(field.node(), Problem::error(problem));
    }
}

const MODES: [(&str, Mode); 3] = [
    ("normal", Mode::Normal),
    ("plan", Mode::Plan),
    ("read-only", Mode::ReadOnly),
];

const SCHEMA_MODES: [(&str, SchemaMode); 2] = [
    ("permissive", SchemaMode::Permissive),
    ("strict", SchemaMode::Strict),
];

const EFFORTS: [(&str, EffortHint); 3] = [
    ("lo", EffortHint::Lo),
    ("med", EffortHint::Med),
    ("hi", EffortHint::Hi),
];

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
