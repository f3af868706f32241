//! Layers: what each file, variable, and flag says, in order.

use std::borrow::Cow;

use serde_json::Value;

use super::{
    Origin, Settings,
    table::{ROWS, Row},
    value::{SettingValue, Shape},
};
use crate::{Environment, Node, Problem, Source, nearest};

/// How far a layer is trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trust {
    /// It is the user's.
    Full,
    /// It is a project's: it may only narrow.
    Narrow,
}

/// Whose settings a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// Ours: what is wrong in it is a mistake.
    Ours,
    /// Another program's: it has settings that we do not have.
    Foreign,
}

/// A flag of the command line that stands for a setting.
#[derive(Clone, Debug, PartialEq)]
pub struct Flag {
    /// The flag as it is typed: `--max-concurrency`.
    pub name: &'static str,
    /// The setting.
    pub key: &'static str,
    /// Its value.
    pub value: Value,
}

/// One layer.
#[derive(Clone, Copy)]
pub(crate) enum Layer<'a> {
    /// A settings file.
    File(&'a Source, Trust, Owner),
    /// The `SORTIE_*` variables.
    Variables(&'a Environment),
    /// The flags.
    Flags(&'a [Flag]),
}

/// What a layer says about one setting.
pub(crate) struct Written<'a> {
    /// The setting.
    pub(crate) row: &'static Row,
    /// Who says it.
    pub(crate) origin: Origin,
    /// What messages call it: the key, the variable, or the flag.
    name: String,
    said: Said<'a>,
    file: Option<(&'a Source, Trust, Owner)>,
}

enum Said<'a> {
    Node(Cow<'a, Node>),
    Text(&'a str),
}

impl Written<'_> {
    /// What was said, as a node for a `T`.
    pub(crate) fn node<T: SettingValue>(&self) -> Cow<'_, Node> {
        match &self.said {
            Said::Node(node) => Cow::Borrowed(node),
            Said::Text(text) => Cow::Owned(T::parse_variable(text)),
        }
    }

    /// How far it is trusted.
    pub(crate) fn trust(&self) -> Trust {
        self.file.map_or(Trust::Full, |(_, trust, _)| trust)
    }

    /// The entry `name` of what was said.
    pub(crate) fn entry<'b>(&'b self, name: &str, value: &'b Node) -> Written<'b> {
        Written {
            row: self.row,
            origin: match (&self.origin, self.file) {
                (Origin::File { .. }, Some((source, ..))) => file_origin(source, value),
                (origin, _) => origin.clone(),
            },
            name: format!("{}.{name}", self.name),
            said: Said::Node(Cow::Borrowed(value)),
            file: self.file,
        }
    }

    /// The problem of a value that is not what the setting holds.
    pub(crate) fn misfit(&self, wanted: &str, misfit: &Node) -> Problem {
        let found = match misfit.as_text() {
            Some(text) => format!("`{text}`"),
            None => misfit.noun().to_owned(),
        };
        let message = format!("`{}` wants {wanted}, not {found}", self.name);
        let problem = match self.file {
            Some((_, _, Owner::Foreign)) => Problem::warning(format!("{message}; it is ignored")),
            _ => Problem::error(message),
        };
        self.place(problem, misfit)
    }

    /// The note that a project has no say in this.
    pub(crate) fn ignored(&self) -> Problem {
        let message = format!("`{}` is ignored: a project may not set it", self.name);
        self.advise(message)
    }

    /// The note that a project asked for more than there is.
    pub(crate) fn not_narrower(&self, narrowing: &str, now: &Value) -> Problem {
        let now = match now {
            Value::String(word) => word.clone(),
            other => other.to_string(),
        };
        let message = format!(
            "`{}` is ignored: a project may only {narrowing}, and it is {now}",
            self.name
        );
        self.advise(message)
    }

    fn advise(&self, message: String) -> Problem {
        let problem = Problem::note(message).help("set it in your own `config.yml`");
        match &self.said {
            Said::Node(node) => self.place(problem, node),
            Said::Text(_) => problem,
        }
    }

    fn place(&self, problem: Problem, node: &Node) -> Problem {
        match self.file {
            Some((source, ..)) => problem.at(source, node.span.clone()),
            None => problem,
        }
    }
}

/// Lays `layers`, lowest first, on `settings`.
pub(crate) fn resolve(settings: &mut Settings, layers: &[Layer<'_>]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for layer in layers {
        let written = match *layer {
            Layer::File(source, trust, owner) => {
                let file = File {
                    source,
                    trust,
                    owner,
                };
                file.read(&mut problems)
            }
            Layer::Variables(environment) => variables(environment, &mut problems),
            Layer::Flags(flags) => flags.iter().filter_map(flag).collect(),
        };
        for said in &written {
            problems.extend((said.row.lay)(settings, said));
        }
    }
    problems
}

/// The name of the variable that sets `key`.
pub(crate) fn variable_name(key: &str) -> String {
    let mut name = String::from("SORTIE_");
    for c in key.chars() {
        match c {
            '.' => name.push('_'),
            c if c.is_ascii_uppercase() => name.extend(['_', c]),
            c => name.push(c.to_ascii_uppercase()),
        }
    }
    name
}

fn flag(flag: &Flag) -> Option<Written<'_>> {
    let row = ROWS.iter().find(|row| row.key == flag.key)?;
    Some(Written {
        row,
        origin: Origin::Flag(flag.name),
        name: flag.name.to_owned(),
        said: Said::Node(Cow::Owned(flag.value.clone().into())),
        file: None,
    })
}

