//! From how a child ended to what its caller is told. Pure.

use sortie_protocol::{
    BudgetKind, Clocks, Ending, Outcome, OutcomeKind, PlannedSchema, Report, Structured,
    StructuredStatus,
};

use crate::{
    launch::Exit,
    lifecycle::{HELLO, StopReason},
};

/// Everything that is known of a child's end.
#[derive(Debug)]
pub(crate) struct End<'a> {
    /// Its last words, if it had any.
    pub(crate) report: Option<&'a Report>,
    /// Why we stopped it, if we did.
    pub(crate) stopped: Option<StopReason>,
    /// How the process ended.
    pub(crate) exit: Exit,
    /// The end of its standard error.
    pub(crate) stderr: &'a str,
    /// What came in place of messages, if anything did.
    pub(crate) stray: Option<&'a str>,
    /// How the wire broke, if it did. `None` after all that is that it said nothing.
    pub(crate) broke: Option<&'a str>,
    /// How long its clocks were set.
    pub(crate) clocks: &'a Clocks,
}

/// How the task ended. A report that stands is never taken back by what came after it.
pub(crate) fn outcome(end: &End<'_>) -> Outcome {
    let Some(report) = end.report else {
        return without_report(end);
    };
    match (&report.ending, end.stopped) {
        (Ending::Yielded { .. }, _) => Outcome::completed(),
        (Ending::GaveUp { error }, _) => {
            Outcome::new(OutcomeKind::GaveUp, "gave_up", error.as_str())
        }
        (Ending::SchemaViolation { tries, faults }, _) => Outcome::new(
            OutcomeKind::SchemaViolation,
            "schema_violation",
            format!(
                "no result fitted the schema in {tries} tries: {}",
                faults.join("; ")
            ),
        ),
        (_, Some(stopped)) => by_us(stopped, end),
        (Ending::Cancelled, None) => {
            Outcome::new(OutcomeKind::Cancelled, "cancelled", "the child was stopped")
        }
        (Ending::Budget { budget }, None) => budget_outcome(*budget),
        (Ending::Incomplete { message }, None) => {
            Outcome::new(OutcomeKind::Incomplete, "no_report", message.as_str())
        }
        (Ending::Failed { reason, message }, None) => {
            Outcome::new(OutcomeKind::Failed, reason.as_str(), message.as_str())
        }
    }
}

/// What is worth telling beside the outcome.
pub(crate) fn warnings(end: &End<'_>) -> Vec<String> {
    let mut warnings = Vec::new();
    if let Some(report) = end.report {
        warnings.extend(report.warnings.iter().cloned());
        if let Ending::Yielded { tries, faults } = &report.ending
            && *tries > 1
            && faults.is_empty()
        {
            warnings.push(format!("the result fitted the schema on try {tries}"));
        }
        if let Ending::Yielded { faults, .. } = &report.ending
            && !faults.is_empty()
        {
            warnings.push(format!(
                "the result does not fit the schema: {}",
                faults.join("; ")
            ));
        }
        if end.stopped.is_none() && end.exit != Exit::Code(0) {
            let tail = end.stderr.trim();
            let said = if tail.is_empty() {
                String::new()
            } else {
                format!(": {tail}")
            };
            warnings.push(format!(
                "the process ended with {} after its report{said}",
                end.exit
            ));
        }
        if let Some(stray) = end.stray {
            warnings.push(format!("the process wrote what is no message: {stray}"));
        }
    }
    warnings
}

fn without_report(end: &End<'_>) -> Outcome {
    if let Some(stopped) = end.stopped {
        return by_us(stopped, end);
    }
    let (reason, how) = match end.exit {
        Exit::Code(0) => (
            "no_report".to_owned(),
            "the process ended without a report".to_owned(),
        ),
        Exit::Code(code) => (
            format!("exit_{code}"),
            format!("the process ended with {}", end.exit),
        ),
        Exit::Signal(_) => (
            end.exit.to_string(),
            format!("the process was ended by {}", end.exit),
        ),
    };
    Outcome::new(OutcomeKind::Crashed, reason, with_evidence(how, end))
}

