//! Reading one agent file.

use sortie_config::{Node, Problem, Source, nearest};
use sortie_protocol::AgentSource;

use crate::{
    definition::{AgentDefinition, Field, Span, Tools, UnknownKey},
    fields::Fields,
    header, recover,
};

/// Every key that a header may have, as messages spell it.
const KEYS: [&str; 16] = [
    "name",
    "description",
    "tools",
    "spawns",
    "model",
    "thinking-level",
    "thinking",
    "effort",
    "output",
    "blocking",
    "autoload-skills",
    "read-summarize",
    "prewalk",
    "advisor",
    "ceiling",
    "read-only",
];

/// Names that mean somebody else to the roster.
const RESERVED: [&str; 2] = ["main", "sub"];

impl AgentDefinition {
    /// Reads the text of an agent file that was found at `path`, or would have been. A byte-order mark and carriage
    /// returns are of no account.
    ///
    /// The problem is the first that makes the file unusable.
    pub fn parse(
        path: impl Into<std::path::PathBuf>,
        text: &str,
        source: AgentSource,
    ) -> Result<Self, Problem> {
        let file = Source::new(path, header::plain(text));
        let parts = header::split(&file)?;
        let keys = Keys::read(&file, parts.header)?;
        keys.define(file.text()[parts.body].to_owned(), source)
    }

    /// The name that the text of an unusable file would have gone by, as far as it can be told.
    pub(crate) fn intended_name(text: &str) -> Option<String> {
        let header = text.trim_start_matches('\u{feff}');
        let name = header
            .lines()
            .skip(1)
            .take_while(|line| line.trim_end() != "---")
            .find_map(|line| line.trim().strip_prefix("name:"))?
            .trim();
        let name = name.trim_matches(['"', '\'']);
        (!name.is_empty()).then(|| name.to_owned())
    }
}

/// The keys of a header, each once.
struct Keys {
    file: Source,
    span: Span,
    known: Vec<(&'static str, Node)>,
    unknown: Vec<UnknownKey>,
    warnings: Vec<Problem>,
}

impl Keys {
    fn read(file: &Source, span: Span) -> Result<Self, Problem> {
        let header = recover::parse(file, span.clone())?;
        let mut keys = Self {
            file: file.clone(),
            span,
            known: Vec::new(),
            unknown: Vec::new(),
            warnings: Vec::new(),
        };
        let entries = match header.node.as_map() {
            Some(entries) => entries,
            None if header.node.is_null() => &[],
            None => {
                return Err(Problem::error(format!(
                    "the header is {}, not keys with values",
                    header.node.noun()
                ))
                .at(file, header.node.span.clone())
                .help("write one `key: value` a line"));
            }
        };
        for (key, value) in entries {
            keys.add(key, value.clone())?;
        }
        for line in header.lines {
            keys.warnings.push(line.warning(file));
            keys.add(
                &text_node(line.key.value, line.key.span),
                text_node(line.value.value, line.value.span),
            )?;
        }
        Ok(keys)
    }

    fn add(&mut self, key: &Node, value: Node) -> Result<(), Problem> {
        let written = key.as_text().unwrap_or_default();
        let Some(known) = KEYS.into_iter().find(|known| is_spelling(written, known)) else {
            self.remark_on_key(key, written);
            self.unknown.push(UnknownKey {
                key: Field::new(written.to_owned(), key.span.clone()),
                value: value.to_json(),
            });
            return Ok(());
        };
        if self.known.iter().any(|(name, _)| *name == known) {
            return Err(Problem::error(format!("`{known}` is said twice"))
                .at(&self.file, key.span.clone())
                .help("keep one of the two"));
        }
        self.known.push((known, value));
        Ok(())
    }

    fn remark_on_key(&mut self, key: &Node, written: &str) {
        let problem = match nearest(written, KEYS) {
            Some(meant) => Problem::warning(format!("`{written}` is no key of an agent header"))
                .help(format!("did you mean `{meant}`? until then it is ignored")),
            None => Problem::note(format!("`{written}` means nothing here and is ignored")),
        };
        self.warnings.push(problem.at(&self.file, key.span.clone()));
    }

    fn take(&mut self, key: &str) -> Option<Node> {
        let at = self.known.iter().position(|(name, _)| *name == key)?;
        Some(self.known.swap_remove(at).1)
    }

    fn required(&mut self, key: &str) -> Result<Node, Problem> {
        self.take(key).ok_or_else(|| {
            let start = self.span.start.saturating_sub(4);
            let fault =
                Problem::error(format!("`{key}` is missing")).at(&self.file, start..start + 3);
            match self
                .unknown
                .iter()
                .find(|unknown| unknown.key.value.eq_ignore_ascii_case(key))
            {
                Some(near) => fault.help(format!("`{}` is written `{key}`", near.key.value)),
                None => fault.help(format!("add a line `{key}: ...` to the header")),
            }
        })
    }

