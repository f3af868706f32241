//! A problem with no more of its source than a person reads: a batch that a program wrote is one line, however long.

use std::{fmt, ops::Range};

use miette::{
    Diagnostic, LabeledSpan, MietteError, MietteSpanContents, Severity, SourceCode, SourceSpan,
    SpanContents,
};
use sortie_config::Problem;

use super::text::without_controls;

/// How much of a line is shown.
const WIDTH: usize = 100;
/// How much of that may stand before the fault, where the line goes on behind it.
const BEFORE: usize = 40;
/// How much of a message is shown: one may list every name that there is.
const LONGEST: usize = 2_000;

/// A problem as it is shown.
#[derive(Debug)]
pub(super) struct Shown {
    message: String,
    help: Option<String>,
    severity: Severity,
    excerpt: Option<Excerpt>,
}

/// The line of the fault, between its neighbours.
#[derive(Debug)]
struct Excerpt {
    path: String,
    text: String,
    /// The fault within `text`.
    span: Range<usize>,
    label: String,
    /// How many lines stand before `text`.
    lines_before: usize,
    /// The column of the fault in the whole line, from 0.
    column: usize,
}

impl Shown {
    /// `problem`, cut to what is shown of it.
    pub(super) fn of(problem: &Problem) -> Self {
        Self {
            message: clipped(&problem.to_string(), LONGEST),
            help: problem.advice().map(|help| clipped(help, LONGEST)),
            severity: Diagnostic::severity(problem).unwrap_or(Severity::Error),
            excerpt: Excerpt::of(problem),
        }
    }
}

impl Excerpt {
    fn of(problem: &Problem) -> Option<Self> {
        let (source, span) = problem.place()?;
        let (line, column) = problem.position()?;
        let text = source.text();
        let start = text.floor_char_boundary(span.start);
        let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |at| start + at);
        // Where a fault begins is what is worth knowing of one that goes over many lines.
        let end = text.floor_char_boundary(span.end).clamp(start, line_end);

        let mut shown = String::new();
        let above = text[..line_start].strip_suffix('\n');
        if let Some(above) = above.map(|text| text.rsplit('\n').next().unwrap_or_default()) {
            shown.push_str(&clipped(above, WIDTH));
            shown.push('\n');
        }
        let window = window(&text[line_start..line_end], start - line_start);
        let window = line_start + window.start..line_start + window.end;
        if window.start > line_start {
            shown.push('…');
        }
        shown.push_str(&without_controls(&text[window.start..start]));
        let begin = shown.len();
        let end = end.min(window.end);
        shown.push_str(&without_controls(&text[start..end]));
        let span = begin..shown.len();
        shown.push_str(&without_controls(&text[end..window.end]));
        if window.end < line_end {
            shown.push('…');
        }
        if let Some(below) = text[line_end..].strip_prefix('\n') {
            shown.push('\n');
            shown.push_str(&clipped(
                below.split('\n').next().unwrap_or_default(),
                WIDTH,
            ));
        }
        let line = usize::try_from(line).unwrap_or(1);
        Some(Self {
            path: without_controls(&source.path().display().to_string()).into_owned(),
            text: shown,
            span,
            label: clipped(problem.words(), WIDTH),
            lines_before: line - 1 - usize::from(above.is_some()),
            column: usize::try_from(column).unwrap_or(1) - 1,
        })
    }
}

/// The part of `line` that is shown when something at byte `at` is wrong.
fn window(line: &str, at: usize) -> Range<usize> {
    let forth = |most: usize| {
        let mut rest = line[at..].char_indices().skip(most);
        rest.next().map_or(line.len(), |(end, _)| at + end)
    };
    let back = |most: usize| {
        let before = line[..at].char_indices().rev().take(most);
        before.last().map_or(at, |(start, _)| start)
    };
    let columns = |range: Range<usize>| line[range].chars().count();
    let mut end = forth(WIDTH - BEFORE);
    let start = back(WIDTH - columns(at..end));
    end = forth(WIDTH - columns(start..at)).max(end);
    start..end
}

/// The beginning of `text`, safe to show.
fn clipped(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => without_controls(&text[..end]).into_owned() + "…",
        None => without_controls(text).into_owned(),
    }
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Shown {}

impl Diagnostic for Shown {
    fn severity(&self) -> Option<Severity> {
        Some(self.severity)
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        let help = self.help.as_ref()?;
        Some(Box::new(help))
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        let excerpt = self.excerpt.as_ref()?;
        Some(excerpt)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let Excerpt { label, span, .. } = self.excerpt.as_ref()?;
        let label = LabeledSpan::new(Some(label.clone()), span.start, span.len());
        Some(Box::new(std::iter::once(label)))
    }
}

impl SourceCode for Excerpt {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let inner = self.text.read_span(span, before, after)?;
        // Without lines before it is the place that is asked for, which the head of a report names.
        let column = if before == 0 { self.column } else { 0 };
        Ok(Box::new(MietteSpanContents::new_named(
            self.path.clone(),
            inner.data(),
            *inner.span(),
            inner.line() + self.lines_before,
            column,
            inner.line_count(),
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_never_wider_than_it_may_be_and_never_misses_its_fault() {
        let line = "é".repeat(1_000);
        for at in [0, 10, 30, 60, 500, 950, 999, 1_000] {
            let window = window(&line, at * 2);
            assert_eq!(line[window.clone()].chars().count(), WIDTH, "at {at}");
            assert!(window.start <= at * 2 && at * 2 <= window.end);
        }
        let short = "é".repeat(WIDTH);
        for at in 0..=WIDTH {
            assert_eq!(window(&short, at * 2), 0..short.len());
        }
    }
}
