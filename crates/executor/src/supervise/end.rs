//! Putting a result together, and storing it.

use serde_json::Value;
use sortie_protocol::{Outcome, OutcomeKind, TaskResult};

use super::child::Supervisor;
use crate::{
    conclude::{self, End},
    dispatch::joined,
    error::chain,
    family::Family,
    launch::Exit,
    store::StoreError,
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
    let redactor = family.store.redactor();
    let clean = |text: &mut String| redactor.clean_in_place(text);
    result.warnings.iter_mut().for_each(clean);
    result.outcome.reason.iter_mut().for_each(clean);
    result.outcome.message.iter_mut().for_each(clean);
    // A provider's words stand here.
    let attempts = result.model.attempts.iter_mut();
    attempts.for_each(|attempt| clean(&mut attempt.left));
    if let Some(output) = &mut result.output {
        clean(output);
        let path = family.store.path(&format!("{}.md", result.id));
        family.store.write_whole(&path, output)?;
        result.artifacts.output = Some(path);
    }
    if let Some(structured) = &mut result.structured {
        structured.error.iter_mut().for_each(clean);
        if let Some(data) = &mut structured.data {
            let text = data.to_string();
            if let std::borrow::Cow::Owned(cleaned) = redactor.clean(&text) {
                *data = serde_json::from_str(&cleaned).unwrap_or(Value::String(cleaned));
            }
            family
                .store
                .write_json(&family.store.path(&format!("{}.json", result.id)), data)?;
        }
    }
    Ok(())
}
