//! The tool `todo`: the session's list of what is to be done.

use std::{
    fmt::Write as _,
    sync::{Mutex, PoisonError},
};

use async_trait::async_trait;
use serde_json::Value;

use super::{Tool, ToolAnswer, ToolContext, arguments::Arguments};

/// Keeps one list for as long as the session lives. A call with `items` replaces it, one without shows it.
#[derive(Debug, Default)]
pub(super) struct Todo {
    items: Mutex<Vec<Item>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Item {
    text: String,
    done: bool,
}

#[async_trait]
impl Tool for Todo {
    async fn run(&self, args: &Value, _: &ToolContext) -> ToolAnswer {
        let wanted = match wanted(args) {
            Ok(wanted) => wanted,
            Err(fault) => return ToolAnswer::failed(fault),
        };
        let mut items = self.items.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(wanted) = wanted {
            *items = wanted;
        }
        ToolAnswer::done(shown(&items))
    }
}

fn wanted(args: &Value) -> Result<Option<Vec<Item>>, String> {
    const EXPECTED: &str = "a list of `{text, done}`";
    let args = Arguments::read(args, &["items"])?;
    if args.optional("items").is_none() {
        return Ok(None);
    }
    let items = args.list("items", EXPECTED)?;
    let read = |(place, value): (usize, &Value)| {
        item(value).map_err(|fault| format!("`items[{place}]`: {fault}"))
    };
    items
        .iter()
        .enumerate()
        .map(read)
        .collect::<Result<_, _>>()
        .map(Some)
}

fn item(value: &Value) -> Result<Item, String> {
    let fields = Arguments::read(value, &["text", "done"])?;
    let done = fields.flag("done")?;
    Ok(Item {
        text: fields.text("text")?.to_owned(),
        done,
    })
}

fn shown(items: &[Item]) -> String {
    if items.is_empty() {
        return "[the list is empty]\n".into();
    }
    items.iter().fold(String::new(), |mut list, item| {
        let mark = if item.done { 'x' } else { ' ' };
        // Writing to a string does not fail.
        let _ = writeln!(list, "- [{mark}] {}", item.text);
        list
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tools::fixture::Bench;

    #[tokio::test]
    async fn the_list_is_kept_until_it_is_replaced() {
        let bench = Bench::new();
        let todo = Todo::default();
        let run = async |args: Value| todo.run(&args, &bench.context).await.text;
        assert_eq!(run(json!({})).await, "[the list is empty]\n");
        let list = json!({"items": [{"text": "read", "done": true}, {"text": "write"}]});
        assert_eq!(run(list).await, "- [x] read\n- [ ] write\n");
        assert_eq!(run(json!({})).await, "- [x] read\n- [ ] write\n");
        assert_eq!(run(json!({"items": []})).await, "[the list is empty]\n");
    }

    #[tokio::test]
    async fn a_bad_item_is_named_and_changes_nothing() {
        let bench = Bench::new();
        let todo = Todo::default();
        let run = async |args: Value| todo.run(&args, &bench.context).await;
        run(json!({"items": [{"text": "kept"}]})).await;
        let mut faults = Vec::new();
        for args in [
            json!({"items": "read"}),
            json!({"items": [{"text": "a"}, "b"]}),
            json!({"items": [{"content": "a"}]}),
            json!({"items": [{"text": "a", "done": "yes"}]}),
        ] {
            let answer = run(args).await;
            assert!(!answer.ok);
            faults.push(answer.text);
        }
        insta::assert_snapshot!(faults.join("\n"), @r#"
    `items` is a text, expected a list of `{text, done}`
    `items[1]`: expected an object with `text`, `done`, found a text
    `items[0]`: unknown argument `content`, expected `text`, `done`
    `items[0]`: `done` is a text, expected true or false
    "#);
        assert_eq!(run(json!({})).await.text, "- [ ] kept\n");
    }
}