/// Variables of ours that set no setting.
const OTHER_VARIABLES: [&str; 7] = [
    "SORTIE_AGENT_DIR",
    "SORTIE_BIN",
    "SORTIE_LOG",
    "SORTIE_SESSION",
    "SORTIE_PARENT",
    "SORTIE_DEPTH",
    "SORTIE_SPAWNS",
];

fn variables<'a>(environment: &'a Environment, problems: &mut Vec<Problem>) -> Vec<Written<'a>> {
    let known: Vec<(String, &'static Row)> = ROWS
        .iter()
        .map(|row| (variable_name(row.key), row))
        .collect();
    let mut written = Vec::new();
    for (name, _) in environment.iter() {
        if !name.starts_with("SORTIE_") || OTHER_VARIABLES.contains(&name) {
            continue;
        }
        let Some(text) = environment.get(name) else {
            continue;
        };
        if let Some((_, row)) = known.iter().find(|(variable, _)| variable == name) {
            written.push(Written {
                row,
                origin: Origin::Variable(name.to_owned()),
                name: name.to_owned(),
                said: Said::Text(text),
                file: None,
            });
        } else if let Some(meant) = nearest(name, known.iter().map(|(name, _)| name.as_str())) {
            // Any other variable may be another program's: a test suite's, say.
            problems.push(
                Problem::warning(format!("the variable `{name}` sets no setting"))
                    .help(format!("did you mean `{meant}`?")),
            );
        }
    }
    written
}

/// One settings file.
#[derive(Clone, Copy)]
struct File<'a> {
    source: &'a Source,
    trust: Trust,
    owner: Owner,
}

fn file_origin(source: &Source, node: &Node) -> Origin {
    Origin::File {
        path: source.path().to_owned(),
        line: source.position(node.span.start).0,
    }
}

impl<'a> File<'a> {
    fn read(self, problems: &mut Vec<Problem>) -> Vec<Written<'a>> {
        let mut written = Vec::new();
        match Node::parse(self.source) {
            Err(problem) if self.owner == Owner::Foreign => {
                problems.push(problem.into_warning("; the file is ignored"));
            }
            Err(problem) => problems.push(problem),
            Ok(node) if node.is_null() => {}
            Ok(node) if node.as_map().is_none() => {
                self.complain(problems, &node, || {
                    format!("settings are a map of names to values, not {}", node.noun())
                });
            }
            Ok(node) => self.walk("", node, &mut written, problems),
        }
        written
    }

    fn walk(
        self,
        prefix: &str,
        map: Node,
        written: &mut Vec<Written<'a>>,
        problems: &mut Vec<Problem>,
    ) {
        let crate::Kind::Map(entries) = map.kind else {
            return;
        };
        for (key, value) in entries {
            let name = format!("{prefix}{}", key.as_text().unwrap_or_default());
            let group = format!("{name}.");
            if let Some(row) = ROWS.iter().find(|row| row.key == name) {
                if !value.is_null() {
                    self.set(row, value, written, problems);
                }
            } else if let Some((row, entry)) = keyed(&name) {
                let entry_key = Node {
                    span: key.span,
                    kind: crate::Kind::Text(entry.to_owned()),
                };
                let map = Node {
                    span: value.span.clone(),
                    kind: crate::Kind::Map(vec![(entry_key, value)]),
                };
                self.set(row, map, written, problems);
            } else if ROWS.iter().any(|row| row.key.starts_with(&group)) {
                match value.kind {
                    crate::Kind::Map(_) => self.walk(&group, value, written, problems),
                    crate::Kind::Null => {}
                    _ => self.complain(problems, &value, || {
                        format!("`{name}` is a group of settings, not {}", value.noun())
                    }),
                }
            } else if self.owner == Owner::Ours {
                let problem = Problem::warning(format!("`{name}` is no setting"));
                let problem = match meant(&name) {
                    Some(meant) => problem.help(format!("did you mean `{meant}`?")),
                    None => problem,
                };
                problems.push(problem.at(self.source, key.span));
            }
        }
    }

    fn set(
        self,
        row: &'static Row,
        node: Node,
        written: &mut Vec<Written<'a>>,
        problems: &mut Vec<Problem>,
    ) {
        if row.shape == Shape::One && written.iter().any(|other| other.row.key == row.key) {
            self.complain(problems, &node, || format!("`{}` is set twice", row.key));
            return;
        }
        written.push(Written {
            row,
            origin: file_origin(self.source, &node),
            name: row.key.to_owned(),
            said: Said::Node(Cow::Owned(node)),
            file: Some((self.source, self.trust, self.owner)),
        });
    }

    fn complain(self, problems: &mut Vec<Problem>, node: &Node, message: impl Fn() -> String) {
        let problem = match self.owner {
            Owner::Ours => Problem::error(message()),
            Owner::Foreign => Problem::warning(format!("{}; it is ignored", message())),
        };
        problems.push(problem.at(self.source, node.span.clone()));
    }
}

/// The row and the entry that a dotted name such as `modelRoles.smol` reaches into.
fn keyed(name: &str) -> Option<(&'static Row, &str)> {
    ROWS.iter()
        .filter(|row| row.shape == Shape::Keyed)
        .find_map(|row| {
            let entry = name.strip_prefix(row.key)?.strip_prefix('.')?;
            Some((row, entry))
        })
}

/// The key nearest to `name`: as a whole, or by its last part alone.
fn meant(name: &str) -> Option<&'static str> {
    let last = |key: &'static str| key.rsplit('.').next().unwrap_or(key);
    let keys = || ROWS.iter().map(|row| row.key);
    nearest(name, keys()).or_else(|| {
        let part = nearest(name.rsplit('.').next()?, keys().map(last))?;
        keys().find(|key| last(key) == part)
    })
}
