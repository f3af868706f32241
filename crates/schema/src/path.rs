//! Places in a JSON value, as people and models write them.

use jsonschema::paths::{Location, LocationSegment};

/// `findings[0].line`, and `["a.b"]` for a name that is no word. Empty for the value itself.
pub(crate) fn written(location: &Location) -> String {
    let mut text = String::new();
    for segment in location.segments() {
        match segment {
            LocationSegment::Property(name) => push_name(&mut text, &name),
            LocationSegment::Index(index) => push_index(&mut text, index),
        }
    }
    text
}

/// The place of `name` within the place `parent`.
pub(crate) fn child(parent: &str, name: &str) -> String {
    let mut text = parent.to_owned();
    push_name(&mut text, name);
    text
}

/// The place of item `index` within the place `parent`.
pub(crate) fn item(parent: &str, index: usize) -> String {
    let mut text = parent.to_owned();
    push_index(&mut text, index);
    text
}

fn push_name(text: &mut String, name: &str) {
    let is_word = !name.is_empty()
        && name
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '$'));
    if !is_word {
        text.extend(["[", &serde_json::Value::from(name).to_string(), "]"]);
        return;
    }
    if !text.is_empty() {
        text.push('.');
    }
    text.push_str(name);
}

fn push_index(text: &mut String, index: usize) {
    text.extend(["[", &index.to_string(), "]"]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_no_words_are_quoted() {
        let location = Location::new().join("a").join(0).join("b.c").join("d-e");
        assert_eq!(written(&location), r#"a[0]["b.c"].d-e"#);
        assert_eq!(written(&Location::new()), "");
        assert_eq!(child(&item("", 2), "x"), "[2].x");
    }
}
