//! Reading single header fields.

use sortie_config::{Kind, Node, Problem, Source, nearest};
use sortie_protocol::{EffortWord, SpawnRule};

use crate::definition::{Field, HandOver, Span, ToolEntry, ToolKind, Tools};

/// Reads fields of one file, and gathers what its author should know.
#[derive(Debug)]
pub(crate) struct Fields<'a> {
    pub source: &'a Source,
    pub warnings: Vec<Problem>,
}

impl Fields<'_> {
    pub(crate) fn warn(&mut self, problem: Problem) {
        self.warnings.push(problem);
    }

    /// Text that has to be there.
    pub(crate) fn text(&self, key: &str, node: &Node) -> Result<Field<String>, Problem> {
        match node.as_text() {
            Some(text) if !text.trim().is_empty() => {
                Ok(Field::new(text.to_owned(), node.span.clone()))
            }
            Some(_) => Err(self.fault(node, format!("`{key}` is empty"))),
            None => Err(self.fault(node, format!("`{key}` is {}, not text", node.noun()))),
        }
    }

    /// `true` or `false`; anything else is a fault, because to ignore it could widen what the agent may do.
    pub(crate) fn switch(&self, key: &str, node: &Node) -> Result<Field<bool>, Problem> {
        match truth(node) {
            Some(value) => Ok(Field::new(value, node.span.clone())),
            None => Err(self.not_a_switch(key, node)),
        }
    }

    /// `true` or `false`; anything else is ignored with a warning.
    pub(crate) fn mild_switch(&mut self, key: &str, node: &Node) -> Option<Field<bool>> {
        match truth(node) {
            Some(value) => Some(Field::new(value, node.span.clone())),
            None if node.is_null() => None,
            None => {
                let fault = self.not_a_switch(key, node);
                self.warn(ignored(&fault, self.source, node));
                None
            }
        }
    }

    fn not_a_switch(&self, key: &str, node: &Node) -> Problem {
        self.fault(node, format!("`{key}` is neither `true` nor `false`"))
            .help(format!("write `{key}: true` or `{key}: false`"))
    }

    /// A level of effort, or a word that stands for one. The words are read in any case and by any beginning that is
    /// no other word's, as other harnesses read them.
    pub(crate) fn effort(&mut self, key: &str, node: &Node) -> Option<Field<EffortWord>> {
        if node.is_null() {
            return None;
        }
        let written = node.as_text().unwrap_or_default().trim().to_lowercase();
        if let Some(word) = effort_word(&written) {
            return Some(Field::new(word, node.span.clone()));
        }
        let help = match nearest(&written, EFFORT_WORDS) {
            Some(word) => format!("write `{key}: {word}`; until then it is ignored"),
            None => format!(
                "one of {}; until then it is ignored",
                EFFORT_WORDS.join(", ")
            ),
        };
        self.warn(
            Problem::warning(format!("`{key}` names no effort"))
                .at(self.source, node.span.clone())
                .help(help),
        );
        None
    }

    /// `true`, `false`, `on`, `off`, or a model.
    pub(crate) fn hand_over(
        &self,
        key: &str,
        node: &Node,
    ) -> Result<Option<Field<HandOver>>, Problem> {
        let value = match (truth(node), node.as_text().map(str::trim)) {
            (Some(true), _) | (_, Some("on")) => HandOver::On,
            (Some(false), _) | (_, Some("off")) => HandOver::Off,
            (_, Some("")) => return Ok(None),
            (_, Some(model)) => HandOver::Model(model.to_owned()),
            (_, None) if node.is_null() => return Ok(None),
            (_, None) => {
                let message = format!("`{key}` is {}, not a switch or a model", node.noun());
                return Err(self.fault(node, message));
            }
        };
        Ok(Some(Field::new(value, node.span.clone())))
    }

    /// Words: a list, or text with commas between them. Blank ones are dropped; nothing left is `None`.
    pub(crate) fn words(
        &self,
        key: &str,
        node: &Node,
    ) -> Result<Option<Field<Vec<Field<String>>>>, Problem> {
        let mut words = Vec::new();
        match &node.kind {
            Kind::Null => {}
            Kind::List(items) => {
                for item in items {
                    if item.as_text().is_none() {
                        let message = format!("an entry of `{key}` is {}, not text", item.noun());
                        return Err(self.fault(item, message));
                    }
                    self.split(item, &mut words);
                }
            }
            Kind::Map(_) => {
                let message = format!("`{key}` is a map, not a list");
                return Err(self.fault(node, message));
            }
            Kind::Bool(_) | Kind::Number(..) | Kind::Text(_) => self.split(node, &mut words),
        }
        Ok((!words.is_empty()).then(|| Field::new(words, node.span.clone())))
    }

    /// The tools that a file asks for.
    pub(crate) fn tools(&mut self, node: &Node) -> Result<Tools, Problem> {
        let span = node.span.clone();
        let Some(words) = self.words("tools", node)? else {
            if !matches!(node.kind, Kind::List(_)) {
                self.warn(
                    Problem::warning("`tools` has no value, so this agent has no tool but `yield`")
                        .at(self.source, span.clone())
                        .help("write `tools: []` to say so, or remove the key for every tool that the caller may give"),
                );
            }
            return Ok(Tools::Empty { span });
        };
        if let [only] = words.value.as_slice()
            && only.value == "*"
        {
            self.warn(
                Problem::note("`tools: \"*\"` is the same as no `tools` at all")
                    .at(self.source, span),
            );
            return Ok(Tools::Absent);
        }
        let mut entries: Vec<ToolEntry> = Vec::new();
        for word in words.value {
            let kind = ToolKind::of(&word.value);
            let repeated = entries.iter().any(|entry| match (entry.kind, kind) {
                (ToolKind::Known(a), ToolKind::Known(b)) => a.name == b.name,
                _ => entry.written == word.value,
            });
            if repeated {
                continue;
            }
            self.remark_on_tool(&word, kind);
            entries.push(ToolEntry {
                written: word.value,
                span: word.span,
                kind,
            });
        }
        Ok(Tools::Listed { entries, span })
    }

    fn remark_on_tool(&mut self, word: &Field<String>, kind: ToolKind) {
        let name = &word.value;
        let problem = match kind {
            ToolKind::Known(tool) if tool.built => return,
            ToolKind::Known(_) => Problem::note(format!("`{name}` is not built yet; it is left out")),
            ToolKind::Mcp => {
                Problem::note(format!("`{name}`: tools of MCP servers are not built yet; it is left out"))
            }
            ToolKind::Pattern => Problem::warning(format!(
                "`{name}`: patterns are not enforced yet, so this agent is refused when it is asked for"
            ))
            .help("name the tool without a pattern to give it whole, or remove it"),
            ToolKind::Unknown => {
                let known = sortie_protocol::tool::TOOLS.iter().map(|tool| tool.name);
                let warning = Problem::warning(format!("`{name}` is no tool; it is left out"));
                match nearest(name, known) {
                    Some(meant) => warning.help(format!("did you mean `{meant}`?")),
                    None => warning,
                }
            }
        };
        self.warn(problem.at(self.source, word.span.clone()));
    }

    /// Whom a file asks to spawn: `*`, names with commas, or a list. Nothing, `""`, and `false` are nobody.
    pub(crate) fn spawns(&mut self, node: &Node) -> Result<Field<SpawnRule>, Problem> {
        let rule = match truth(node) {
            Some(true) => SpawnRule::Any,
            Some(false) => SpawnRule::None,
            None => match self.words("spawns", node)? {
                None => SpawnRule::None,
                Some(words) if words.value.iter().any(|word| word.value == "*") => SpawnRule::Any,
                Some(words) => {
                    let mut names: Vec<String> = Vec::new();
                    for word in words.value {
                        if !names.contains(&word.value) {
                            names.push(word.value);
                        }
                    }
                    SpawnRule::Only(names)
                }
            },
        };
        if node.is_null() {
            self.warn(
                Problem::warning("`spawns` has no value, so this agent may spawn nobody")
                    .at(self.source, node.span.clone())
                    .help("write `spawns: \"*\"` for anybody, or remove the key"),
            );
        }
        Ok(Field::new(rule, node.span.clone()))
    }

    /// Appends the comma-separated words of a text, each with its own place. A comma within parentheses separates
    /// nothing.
    fn split(&self, node: &Node, words: &mut Vec<Field<String>>) {
        let text = node.as_text().unwrap_or_default();
        let written = self
            .source
            .text()
            .get(node.span.clone())
            .unwrap_or_default();
        let mut depth = 0_u32;
        let mut from = 0;
        let pieces = text.split(|c| {
            match c {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            c == ',' && depth == 0
        });
        for word in pieces.map(str::trim).filter(|word| !word.is_empty()) {
            let span = match written[from..].find(word) {
                Some(at) => {
                    let start = from + at;
                    from = start + word.len();
                    node.span.start + start..node.span.start + from
                }
                None => node.span.clone(),
            };
            words.push(Field::new(word.to_owned(), span));
        }
    }

    fn fault(&self, node: &Node, message: String) -> Problem {
        Problem::error(message).at(self.source, node.span.clone())
    }
}

const EFFORT_WORDS: [&str; 9] = [
    "off", "auto", "inherit", "minimal", "low", "medium", "high", "xhigh", "max",
];

fn effort_word(written: &str) -> Option<EffortWord> {
    if let Ok(word) = written.parse() {
        return Some(word);
    }
    let mut meant = EFFORT_WORDS
        .iter()
        .filter(|word| written.len() >= 2 && word.starts_with(written));
    match (meant.next(), meant.next()) {
        (Some(word), None) => word.parse().ok(),
        _ => None,
    }
}

fn truth(node: &Node) -> Option<bool> {
    match &node.kind {
        Kind::Bool(value) => Some(*value),
        Kind::Text(text) => match text.trim().to_lowercase().as_str() {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

/// A fault as a warning, for a field whose absence harms nobody.
fn ignored(fault: &Problem, source: &Source, node: &Node) -> Problem {
    let span: Span = node.span.clone();
    Problem::warning(fault.message())
        .at(source, span)
        .help(format!(
            "{}; until then it is ignored",
            fault.advice().unwrap_or("correct it")
        ))
}
