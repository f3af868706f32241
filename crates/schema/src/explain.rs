//! What is wrong with a value, in plain words.

use jsonschema::{ValidationError, error::ValidationErrorKind as Kind};
use serde_json::Value;

use crate::{
    path::written,
    words::{LISTED, clipped, count, described, names, or, shown, types, values},
};

/// A place and what is wrong there.
pub(crate) type Fault = (String, String);

/// Puts `errors` of values checked against `schema` into words: one for each place and kind of fault.
pub(crate) fn explain<'i>(
    schema: &Value,
    errors: impl IntoIterator<Item = ValidationError<'i>>,
) -> Vec<Fault> {
    let errors: Vec<_> = errors.into_iter().collect();
    let errors: Vec<_> = errors.iter().collect();
    explain_all(schema, &errors)
}

fn explain_all(schema: &Value, errors: &[&ValidationError<'_>]) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut told_missing: Vec<&str> = Vec::new();
    for error in errors {
        let place = error.instance_path().as_str();
        match error.kind() {
            // The validator reports each missing name by itself; one line with all of them reads better.
            Kind::Required { .. } if told_missing.contains(&place) => {}
            Kind::Required { .. } => {
                told_missing.push(place);
                let missing = errors
                    .iter()
                    .filter(|other| other.instance_path().as_str() == place)
                    .filter_map(|other| match other.kind() {
                        Kind::Required { property } => property.as_str(),
                        _ => None,
                    });
                faults.push((
                    written(error.instance_path()),
                    format!("missing {}", names(missing)),
                ));
            }
            // The list of allowed values says more than their type.
            Kind::Type { .. } if errors.iter().any(|other| lists_values_at(other, place)) => {}
            Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
                faults.extend(none_of(schema, error, context));
            }
            _ => faults.push((written(error.instance_path()), one(schema, error))),
        }
    }
    let mut told = Vec::with_capacity(faults.len());
    for fault in faults {
        if !told.contains(&fault) {
            told.push(fault);
        }
    }
    told
}

fn lists_values_at(error: &ValidationError<'_>, place: &str) -> bool {
    matches!(error.kind(), Kind::Enum { .. } | Kind::Constant { .. })
        && error.instance_path().as_str() == place
}

