//! What people are shown of a call.

use serde_json::Value;
use sortie_protocol::redact::Redactor;

/// Characters that are shown.
const SHOWN: usize = 80;

/// The most telling argument of a call, on one line, shortened.
pub(super) fn detail(args: &Value, keys: &Redactor) -> String {
    const TELLING: [&str; 4] = ["pattern", "path", "command", "url"];
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
    let told = keys.clean(told);
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
    use sortie_protocol::Secrets;

    use super::*;

    fn plain(args: &Value) -> String {
        detail(args, &Redactor::default())
    }

    #[test]
    fn the_most_telling_argument_is_shown_on_one_line() {
        assert_eq!(plain(&json!({"content": "x", "path": "a.rs"})), "a.rs");
        assert_eq!(plain(&json!({"path": "src", "pattern": "fn"})), "fn");
        assert_eq!(plain(&json!({"command": "a \\\n  b"})), "a \\ b");
        assert_eq!(plain(&json!({"items": [], "note": "n"})), "n");
        assert_eq!(plain(&json!({"tasks": [{}, {}]})), "2 tasks");
        assert_eq!(plain(&json!("cut off {")), "");
    }

    #[test]
    fn no_key_is_shown_in_part() {
        let mut secrets = Secrets::default();
        secrets.insert("A_KEY", "sk-1234567890");
        let keys = Redactor::new(&secrets);
        let command = format!("{} sk-1234567890", "x".repeat(SHOWN - 5));
        let shown = detail(&json!({"command": command}), &keys);
        assert_eq!(shown, format!("{} [key…", "x".repeat(SHOWN - 5)));
    }

    proptest! {
        #[test]
        fn it_is_short_and_has_no_control_characters(text in any::<String>()) {
            let shown = plain(&json!({"command": text}));
            prop_assert!(shown.chars().count() <= SHOWN + 1);
            prop_assert!(!shown.chars().any(char::is_control));
        }
    }
}
