//! The two forms that describe objects by their fields.

use serde_json::{Map, Value, json};

use super::{Conversion, Form, Tag};
use crate::{path::child, words::described};

impl Conversion<'_> {
    /// An object with the fields of `keywords` and, in a shape among others, the `tag` that tells it apart.
    pub(super) fn properties(
        &mut self,
        keywords: &Map<String, Value>,
        path: &str,
        tag: Option<Tag<'_>>,
    ) -> Value {
        let mut properties = Map::new();
        let mut required = Vec::new();
        if let Some(tag) = tag {
            properties.insert(tag.field.to_owned(), json!({"const": tag.value}));
            required.push(tag.field.to_owned());
        }
        for group in ["properties", "optionalProperties"] {
            let place = child(path, group);
            let fields = match keywords.get(group) {
                None => continue,
                Some(Value::Object(fields)) => fields,
                Some(other) => {
                    self.fault(
                        place,
                        format!("should be an object, but is {}", described(other)),
                    );
                    continue;
                }
            };
            for (name, schema) in fields {
                let place = child(&place, name);
                let schema = self.schema(schema, &place);
                if properties.insert(name.clone(), schema.into()).is_some() {
                    self.fault(place, "a field of this name is there already");
                }
                if group == "properties" {
                    required.push(name.clone());
                }
            }
        }
        let open = match keywords.get("additionalProperties") {
            None => false,
            Some(Value::Bool(open)) => *open,
            Some(other) => {
                self.fault(
                    child(path, "additionalProperties"),
                    format!("should be a boolean, but is {}", described(other)),
                );
                false
            }
        };
        json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": open,
        })
    }

    pub(super) fn discriminator(&mut self, keywords: &Map<String, Value>, path: &str) -> Value {
        let field = keywords.get("discriminator").and_then(Value::as_str);
        let shapes = keywords.get("mapping").and_then(Value::as_object);
        let (Some(field), Some(shapes)) = (field, shapes.filter(|shapes| !shapes.is_empty()))
        else {
            self.fault(
                path,
                "needs both `discriminator`, the name of a field, and `mapping`, an object with a schema for each of \
                 its values",
            );
            return Value::Null;
        };
        let shapes: Vec<_> = shapes
            .iter()
            .map(|(value, shape)| {
                let path = child(&child(path, "mapping"), value);
                self.shape(shape, &path, Tag { field, value })
            })
            .collect();
        json!({"anyOf": shapes})
    }

    fn shape(&mut self, shape: &Value, path: &str, tag: Tag<'_>) -> Value {
        let fits = |keywords: &Map<String, Value>| {
            let mut forms = keywords.keys().filter_map(|keyword| Form::of(keyword));
            forms.all(|form| form == Form::Properties)
                && keywords.get("nullable") != Some(&Value::Bool(true))
        };
        if !shape.as_object().is_some_and(fits) {
            self.fault(
                path,
                "should have `properties` or `optionalProperties`, and nothing else but `metadata`",
            );
            return Value::Null;
        }
        self.tagged(shape, path, Some(tag)).into()
    }
}