/// A value fits none of several shapes: says what keeps it from the one it was meant to have, when that is clear.
fn none_of(
    schema: &Value,
    error: &ValidationError<'_>,
    shapes: &[Vec<ValidationError<'static>>],
) -> Vec<Fault> {
    let here = error.instance_path().as_str();
    let is_here = |fault: &ValidationError<'_>| fault.instance_path().as_str() == here;
    // `anyOf` of types, constants, and lists of values is one list of what is allowed.
    let values = shapes.iter().map(|faults| {
        faults
            .iter()
            .filter(|fault| is_here(fault))
            .find_map(allowed)
    });
    if let Some(values) = values.collect::<Option<Vec<_>>>() {
        return vec![not_one_of(error, values.concat())];
    }
    // A shape is out when its type, or a value that tells shapes apart, is another.
    let in_question: Vec<_> = shapes
        .iter()
        .filter(|faults| !faults.iter().any(|fault| tells_apart(fault, here)))
        .collect();
    if let [meant] = in_question[..] {
        return explain_all(schema, &meant.iter().collect::<Vec<_>>());
    }
    if let Some(fault) = unknown_tag(here, shapes) {
        return vec![fault];
    }
    let shapes: Vec<String> = shapes
        .iter()
        .take(LISTED)
        .enumerate()
        .map(|(i, faults)| {
            let faults = explain_all(schema, &faults.iter().collect::<Vec<_>>());
            let faults: Vec<_> = faults
                .iter()
                .map(|(path, message)| match path.as_str() {
                    "" => message.clone(),
                    path => format!("{path} {message}"),
                })
                .collect();
            format!("({}) {}", i + 1, faults.join(", "))
        })
        .collect();
    let message = format!("fits none of the shapes it may have: {}", shapes.join("; "));
    vec![(written(error.instance_path()), message)]
}

/// Whether a fault shows that the value at `here` was meant to have another shape.
fn tells_apart(fault: &ValidationError<'_>, here: &str) -> bool {
    let place = fault.instance_path().as_str();
    match fault.kind() {
        Kind::Type { .. } | Kind::FalseSchema => place == here,
        Kind::Constant { .. } | Kind::Enum { .. } => {
            place == here
                || place
                    .rsplit_once('/')
                    .is_some_and(|(parent, _)| parent == here)
        }
        _ => false,
    }
}

/// Shapes that are told apart by one field, whose value is that of none of them.
fn unknown_tag(here: &str, shapes: &[Vec<ValidationError<'static>>]) -> Option<Fault> {
    let tags: Vec<_> = shapes
        .iter()
        .map(|faults| faults.iter().find(|fault| tells_apart(fault, here)))
        .collect::<Option<_>>()?;
    // Shapes of another type have no such field.
    let tags: Vec<_> = tags
        .into_iter()
        .filter(|tag| tag.instance_path().as_str() != here)
        .collect();
    let first = tags.first()?;
    let same_place = tags
        .iter()
        .all(|tag| tag.instance_path().as_str() == first.instance_path().as_str());
    let values: Vec<_> = tags.iter().map(|tag| allowed(tag)).collect::<Option<_>>()?;
    same_place.then(|| not_one_of(first, values.concat()))
}

fn not_one_of(error: &ValidationError<'_>, mut allowed: Vec<String>) -> Fault {
    allowed.dedup();
    let message = format!(
        "should be {}, but is {}",
        or(&allowed),
        described(error.instance())
    );
    (written(error.instance_path()), message)
}

/// What a type, a constant, or a list of values allows.
fn allowed(error: &ValidationError<'_>) -> Option<Vec<String>> {
    Some(match error.kind() {
        Kind::Type { kind } => types(kind),
        Kind::Constant { expected_value } => vec![shown(expected_value)],
        Kind::Enum { options } => values(options),
        _ => return None,
    })
}

fn one(schema: &Value, error: &ValidationError<'_>) -> String {
    let value = error.instance();
    let is = described(value);
    match error.kind() {
        Kind::Type { kind } => format!("should be {}, but is {is}", or(&types(kind))),
        Kind::Constant { expected_value } => {
            format!("should be {}, but is {is}", shown(expected_value))
        }
        Kind::Enum { options } => {
            format!(
                "should be one of {}, but is {is}",
                values(options).join(", ")
            )
        }
        Kind::AdditionalProperties { unexpected } => {
            format!("{}{}", excess(unexpected), allowed_names(schema, error))
        }
        Kind::UnevaluatedProperties { unexpected } => excess(unexpected),
        Kind::FalseSchema
            if error
                .schema_path()
                .as_str()
                .ends_with("/additionalProperties") =>
        {
            "may have no fields".to_owned()
        }
        Kind::FalseSchema => format!("nothing may be here, but there is {is}"),
        Kind::Format { format } => format!("should be in the format `{format}`, but is {is}"),
        Kind::Pattern { pattern } => format!("should match the pattern `{pattern}`, but is {is}"),
        Kind::Minimum { limit } => format!("should be at least {limit}, but is {is}"),
        Kind::Maximum { limit } => format!("should be at most {limit}, but is {is}"),
        Kind::ExclusiveMinimum { limit } => format!("should be more than {limit}, but is {is}"),
        Kind::ExclusiveMaximum { limit } => format!("should be less than {limit}, but is {is}"),
        Kind::MultipleOf { multiple_of } => {
            format!("should be a multiple of {multiple_of}, but is {is}")
        }
        Kind::MinLength { limit } => length(value, "at least", *limit, "character"),
        Kind::MaxLength { limit } => length(value, "at most", *limit, "character"),
        Kind::MinItems { limit } => length(value, "at least", *limit, "item"),
        Kind::MaxItems { limit } => length(value, "at most", *limit, "item"),
        Kind::AdditionalItems { limit } => length(
            value,
            "at most",
            u64::try_from(*limit).unwrap_or(u64::MAX),
            "item",
        ),
        Kind::MinProperties { limit } => length(value, "at least", *limit, "field"),
        Kind::MaxProperties { limit } => length(value, "at most", *limit, "field"),
        Kind::UniqueItems => equal_items(value),
        Kind::Contains => "has no item of the kind that it should contain".to_owned(),
        Kind::UnevaluatedItems { unexpected } => {
            format!("has {} too many", count(unexpected.len() as u64, "item"))
        }
        Kind::PropertyNames { error } => {
            format!("has a name that is not allowed: {}", one(schema, error))
        }
        Kind::Not { schema } => format!("should not fit {}", clipped(&schema.to_string())),
        Kind::OneOfMultipleValid { .. } => {
            "fits several of the shapes of which it should fit exactly one".to_owned()
        }
        _ => clipped(&error.to_string()),
    }
}

fn excess(found: &[String]) -> String {
    let are = if found.len() == 1 { "is" } else { "are" };
    format!(
        "has {}, which {are} not allowed here",
        names(found.iter().map(String::as_str))
    )
}

/// The names that the object of `error` may have, where its schema lists them.
fn allowed_names(schema: &Value, error: &ValidationError<'_>) -> String {
    let owner = error.schema_path().as_str().rsplit_once('/');
    let owner = owner.and_then(|(owner, _)| schema.pointer(owner));
    let Some(owner) = owner.filter(|owner| owner.get("patternProperties").is_none()) else {
        return String::new();
    };
    match owner.get("properties").and_then(Value::as_object) {
        Some(known) if !known.is_empty() => {
            format!("; allowed: {}", names(known.keys().map(String::as_str)))
        }
        _ => "; no name is".to_owned(),
    }
}

fn length(value: &Value, bound: &str, limit: u64, noun: &str) -> String {
    let found = match value {
        Value::String(text) => text.chars().count(),
        Value::Array(items) => items.len(),
        Value::Object(fields) => fields.len(),
        _ => 0,
    };
    format!(
        "should have {bound} {}, but has {found}",
        count(limit, noun)
    )
}

fn equal_items(value: &Value) -> String {
    let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
    let pair = items.iter().enumerate().find_map(|(later, item)| {
        let earlier = items[..later].iter().position(|other| other == item)?;
        Some((earlier, later))
    });
    match pair {
        Some((earlier, later)) => {
            format!("should have no two equal items, but [{earlier}] and [{later}] are")
        }
        None => "should have no two equal items".to_owned(),
    }
}

#[cfg(test)]
#[path = "explain_tests.rs"]
mod tests;