fn by_us(stopped: StopReason, end: &End<'_>) -> Outcome {
    match stopped {
        StopReason::Cancelled => {
            Outcome::new(OutcomeKind::Cancelled, "cancelled", "it was stopped")
        }
        StopReason::Clock(clock) => {
            let limit = match clock {
                sortie_protocol::Clock::FirstActivity => end.clocks.first_activity_ms,
                sortie_protocol::Clock::Idle => end.clocks.idle_ms,
                sortie_protocol::Clock::Total => end.clocks.total_ms,
            };
            let what = match clock {
                sortie_protocol::Clock::FirstActivity => "no answer began within",
                sortie_protocol::Clock::Idle => "the model fell silent in its answer for",
                sortie_protocol::Clock::Total => "it was not done within",
            };
            let message = format!("{what} {limit} ms (`{}`)", clock.setting());
            Outcome::new(OutcomeKind::TimedOut, clock.as_str(), message)
        }
        StopReason::Wire => {
            let how = match end.broke {
                Some(how) => format!("the process does not speak the wire: {how}"),
                None => format!("the process did not say hello within {} s", HELLO.as_secs()),
            };
            Outcome::new(OutcomeKind::Crashed, "wire", with_evidence(how, end))
        }
        StopReason::Unsendable => Outcome::new(
            OutcomeKind::Failed,
            "too_long",
            format!(
                "it could not be told what to do: {}",
                end.broke.unwrap_or_default()
            ),
        ),
        StopReason::Store => Outcome::new(
            OutcomeKind::Failed,
            "store",
            "what it does could not be stored",
        ),
    }
}

fn budget_outcome(budget: BudgetKind) -> Outcome {
    let message = format!("its budget was used up (`task.budget.{}`)", budget.as_str());
    Outcome::new(OutcomeKind::Budget, budget.as_str(), message)
}

fn with_evidence(mut message: String, end: &End<'_>) -> String {
    if let Some(stray) = end.stray {
        message = format!("{message}; it wrote what is no message: {stray}");
    }
    let tail = end.stderr.trim();
    if !tail.is_empty() {
        message = format!("{message}; its last words: {tail}");
    }
    message
}

/// The result as text: what was handed in, or everything that can be saved of it.
pub(crate) fn output(report: Option<&Report>) -> Option<String> {
    let report = report?;
    let whole = report
        .text
        .clone()
        .or_else(|| report.data.as_ref().map(pretty));
    let is_result = matches!(report.ending, Ending::Yielded { .. });
    if is_result && whole.is_some() {
        return whole;
    }
    let sections = report
        .sections
        .iter()
        .map(|part| format!("## {}\n\n{}", part.label, pretty(&part.data)));
    let mut parts: Vec<_> = whole.into_iter().chain(sections).collect();
    // What was said after the parts belongs to a result only where there is no other.
    if !is_result || parts.is_empty() {
        parts.extend(
            report
                .last_text
                .clone()
                .filter(|text| !parts.contains(text)),
        );
    }
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}

fn pretty(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => text.clone(),
        // A value always prints.
        _ => serde_json::to_string_pretty(value).unwrap_or_default(),
    }
}

/// The result as data, when a schema was asked for.
pub(crate) fn structured(
    report: Option<&Report>,
    schema: Option<&PlannedSchema>,
) -> Option<Structured> {
    let schema = schema?;
    let data = report.and_then(|report| report.data.clone());
    let faults: &[String] = match report.map(|report| &report.ending) {
        Some(Ending::Yielded { faults, .. } | Ending::SchemaViolation { faults, .. }) => faults,
        _ => &[],
    };
    let accepted = report.is_some_and(|report| matches!(report.ending, Ending::Yielded { .. }));
    let status = match (&data, faults.is_empty()) {
        (None, _) => StructuredStatus::Unavailable,
        (Some(_), true) if accepted => StructuredStatus::Valid,
        (Some(_), _) => StructuredStatus::Invalid,
    };
    let error = (!faults.is_empty()).then(|| faults.join("; "));
    Some(Structured {
        source: schema.source,
        mode: schema.mode,
        status,
        data,
        error,
    })
}

#[cfg(test)]
#[path = "conclude_tests.rs"]
mod tests;
