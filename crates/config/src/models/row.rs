//! Reading one model of a `models.yml`.

use std::collections::BTreeMap;

use sortie_protocol::{Api, Effort, Price};

use super::{
    Input, Model, ThinkingMode,
    read::{File, apis, or_nearest, read_api},
};
use crate::{
    Node,
    fields::{Fields, Misfit},
};

const KEYS: &[&str] = &[
    "id",
    "api",
    "contextWindow",
    "maxTokens",
    "input",
    "cost",
    "efforts",
    "reasoning",
    "thinking",
];
const COST_KEYS: &[&str] = &["input", "output", "cacheRead", "cacheWrite"];
const THINKING_KEYS: &[&str] = &["mode", "efforts", "effortMap", "defaultLevel"];

/// The model that `node` describes. What it does not say is as in the row of the same name in `known`, if there is
/// one. `api` is its provider's.
pub(super) fn read(
    file: &mut File<'_>,
    node: &Node,
    known: &[Model],
    api: Option<Api>,
) -> Result<Model, Misfit> {
    let fields = Fields::of(node, "a model")?;
    file.note_unknown(fields, KEYS);
    let id = fields
        .text("id")?
        .ok_or_else(|| Misfit::new("a model says no `id`", node))?;
    let known = known.iter().find(|model| model.id == id);
    let mut model = known.cloned().unwrap_or_else(|| Model::new(id));
    model.api = fields.read("api", &apis(), read_api)?.or(model.api);
    model.context_window = fields.whole("contextWindow", 1)?.or(model.context_window);
    model.max_tokens = fields.whole("maxTokens", 1)?.or(model.max_tokens);
    if fields.get("input").is_some() {
        model.input = inputs(fields)?;
    }
    if let Some(cost) = fields.map("cost", "`cost`")? {
        file.note_unknown(cost, COST_KEYS);
        model.price = Some(price(cost)?);
    }
    think(file, fields, &mut model, api)?;
    Ok(model)
}

fn inputs(fields: Fields<'_>) -> Result<Vec<Input>, Misfit> {
    fields
        .list("input")?
        .iter()
        .map(|item| match item.as_text() {
            Some("text") => Ok(Input::Text),
            Some("image") => Ok(Input::Image),
            _ => Err(Misfit::wants("input", "`text` or `image`", item)),
        })
        .collect()
}

fn price(cost: Fields<'_>) -> Result<Price, Misfit> {
    let price = |key| cost.number(key).map(Option::unwrap_or_default);
    Ok(Price {
        input: price("input")?,
        output: price("output")?,
        cache_read: price("cacheRead")?,
        cache_write: price("cacheWrite")?,
    })
}

/// Reads `efforts`, `reasoning`, and `thinking`; the first wins over the others.
fn think(
    file: &mut File<'_>,
    fields: Fields<'_>,
    model: &mut Model,
    api: Option<Api>,
) -> Result<(), Misfit> {
    let mut efforts = levels(fields)?;
    match fields.get("thinking") {
        Some(node) if node.as_map().is_none() => model.thinking = Some(mode(node)?),
        Some(node) => {
            let thinking = Fields::of(node, "`thinking`")?;
            file.note_unknown(thinking, THINKING_KEYS);
            efforts = match efforts {
                Some(efforts) => Some(efforts),
                None => levels(thinking)?,
            };
            if let Some(word) = thinking.get("mode") {
                model.thinking = Some(mode(word)?);
            }
            if let Some(word) = thinking.get("defaultLevel") {
                model.default_effort = Some(level(word)?);
            }
            if let Some(words) = thinking.map("effortMap", "`effortMap`")? {
                model.effort_words = effort_words(words)?;
            }
        }
        None => {}
    }
    let reasons = fields.switch("reasoning")?;
    match (efforts, reasons) {
        (Some(efforts), _) => model.efforts = efforts,
        (None, Some(false)) => model.efforts.clear(),
        (None, Some(true)) if model.efforts.is_empty() => {
            model.efforts = ladder(model.api.or(api)).to_vec();
        }
        (None, _) => {}
    }
    match model.default_effort {
        Some(default) if !model.efforts.contains(&default) => {
            let said = fields
                .get("thinking")
                .and_then(|node| node.get("defaultLevel"));
            if let Some(node) = said {
                let message =
                    format!("`defaultLevel` is `{default}`, which is not among its efforts");
                return Err(Misfit::new(message, node));
            }
            // It was the default among levels that this row has replaced.
            model.default_effort = None;
        }
        _ => {}
    }
    Ok(())
}

/// The levels of a model that is only said to reason.
fn ladder(api: Option<Api>) -> &'static [Effort] {
    match api {
        Some(Api::GoogleGenerativeAi) => &Effort::ALL[..4],
        _ => &Effort::ALL[..5],
    }
}

fn levels(fields: Fields<'_>) -> Result<Option<Vec<Effort>>, Misfit> {
    if fields.get("efforts").is_none() {
        return Ok(None);
    }
    let mut levels: Vec<Effort> = fields
        .list("efforts")?
        .iter()
        .map(level)
        .collect::<Result<_, _>>()?;
    levels.sort_unstable();
    levels.dedup();
    Ok(Some(levels))
}

fn level(node: &Node) -> Result<Effort, Misfit> {
    let known = Effort::ALL.map(Effort::as_str);
    node.as_text()
        .and_then(|word| word.parse().ok())
        .ok_or_else(|| {
            let wanted = format!("one of {}", known.join(", "));
            or_nearest(Misfit::wants("efforts", &wanted, node), node, known)
        })
}

fn mode(node: &Node) -> Result<ThinkingMode, Misfit> {
    let known = ThinkingMode::ALL.map(ThinkingMode::as_str);
    ThinkingMode::ALL
        .into_iter()
        .find(|mode| node.as_text() == Some(mode.as_str()))
        .ok_or_else(|| {
            let wanted = format!("one of {}", known.join(", "));
            or_nearest(Misfit::wants("thinking", &wanted, node), node, known)
        })
}

fn effort_words(words: Fields<'_>) -> Result<BTreeMap<Effort, String>, Misfit> {
    words
        .entries()
        .map(|(key, value)| {
            let word = value
                .as_text()
                .ok_or_else(|| Misfit::wants("effortMap", "a word for each level", value))?;
            Ok((level(key)?, word.to_owned()))
        })
        .collect()
}
