//! Scripts of the built-in provider: `script/NAME` is a file of turns.

mod write;

use std::path::{Component, Path, PathBuf};

use sortie_protocol::{
    Usage,
    script::{Finish, ScriptCall, ScriptEntry, ScriptError, Turn, When},
};

use crate::{
    Node, Places, Problem, Source,
    fields::{Fields, Misfit},
    open::open,
};

pub use write::Unwritable;

/// Where scripts are found, and what they look like.
#[derive(Clone, Copy, Debug)]
pub struct Scripts;

impl Scripts {
    /// The entries of the script `name`: `NAME.yaml` or `NAME.yml` in `beside` (the batch's folder), else in
    /// `<user dir>/scripts/`.
    ///
    /// The problem is a name that would leave those folders, a file that is in neither, or the first fault in the
    /// file.
    pub fn load(name: &str, beside: &Path, places: &Places) -> Result<Vec<ScriptEntry>, Problem> {
        let inside = |part| matches!(part, Component::Normal(_));
        if name.is_empty() || name.contains('\\') || !Path::new(name).components().all(inside) {
            return Err(Problem::error(format!("`{name}` cannot name a script"))
                .help("`script/NAME` is the file `NAME.yaml` beside the batch"));
        }
        let folders = [beside.to_owned(), places.user_dir.join("scripts")];
        for path in folders.iter().flat_map(|folder| files(folder, name)) {
            if let Some(source) = open(path)? {
                return read(&source);
            }
        }
        let [beside, user] = folders.map(|folder| folder.display().to_string());
        Err(
            Problem::error(format!("there is no script `{name}`")).help(format!(
                "looked for `{name}.yaml` and `{name}.yml` in `{beside}` and `{user}`"
            )),
        )
    }

    /// `entries` as the text of a file that [`load`](Self::load) reads back as they are, below `preface`: lines for
    /// whoever opens it.
    pub fn text(preface: &str, entries: &[ScriptEntry]) -> Result<String, Unwritable> {
        write::write(preface, entries)
    }
}

fn files(folder: &Path, name: &str) -> [PathBuf; 2] {
    ["yaml", "yml"].map(|ending| folder.join(format!("{name}.{ending}")))
}

fn read(source: &Source) -> Result<Vec<ScriptEntry>, Problem> {
    let node = Node::parse(source)?;
    let entries = match node.as_list() {
        Some(entries) => entries,
        None if node.is_null() => &[],
        None => {
            let message = format!("a script is a list of entries, not {}", node.noun());
            return Err(Misfit::new(message, &node).error(source));
        }
    };
    entries
        .iter()
        .map(entry)
        .collect::<Result<_, Misfit>>()
        .map_err(|misfit| misfit.error(source))
}

/// `node` as a map that has no other keys than `known`.
fn strict<'a>(
    node: &'a Node,
    what: &'static str,
    known: &'static [&'static str],
) -> Result<Fields<'a>, Misfit> {
    let fields = Fields::of(node, what)?;
    match fields.unknown(known).next() {
        Some(misfit) => Err(misfit),
        None => Ok(fields),
    }
}

fn owned(text: Option<&str>) -> Option<String> {
    text.map(str::to_owned)
}

/// Text, which may be empty.
fn words(fields: Fields<'_>, key: &str) -> Result<Option<String>, Misfit> {
    fields.read(key, "text", Node::as_text).map(owned)
}

fn entry(node: &Node) -> Result<ScriptEntry, Misfit> {
    let fields = strict(node, "an entry", &["when", "turns"])?;
    let turns = fields
        .read("turns", "a list of turns", Node::as_list)?
        .ok_or_else(|| Misfit::new("an entry says no `turns`", node))?;
    Ok(ScriptEntry {
        when: fields
            .get("when")
            .map(when)
            .transpose()?
            .unwrap_or_default(),
        turns: turns.iter().map(turn).collect::<Result<_, _>>()?,
    })
}

fn when(node: &Node) -> Result<When, Misfit> {
    let fields = strict(node, "`when`", &["agent", "task", "depth", "request"])?;
    let depth = fields.whole("depth", 1)?;
    Ok(When {
        agent: owned(fields.text("agent")?),
        task: owned(fields.text("task")?),
        // No task is as deep as the largest number.
        depth: depth.map(|depth| u32::try_from(depth).unwrap_or(u32::MAX)),
        request: fields.whole("request", 1)?,
    })
}

