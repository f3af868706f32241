//! What people are shown of a call.

use serde_json::Value;

/// Characters that are shown.
const SHOWN: usize = 80;

/// The most telling argument of a call, on one line, shortened.
pub(super) fn detail(args: &Value) -> String {
    const TELLING: [&str; 4] = ["path", "command", "pattern", "url"];
    if let Some(tasks) = args.get("tasks").and_then(Value::as_array) {
        return match tasks.len() {
            1 => "1 task".into(),
            n => format!("{n} tasks"),
        };
    }
    let told = TELLING
        .iter()
        .find_map(|name| args.get(name)?.as_str())
        .or_else(|| args.as_object()?.values().find_map(Value::as_str))
        .unwrap_or_default();
    let mut shown = String::new();
    let mut left = SHOWN;
    for word in told.split_whitespace() {
        for c in if shown.is_empty() { "" } else { " " }
            .chars()
            .chain(word.chars())
        {
            if left == 0 {
                shown.push('…');
                return shown;
            }
            shown.push(if c.is_control() { '\u{fffd}' } else { c });
            left -= 1;
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn the_most_telling_argument_is_shown_on_one_line() {
        assert_eq!(detail(&json!({"content": "x", "path": "a.rs"})), "a.rs");
        assert_eq!(detail(&json!({"command": "a \\\n  b"})), "a \\ b");
        assert_eq!(detail(&json!({"items": [], "note": "n"})), "n");
        assert_eq!(detail(&json!({"tasks": [{}, {}]})), "2 tasks");
        assert_eq!(detail(&json!("cut off {")), "");
    }

    proptest! {
        #[test]
        fn it_is_short_and_has_no_control_characters(text in any::<String>()) {
            let shown = detail(&json!({"command": text}));
            prop_assert!(shown.chars().count() <= SHOWN + 1);
            prop_assert!(!shown.chars().any(char::is_control));
        }
    }
}
