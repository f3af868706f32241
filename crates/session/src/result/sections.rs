//! Parts of a result that were handed in one by one.

use serde_json::{Map, Value};
use sortie_protocol::Section;

use super::Form;

/// Puts `sections` together to one object: a label that came once is its value, one that came more often, or that
/// `form` says is a list, is the list of all that came, lists flattened.
pub(super) fn assembled(sections: &[Section], form: &Form) -> Map<String, Value> {
    let mut whole = Map::new();
    for Section { label, data } in sections {
        match whole.get_mut(label) {
            None if form.is_list(label) && !data.is_array() => {
                whole.insert(label.clone(), Value::Array(vec![data.clone()]));
            }
            None => {
                whole.insert(label.clone(), data.clone());
            }
            Some(Value::Array(items)) => match data {
                Value::Array(more) => items.extend(more.iter().cloned()),
                one => items.push(one.clone()),
            },
            Some(first) => {
                let earlier = first.take();
                *first = Value::Array(vec![earlier, data.clone()]);
            }
        }
    }
    whole
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;
    use sortie_protocol::{PlannedSchema, SchemaMode, SchemaSource};

    use super::*;

    fn listing() -> Form {
        Form::new(Some(PlannedSchema {
            source: SchemaSource::Agent,
            mode: SchemaMode::Permissive,
            schema: json!({"properties": {"findings": {"type": "array"}, "verdict": {"type": "string"}}}),
        }))
    }

    fn section(label: &str, data: Value) -> Section {
        Section {
            label: label.into(),
            data,
        }
    }

    #[test]
    fn lists_grow_and_single_values_stay_single() {
        let sections = [
            section("findings", json!({"title": "a"})),
            section("verdict", json!("fail")),
            section("findings", json!([{"title": "b"}])),
        ];
        assert_eq!(
            Value::Object(assembled(&sections, &listing())),
            json!({"findings": [{"title": "a"}, {"title": "b"}], "verdict": "fail"})
        );
    }

    #[test]
    fn without_a_schema_a_second_value_makes_a_list() {
        let sections = [
            section("note", json!(1)),
            section("note", json!(2)),
            section("note", json!(3)),
        ];
        assert_eq!(
            Value::Object(assembled(&sections, &Form::new(None))),
            json!({"note": [1, 2, 3]})
        );
    }

    proptest! {
        #[test]
        fn nothing_that_was_handed_in_is_lost(values in prop::collection::vec(0..100_i32, 1..8)) {
            let sections: Vec<_> = values.iter().map(|value| section("findings", json!(value))).collect();
            let whole = assembled(&sections, &listing());
            prop_assert_eq!(&whole["findings"], &json!(values));
        }
    }
}