const TURN_KEYS: &[&str] = &[
    "think", "text", "tool", "args", "tools", "finish", "error", "cut", "stall", "end", "usage",
    "repeat",
];

fn turn(node: &Node) -> Result<Turn, Misfit> {
    let fields = strict(node, "a turn", TURN_KEYS)?;
    let turn = Turn {
        think: words(fields, "think")?,
        text: words(fields, "text")?,
        tool: owned(fields.text("tool")?),
        args: fields.written("args").map(Node::to_json),
        tools: fields
            .list("tools")?
            .iter()
            .map(call)
            .collect::<Result<_, _>>()?,
        finish: fields.get("finish").map(finish).transpose()?,
        error: fields.get("error").map(error).transpose()?,
        cut: fields.switch("cut")?.unwrap_or_default(),
        stall: fields.switch("stall")?.unwrap_or_default(),
        end: fields
            .read("end", "one of stop, length, refusal", |node| {
                node.as_text()
                    .filter(|word| ["stop", "length", "refusal"].contains(word))
            })
            .map(owned)?,
        usage: fields.get("usage").map(usage).transpose()?,
        repeat: fields.switch("repeat")?.unwrap_or_default(),
    };
    if turn.args.is_some() && turn.tool.is_none() {
        return Err(Misfit::new("a turn has `args` and no `tool`", node));
    }
    let endings = [
        ("error", turn.error.is_some()),
        ("cut", turn.cut),
        ("stall", turn.stall),
        ("end", turn.end.is_some()),
    ];
    let mut given = endings.iter().filter(|(_, given)| *given);
    if let (Some((first, _)), Some((second, _))) = (given.next(), given.next()) {
        let message = format!("a turn ends once: it has `{first}` and `{second}`");
        return Err(Misfit::new(message, node));
    }
    Ok(turn)
}

fn call(node: &Node) -> Result<ScriptCall, Misfit> {
    let fields = strict(node, "a call", &["tool", "args"])?;
    let tool = fields
        .text("tool")?
        .ok_or_else(|| Misfit::new("a call says no `tool`", node))?;
    Ok(ScriptCall {
        tool: tool.to_owned(),
        args: fields
            .written("args")
            .map(Node::to_json)
            .unwrap_or_default(),
    })
}

fn finish(node: &Node) -> Result<Finish, Misfit> {
    let fields = strict(node, "`finish`", &["data", "text", "error", "section"])?;
    let finish = Finish {
        data: fields.written("data").map(Node::to_json),
        text: words(fields, "text")?,
        error: owned(fields.text("error")?),
        section: owned(fields.text("section")?),
    };
    let results = [
        finish.data.is_some(),
        finish.text.is_some(),
        finish.error.is_some(),
    ];
    match results.iter().filter(|given| **given).count() {
        1 => {}
        0 => {
            return Err(Misfit::new(
                "`finish` wants one of `data`, `text`, `error`",
                node,
            ));
        }
        _ => {
            return Err(Misfit::new(
                "`finish` wants only one of `data`, `text`, `error`",
                node,
            ));
        }
    }
    if finish.section.is_some() && finish.data.is_none() {
        return Err(Misfit::new("a `section` wants `data`", node));
    }
    Ok(finish)
}

fn error(node: &Node) -> Result<ScriptError, Misfit> {
    let fields = strict(node, "`error`", &["status", "message", "retryAfterS"])?;
    let status = fields.read("status", "an HTTP status, 400 to 599", |node| {
        node.as_text()?
            .parse()
            .ok()
            .filter(|status| (400..600).contains(status))
    })?;
    Ok(ScriptError {
        status: status.ok_or_else(|| Misfit::new("`error` says no `status`", node))?,
        message: words(fields, "message")?,
        retry_after_s: fields.number("retryAfterS")?,
    })
}

fn usage(node: &Node) -> Result<Usage, Misfit> {
    let known = &[
        "input",
        "output",
        "cacheRead",
        "cacheWrite",
        "reasoning",
        "cost",
    ];
    let fields = strict(node, "`usage`", known)?;
    Ok(Usage {
        input: fields.whole("input", 0)?,
        output: fields.whole("output", 0)?,
        cache_read: fields.whole("cacheRead", 0)?,
        cache_write: fields.whole("cacheWrite", 0)?,
        reasoning: fields.whole("reasoning", 0)?,
        cost: fields.number("cost")?,
    })
}

#[cfg(test)]
#[path = "scripts_tests.rs"]
mod tests;
