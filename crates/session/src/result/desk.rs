//! Where `yield` calls are received.
//!
//! Pure: a call's arguments and the last text go in, a [`Verdict`] comes out. Three calls in a row that cannot be
//! accepted end the session, so a model that never gets it right costs a bounded number of requests.

use serde_json::Value;
use sortie_protocol::{Ending, PlannedSchema, Section};
use sortie_schema::Validator;

use super::{
    Form,
    form::Label,
    sections::assembled,
    submission::{self, Submission},
};

/// How many calls in a row may be rejected.
const TRIES: u32 = 3;

/// What becomes of one call.
#[derive(Debug)]
pub(crate) enum Verdict {
    /// It ends the session, accepted or not.
    Final(HandedIn),
    /// It was a part, and was accepted.
    Part {
        /// Its labels.
        labels: Vec<String>,
    },
    /// The model may try again.
    Rejected {
        /// Everything that is wrong, for the model.
        text: String,
    },
}

/// How a session ended, and what it ended with.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct HandedIn {
    /// How it ended.
    pub(crate) ending: Ending,
    /// The result as text.
    pub(crate) text: Option<String>,
    /// The result as data.
    pub(crate) data: Option<Value>,
}

impl HandedIn {
    /// An end without a result.
    pub(crate) fn nothing(ending: Ending) -> Self {
        Self {
            ending,
            text: None,
            data: None,
        }
    }

    fn data(ending: Ending, data: Value) -> Self {
        Self {
            ending,
            text: data.as_str().map(str::to_owned),
            data: Some(data),
        }
    }
}

/// The calls of one session.
#[derive(Debug)]
pub(crate) struct Desk {
    form: Form,
    sections: Vec<Section>,
    /// Calls rejected since the last that was accepted.
    rejected: u32,
    /// What was wrong with the last of them.
    last_faults: Vec<String>,
    /// The last data that was rejected as the whole result, and what was wrong with it.
    last_data: Option<(Value, Vec<String>)>,
    warnings: Vec<String>,
}

impl Desk {
    /// A desk for results of this shape.
    pub(crate) fn new(schema: Option<PlannedSchema>) -> Self {
        Self {
            form: Form::new(schema),
            sections: Vec::new(),
            rejected: 0,
            last_faults: Vec::new(),
            last_data: None,
            warnings: Vec::new(),
        }
    }

    /// The shape.
    pub(crate) fn form(&self) -> &Form {
        &self.form
    }

    /// What was wrong with the last call, if it was rejected.
    pub(crate) fn rejection(&self) -> Option<String> {
        (self.rejected > 0).then(|| {
            format!(
                "the last `yield` was rejected: {}",
                self.last_faults.join("; ")
            )
        })
    }

    /// The parts that were accepted, and what the caller should know of them.
    pub(crate) fn close(mut self) -> (Vec<Section>, Vec<String>) {
        if let Some(defect) = self.form.defect() {
            let warning =
                format!("the result was not checked: its schema cannot be used: {defect}");
            self.warnings.push(warning);
        }
        (self.sections, self.warnings)
    }

    /// Receives a call. `last_text` is the last thing the model said.
    pub(crate) fn submit(&mut self, args: &Value, last_text: Option<&str>) -> Verdict {
        match submission::read(args) {
            Ok(Submission::Error(error)) => {
                Verdict::Final(HandedIn::nothing(Ending::GaveUp { error }))
            }
            Ok(Submission::Part { labels, data }) => self.part(labels, data, last_text),
            Ok(Submission::Whole { data: Some(data) }) => self.whole(data),
            Ok(Submission::Whole { data: None }) => self.without_data(last_text),
            Err(faults) => self.reject(faults),
        }
    }

    fn whole(&mut self, data: Value) -> Verdict {
        self.form.prepare();
        if is_blank(&data) && !self.has_schema() {
            return self.reject(vec![BLANK.into()]);
        }
        match self.fitting(&data) {
            Ok(data) => self.accept_data(data),
            Err(faults) => {
                self.last_data = Some((data, faults.clone()));
                self.reject(faults)
            }
        }
    }

    fn without_data(&mut self, last_text: Option<&str>) -> Verdict {
        self.form.prepare();
        if !self.sections.is_empty() {
            return self.whole(Value::Object(assembled(&self.sections, &self.form)));
        }
        if self.has_schema() {
            return self.reject(vec![
                "`data` is missing; it has to hold the result, which has a schema".into(),
            ]);
        }
        let Some(text) = last_text else {
            return self.reject(vec![NO_TEXT.into()]);
        };
        Verdict::Final(HandedIn {
            text: Some(text.to_owned()),
            ..HandedIn::nothing(self.yielded())
        })
    }

    /// Whether a schema says what a result is.
    fn has_schema(&self) -> bool {
        self.form.is_stated() && self.form.defect().is_none()
    }

