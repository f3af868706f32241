//! Putting a result together, and storing it.

use sortie_protocol::{Outcome, OutcomeKind, TaskResult};

use super::child::Supervisor;
use crate::{
    conclude::{self, End},
    dispatch::joined,
    error::chain,
    family::Family,
    launch::Exit,
    store::{Redactor, StoreError},
};

impl Supervisor<'_> {
    /// Waits for what the child leaves behind above us, and puts the result together.
    pub(super) async fn end(mut self, exit: Exit) -> TaskResult {
        self.family.gate.leave(&self.job.id);
        self.text_is_over();
        self.below.ask();
        while let Some(done) = self.answers.join_next().await {
            if let Some(spawned) = joined(done) {
                self.spawned(spawned);
            }
        }
        let stderr = self.files.close().unwrap_or_else(|error| {
            self.warnings.push(chain(&error));
            String::new()
        });
        let end = End {
            report: self.report.as_ref(),
            stopped: self.life.stopped(),
            exit,
            stderr: &stderr,
            stray: self.stray.as_deref(),
            broke: self.broke.as_deref(),
            clocks: self.job.policy.clocks(),
        };
        let mut result = self.job.result(conclude::outcome(&end));
        result.warnings = self.warnings;
        result.warnings.extend(conclude::warnings(&end));
        result.output = conclude::output(self.report.as_ref());
        result.structured = conclude::structured(self.report.as_ref(), self.job.policy.schema());
        result.model = self
            .receipt
            .model(self.job.policy.requested_model(), self.job.policy.skipped());
        result.usage = self.receipt.usage();
        result.requests = self.receipt.requests();
        result.duration_ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        result.children = self.children.into_values().flatten().collect();
        result.artifacts.transcript = Some(self.files.transcript().to_owned());
        if let Err(error) = store_output(&self.family, &mut result) {
            // What is not stored is not told.
            result.output = None;
            result.structured = None;
            result.outcome = Outcome::new(OutcomeKind::Failed, "store", chain(&error));
        }
        result
    }
}

/// Writes a result's output and data, whole, and cleans what will be told of keys.
fn store_output(family: &Family, result: &mut TaskResult) -> Result<(), StoreError> {
    clean(family.store.redactor(), result);
    if let Some(output) = &result.output {
        let path = family.store.path(&format!("{}.md", result.id));
        family.store.write_whole(&path, output)?;
        result.artifacts.output = Some(path);
    }
    let data = result.structured.as_ref().and_then(|it| it.data.as_ref());
    if let Some(data) = data {
        let path = family.store.path(&format!("{}.json", result.id));
        family.store.write_json(&path, data)?;
    }
    Ok(())
}

/// Takes the keys out of a result. What was found in the report itself is no longer what the child reported, and whoever
/// reads it is warned.
fn clean(redactor: &Redactor, result: &mut TaskResult) {
    let text = |text: &mut String| redactor.clean_in_place(text);
    let mut found = Vec::new();
    if result.output.as_mut().is_some_and(text) {
        found.push("output");
    }
    if let Some(structured) = &mut result.structured {
        structured.error.as_mut().map(text);
        let data = structured.data.as_mut();
        if data.is_some_and(|data| redactor.clean_value(data)) {
            found.push("data");
        }
    }
    if !found.is_empty() {
        let places = found.join(" and the ");
        result.warnings.push(format!(
            "keys were taken out of the {places}: each is `[key NAME]` now"
        ));
    }
    let outcome = &mut result.outcome;
    let words = outcome.reason.iter_mut().chain(&mut outcome.message);
    let words = words.chain(&mut result.warnings);
    // A provider's words stand here.
    let attempts = result.model.attempts.iter_mut();
    for text in words.chain(attempts.map(|attempt| &mut attempt.left)) {
        redactor.clean_in_place(text);
    }
}
