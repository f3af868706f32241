//! The arguments of a `yield` call.

use serde_json::Value;

/// What one call hands in.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Submission {
    /// It cannot be done.
    Error(String),
    /// A part, under each of these labels; without data the last text is meant.
    Part {
        labels: Vec<String>,
        data: Option<Value>,
    },
    /// The result; without data the last text, or the parts, are meant.
    Whole { data: Option<Value> },
}

/// Reads the arguments. Null is absent, and so is an empty error.
pub(super) fn read(args: &Value) -> Result<Submission, Vec<String>> {
    let Some(args) = args.as_object() else {
        return Err(vec![
            "the arguments are no JSON object; send the call again, whole".into(),
        ]);
    };
    let field = |name: &str| args.get(name).filter(|value| !value.is_null());
    let mut faults: Vec<String> = args
        .keys()
        .filter(|name| !matches!(name.as_str(), "type" | "data" | "error"))
        .map(|name| {
            format!(
                "`{name}` is no argument of `yield`; put what belongs to the result into `data`"
            )
        })
        .collect();
    let error = match field("error") {
        None => None,
        Some(Value::String(error)) => Some(error.trim()).filter(|error| !error.is_empty()),
        Some(_) => {
            faults.push("`error` is no text".into());
            None
        }
    };
    let labels = labels(field("type"), &mut faults);
    let data = field("data").cloned();
    if error.is_some() && data.is_some() {
        faults.push("`data` and `error` exclude each other".into());
    }
    if faults.is_empty() && error.is_none() && data.is_none() && field("type").is_none() {
        faults.push(
            "nothing was handed in; give the result as `data`, or `type: \"text\"` with the report as your message, or `error`"
                .into(),
        );
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    Ok(match (error, labels) {
        (Some(error), _) => Submission::Error(error.to_owned()),
        (None, Some(labels)) => Submission::Part { labels, data },
        (None, None) => Submission::Whole { data },
    })
}

/// The labels of a part; `None` is the whole, whatever word stands there.
fn labels(kind: Option<&Value>, faults: &mut Vec<String>) -> Option<Vec<String>> {
    match kind {
        None | Some(Value::String(_)) => None,
        Some(Value::Array(labels)) => {
            let texts: Vec<_> = labels
                .iter()
                .filter_map(Value::as_str)
                .filter(|label| !label.trim().is_empty())
                .map(str::to_owned)
                .collect();
            if texts.is_empty() || texts.len() < labels.len() {
                faults.push("`type` is a list of labels, and each of them is a text".into());
            }
            Some(texts)
        }
        Some(_) => {
            faults.push("`type` is a text, or a list of labels".into());
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn null_and_an_empty_error_are_absent() {
        let whole = read(&json!({"type": null, "data": 1, "error": " "}));
        assert_eq!(
            whole,
            Ok(Submission::Whole {
                data: Some(json!(1))
            })
        );
    }

    #[test]
    fn a_list_of_labels_is_a_part_and_a_word_is_the_whole() {
        assert_eq!(
            read(&json!({"type": ["a", "b"], "data": 1})),
            Ok(Submission::Part {
                labels: vec!["a".into(), "b".into()],
                data: Some(json!(1))
            })
        );
        assert_eq!(
            read(&json!({"type": "result"})),
            Ok(Submission::Whole { data: None })
        );
    }

    #[test]
    fn an_error_is_final_whatever_its_type() {
        assert_eq!(
            read(&json!({"type": ["a"], "error": "no access"})),
            Ok(Submission::Error("no access".into()))
        );
    }

    #[test]
    fn every_fault_is_named_at_once() {
        let faults = read(&json!({"type": [1], "data": 1, "error": "x", "verdict": "pass"}));
        insta::assert_snapshot!(faults.unwrap_err().join("\n"), @r"
        `verdict` is no argument of `yield`; put what belongs to the result into `data`
        `type` is a list of labels, and each of them is a text
        `data` and `error` exclude each other
        ");
        insta::assert_snapshot!(read(&json!({})).unwrap_err().join("\n"), @r#"nothing was handed in; give the result as `data`, or `type: "text"` with the report as your message, or `error`"#);
        insta::assert_snapshot!(read(&json!({"type": 3, "error": 4})).unwrap_err().join("\n"), @r"
        `error` is no text
        `type` is a text, or a list of labels
        ");
        insta::assert_snapshot!(read(&json!("done")).unwrap_err().join("\n"), @"the arguments are no JSON object; send the call again, whole");
    }
}