    fn part(
        &mut self,
        labels: Vec<String>,
        data: Option<Value>,
        last_text: Option<&str>,
    ) -> Verdict {
        let Some(data) = data.or_else(|| last_text.map(Value::from)) else {
            return self.reject(vec![NO_TEXT.into()]);
        };
        let mut faults = Vec::new();
        let mut sections = Vec::new();
        for label in &labels {
            let (data, wrong) = match fitting_part(&self.form, label, &data) {
                Ok(data) => (data, Vec::new()),
                Err(wrong) => (data.clone(), wrong),
            };
            faults.extend(wrong);
            sections.push(Section {
                label: label.clone(),
                data,
            });
        }
        if !faults.is_empty() {
            if self.form.is_strict() || self.rejected + 1 < TRIES {
                return self.reject(faults);
            }
            self.warnings.push(format!(
                "a part was accepted as it is: {}",
                faults.join("; ")
            ));
        }
        self.sections.extend(sections);
        self.rejected = 0;
        Verdict::Part { labels }
    }

    /// `data` as it fits: as it is, or the JSON that it is the text of, or completed by the parts that went before.
    fn fitting(&self, data: &Value) -> Result<Value, Vec<String>> {
        let faults = self.form.faults(data);
        if faults.is_empty() {
            return Ok(data.clone());
        }
        let fits = |other: &Value| self.form.faults(other).is_empty();
        if let Some(inner) = unwrapped(data).filter(fits) {
            return Ok(inner);
        }
        if let Value::Object(fields) = data
            && !self.sections.is_empty()
        {
            let mut whole = assembled(&self.sections, &self.form);
            whole.extend(fields.clone());
            let whole = Value::Object(whole);
            if fits(&whole) {
                return Ok(whole);
            }
        }
        Err(faults)
    }

    fn accept_data(&self, data: Value) -> Verdict {
        Verdict::Final(HandedIn::data(self.yielded(), data))
    }

    fn yielded(&self) -> Ending {
        Ending::Yielded {
            tries: self.rejected + 1,
            faults: Vec::new(),
        }
    }

    fn reject(&mut self, faults: Vec<String>) -> Verdict {
        self.rejected += 1;
        self.last_faults = faults;
        if self.rejected < TRIES {
            return Verdict::Rejected {
                text: self.complaint(TRIES - self.rejected),
            };
        }
        Verdict::Final(self.give_in())
    }

    /// The end after the last try.
    fn give_in(&mut self) -> HandedIn {
        // What was wrong is in the ending from here on.
        let tries = std::mem::take(&mut self.rejected);
        let last = self.last_data.take();
        if self.form.is_strict() {
            let faults = self.last_faults.clone();
            let ending = Ending::SchemaViolation { tries, faults };
            return HandedIn {
                data: last.map(|(data, _)| data),
                ..HandedIn::nothing(ending)
            };
        }
        match last {
            Some((data, faults)) => HandedIn::data(Ending::Yielded { tries, faults }, data),
            None => HandedIn::nothing(Ending::Incomplete {
                message: format!(
                    "{tries} `yield` calls in a row could not be accepted; the last: {}",
                    self.last_faults.join("; ")
                ),
            }),
        }
    }

    fn complaint(&self, left: u32) -> String {
        let mut text = String::from("not accepted:\n");
        for fault in &self.last_faults {
            text.push_str("- ");
            text.push_str(fault);
            text.push('\n');
        }
        text.push_str(match left {
            1 => "Call `yield` again with all of this put right. One try is left.",
            _ => "Call `yield` again with all of this put right. Two tries are left.",
        });
        text
    }
}

const NO_TEXT: &str = "there is no text to hand in: write the report as your message in the same turn, or give it as `data`";

const BLANK: &str = "the result is blank: say in it what was found or done, or give the reason as `error` if there is nothing to report";

fn is_blank(data: &Value) -> bool {
    data.as_str().is_some_and(|text| text.trim().is_empty())
}

/// The JSON that a text is, unless it is null.
fn unwrapped(data: &Value) -> Option<Value> {
    let inner: Value = serde_json::from_str(data.as_str()?).ok()?;
    (!inner.is_null()).then_some(inner)
}

/// `data` as it fits as the part `label`: a list may be handed in whole, or item by item.
fn fitting_part(form: &Form, label: &str, data: &Value) -> Result<Value, Vec<String>> {
    let (schema, items) = match form.label(label) {
        Label::Free => return Ok(data.clone()),
        Label::Unknown { known } => {
            let known: Vec<_> = known.iter().map(|name| format!("`{name}`")).collect();
            let known = known.join(", ");
            return Err(vec![format!(
                "`{label}` is no part of the result; its parts are {known}"
            )]);
        }
        Label::Known { schema, items } => (schema, items),
    };
    // The whole schema was checked; a part of it that is none by itself is not held against the model.
    let validator = |schema: &Value| Validator::new(schema).ok();
    let whole = validator(&schema);
    let item = items.as_ref().and_then(validator);
    let faults = |value: &Value| {
        let of = |validator: &Option<Validator>| {
            validator
                .as_ref()
                .map_or_else(Vec::new, |validator| validator.faults(value))
        };
        match &item {
            Some(_) if !value.is_array() => of(&item),
            _ => of(&whole),
        }
    };
    let wrong = faults(data);
    if wrong.is_empty() {
        return Ok(data.clone());
    }
    unwrapped(data)
        .filter(|inner| faults(inner).is_empty())
        .ok_or_else(|| {
            wrong
                .iter()
                .map(|fault| format!("part `{label}`: {fault}"))
                .collect()
        })
}

#[cfg(test)]
#[path = "desk_tests.rs"]
mod tests;
