//! The shape of a result.

use std::cell::OnceCell;

use serde_json::{Map, Value, json};
use sortie_protocol::{PlannedSchema, SchemaMode};
use sortie_schema::Validator;

/// The schema of a plan, compiled when it is first needed: compiling takes longer than a child takes to start.
#[derive(Debug)]
pub(crate) struct Form {
    planned: Option<PlannedSchema>,
    /// The validator, or why there is none.
    compiled: OnceCell<Result<Validator, String>>,
}

/// What a form says of one label.
#[derive(Debug)]
pub(super) enum Label {
    /// Anything goes.
    Free,
    /// The schema closes its properties, and this is none of them.
    Unknown {
        /// Those there are.
        known: Vec<String>,
    },
    /// The property's own schema, and whether it is a list that grows item by item.
    Known { schema: Value, items: Option<Value> },
}

impl Form {
    /// A form for results of this shape; `None` takes any result.
    pub(crate) fn new(planned: Option<PlannedSchema>) -> Self {
        Self {
            planned,
            compiled: OnceCell::new(),
        }
    }

    /// Whether a result has to be data.
    pub(crate) fn is_stated(&self) -> bool {
        self.planned.is_some()
    }

    /// Whether the plan insists.
    pub(super) fn is_strict(&self) -> bool {
        self.planned
            .as_ref()
            .is_some_and(|planned| planned.mode == SchemaMode::Strict)
    }

    /// Compiles the schema, unless that is done.
    pub(crate) fn prepare(&self) {
        if let Some(planned) = &self.planned {
            self.compiled.get_or_init(|| {
                Validator::new(&planned.schema).map_err(|faults| faults.to_string())
            });
        }
    }

    /// Everything in `value` that does not fit.
    pub(super) fn faults(&self, value: &Value) -> Vec<String> {
        self.prepare();
        match self.compiled.get() {
            Some(Ok(validator)) => validator.faults(value),
            Some(Err(_)) | None => Vec::new(),
        }
    }

    /// Why results cannot be checked, where they should be.
    pub(super) fn defect(&self) -> Option<&str> {
        match self.compiled.get()? {
            Ok(_) => None,
            Err(defect) => Some(defect),
        }
    }

    /// What is said of `name` as a part of the result.
    pub(super) fn label(&self, name: &str) -> Label {
        let Some(schema) = self
            .planned
            .as_ref()
            .and_then(|planned| planned.schema.as_object())
        else {
            return Label::Free;
        };
        let properties = schema.get("properties").and_then(Value::as_object);
        if let Some(property) = properties.and_then(|properties| properties.get(name)) {
            return Label::Known {
                schema: within(schema, property),
                items: items_of(schema, property).map(|items| within(schema, items)),
            };
        }
        let is_closed = schema.get("additionalProperties") == Some(&Value::Bool(false))
            && !schema.contains_key("patternProperties");
        match properties {
            Some(properties) if is_closed => Label::Unknown {
                known: properties.keys().cloned().collect(),
            },
            _ => Label::Free,
        }
    }

    /// Whether the parts under `name` make a list even when there is one.
    pub(super) fn is_list(&self, name: &str) -> bool {
        matches!(self.label(name), Label::Known { items: Some(_), .. })
    }
}

/// The schema of an array's items; `None` for what is no array. A `$ref` into the schema is followed once.
fn items_of<'a>(root: &'a Map<String, Value>, property: &'a Value) -> Option<&'a Value> {
    static ANY: Value = Value::Bool(true);
    let property = resolve(root, property);
    let is_array = match property.get("type") {
        Some(Value::String(name)) => name == "array",
        Some(Value::Array(names)) => names.iter().any(|name| name == "array"),
        _ => property.get("items").is_some(),
    };
    is_array.then(|| property.get("items").unwrap_or(&ANY))
}

fn resolve<'a>(root: &'a Map<String, Value>, schema: &'a Value) -> &'a Value {
    let target = schema
        .get("$ref")
        .and_then(Value::as_str)
        .and_then(|target| {
            let mut path = target.strip_prefix("#/")?.split('/');
            let first = root.get(path.next()?)?;
            path.try_fold(first, |place, name| place.get(name))
        });
    target.unwrap_or(schema)
}

/// `part` of the schema `root` as a schema of its own, with the definitions that it may refer to.
fn within(root: &Map<String, Value>, part: &Value) -> Value {
    let mut whole = Map::new();
    for name in ["$schema", "$defs", "definitions"] {
        if let Some(value) = root.get(name) {
            whole.insert(name.into(), value.clone());
        }
    }
    if whole.is_empty() {
        return part.clone();
    }
    whole.insert("allOf".into(), json!([part]));
    Value::Object(whole)
}

#[cfg(test)]
mod tests {
    use sortie_protocol::SchemaSource;

    use super::*;

    pub(super) fn form(schema: Value) -> Form {
        Form::new(Some(PlannedSchema {
            source: SchemaSource::Caller,
            mode: SchemaMode::Strict,
            schema,
        }))
    }

    #[test]
    fn an_unusable_schema_lets_everything_pass_and_says_so() {
        let form = form(json!({"type": 7}));
        assert_eq!(form.faults(&json!(1)), Vec::<String>::new());
        assert!(form.defect().is_some());
    }

    #[test]
    fn parts_keep_the_definitions_they_refer_to() {
        let form = form(json!({
            "$defs": {"finding": {"type": "object", "required": ["title"]}},
            "properties": {"findings": {"type": "array", "items": {"$ref": "#/$defs/finding"}}},
        }));
        let Label::Known {
            items: Some(items), ..
        } = form.label("findings")
        else {
            panic!("a list");
        };
        let validator = Validator::new(&items).unwrap();
        assert_eq!(
            validator.faults(&json!({"title": "x"})),
            Vec::<String>::new()
        );
        assert_eq!(validator.faults(&json!({})).len(), 1);
    }

    #[test]
    fn only_a_closed_schema_knows_all_labels() {
        let open = form(json!({"properties": {"a": {}}}));
        assert!(matches!(open.label("b"), Label::Free));
        let closed = form(json!({"properties": {"a": {}}, "additionalProperties": false}));
        assert!(matches!(closed.label("b"), Label::Unknown { known } if known == ["a"]));
        assert!(matches!(Form::new(None).label("b"), Label::Free));
    }
}