    fn define(
        mut self,
        instructions: String,
        source: AgentSource,
    ) -> Result<AgentDefinition, Problem> {
        let file = self.file.clone();
        let mut fields = Fields {
            source: &file,
            warnings: std::mem::take(&mut self.warnings),
        };
        let name = fields.text("name", &self.required("name")?)?;
        check_name(&file, &name)?;
        let description = fields.text("description", &self.required("description")?)?;
        let tools = match self.take("tools") {
            Some(node) => fields.tools(&node)?,
            None => Tools::Absent,
        };
        let spawns = match self.take("spawns") {
            Some(node) => Some(fields.spawns(&node)?),
            None => None,
        };
        let model = match self.take("model") {
            Some(node) => fields.words("model", &node)?,
            None => None,
        };
        let autoload_skills = match self.take("autoload-skills") {
            Some(node) => fields.words("autoload-skills", &node)?,
            None => None,
        };
        let mut hand_over = |key: &str, fields: &Fields<'_>| match self.take(key) {
            Some(node) => fields.hand_over(key, &node),
            None => Ok(None),
        };
        let prewalk = hand_over("prewalk", &fields)?;
        let advisor = hand_over("advisor", &fields)?;
        let mut switch = |key: &str, fields: &Fields<'_>| match self.take(key) {
            Some(node) => fields.switch(key, &node).map(Some),
            None => Ok(None),
        };
        let ceiling = switch("ceiling", &fields)?;
        let read_only = switch("read-only", &fields)?;
        let blocking = self
            .take("blocking")
            .and_then(|node| fields.mild_switch("blocking", &node));
        let read_summarize = self
            .take("read-summarize")
            .and_then(|node| fields.mild_switch("read-summarize", &node));
        let output = self
            .take("output")
            .filter(|node| !node.is_null())
            .map(|node| Field::new(node.to_json(), node.span));
        let effort = self.effort(&mut fields);
        if instructions.is_empty() {
            let end = file.text().trim_end().len();
            fields.warn(
                Problem::warning("there are no instructions below the header")
                    .at(&file, end.saturating_sub(3)..end)
                    .help("say there what the agent is to do, and how"),
            );
        }
        let mut warnings = fields.warnings;
        warnings.sort_by_key(Problem::position);
        Ok(AgentDefinition {
            name,
            description,
            tools,
            spawns,
            model,
            effort,
            output,
            blocking,
            autoload_skills: autoload_skills.map(|field| field.value).unwrap_or_default(),
            read_summarize,
            prewalk,
            advisor,
            ceiling,
            read_only,
            unknown: self.unknown,
            instructions,
            warnings,
            source,
            file,
        })
    }

    /// The first of the three keys that say how hard to think.
    fn effort(&mut self, fields: &mut Fields<'_>) -> Option<Field<sortie_protocol::EffortWord>> {
        let stated: Vec<_> = ["thinking-level", "thinking", "effort"]
            .into_iter()
            .filter_map(|key| Some((key, self.take(key)?)))
            .collect();
        for (key, node) in stated.iter().skip(1) {
            fields.warn(
                Problem::warning(format!(
                    "`{key}` stands beside `{}` and is ignored",
                    stated[0].0
                ))
                .at(fields.source, node.span.clone())
                .help("keep one of the two"),
            );
        }
        let (key, node) = stated.first()?;
        fields.effort(key, node)
    }
}

fn check_name(file: &Source, name: &Field<String>) -> Result<(), Problem> {
    let fault = |message: &str, help: &str| {
        Err(Problem::error(message)
            .at(file, name.span.clone())
            .help(help))
    };
    let text = &name.value;
    if RESERVED.contains(&text.trim().to_lowercase().as_str()) {
        return fault(
            "this name is reserved",
            "choose another; `main` and `sub` are taken",
        );
    }
    if text.chars().count() > 128 {
        return fault(
            "this name is longer than 128 characters",
            "choose a shorter one",
        );
    }
    if text.chars().any(char::is_control) {
        return fault(
            "this name holds a control character",
            "write it on one line, without escapes",
        );
    }
    Ok(())
}

/// Whether `written` is the key `known`, in kebab or in camel case.
fn is_spelling(written: &str, known: &str) -> bool {
    if written == known {
        return true;
    }
    let mut camel = String::with_capacity(known.len());
    let mut upper = false;
    for c in known.chars() {
        match c {
            '-' => upper = true,
            c if std::mem::take(&mut upper) => camel.extend(c.to_uppercase()),
            c => camel.push(c),
        }
    }
    known.contains('-') && written == camel
}

fn text_node(text: String, span: Span) -> Node {
    Node {
        span,
        kind: sortie_config::Kind::Text(text),
    }
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
