//! Faults in what a person wrote: what, where, and what to do.

use std::{
    fmt,
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
};

use miette::{Diagnostic, LabeledSpan, SourceCode};
use sortie_protocol::{ProblemRow, Severity};

/// A text that a person wrote, and where it came from. Cheap to clone.
#[derive(Clone, PartialEq, Eq)]
pub struct Source(Arc<Inner>);

#[derive(PartialEq, Eq)]
struct Inner {
    path: PathBuf,
    text: String,
}

impl Source {
    /// `text`, which was read from `path`. The path is shown as it is given here.
    pub fn new(path: impl Into<PathBuf>, text: impl Into<String>) -> Self {
        Self(Arc::new(Inner {
            path: path.into(),
            text: text.into(),
        }))
    }

    /// Where it came from.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// All of it.
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// The line and the column (both from 1, columns in characters) of a byte.
    pub fn position(&self, byte: usize) -> (u64, u64) {
        let before = &self.text()[..self.text().floor_char_boundary(byte)];
        let line = before.bytes().filter(|&b| b == b'\n').count() + 1;
        let column = before
            .rsplit('\n')
            .next()
            .unwrap_or_default()
            .chars()
            .count()
            + 1;
        (line as u64, column as u64)
    }
}

/// The path alone: a text is long, and may hold a key.
impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Source").field(&self.path()).finish()
    }
}

/// One fault. Shown as a miette report to people, and as a [`ProblemRow`] in JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem(Box<Fault>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Fault {
    severity: Severity,
    message: String,
    help: Option<String>,
    path: Option<PathBuf>,
    place: Option<(Source, Range<usize>)>,
    label: Option<String>,
}

impl Problem {
    /// A fault that makes the thing unusable.
    pub fn error(message: impl Into<String>) -> Self {
        Self::new(Severity::Error, message)
    }

    /// A fault that its author should know of, although the thing is used.
    pub fn warning(message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, message)
    }

    /// Something worth knowing.
    pub fn note(message: impl Into<String>) -> Self {
        Self::new(Severity::Note, message)
    }

    fn new(severity: Severity, message: impl Into<String>) -> Self {
        Self(Box::new(Fault {
            severity,
            message: message.into(),
            help: None,
            path: None,
            place: None,
            label: None,
        }))
    }

    /// Says what it is about, in front of the message: which of several tasks, for one.
    #[must_use]
    pub fn about(mut self, subject: &str) -> Self {
        self.0.message = format!("{subject}: {}", self.0.message);
        self
    }

    /// Says it in other words, of the same place and with the same advice.
    #[must_use]
    pub fn says(mut self, message: impl Into<String>) -> Self {
        self.0.message = message.into();
        self
    }

    /// Says where in `source` it is.
    #[must_use]
    pub fn at(mut self, source: &Source, span: Range<usize>) -> Self {
        self.0.path = Some(source.path().to_owned());
        self.0.place = Some((source.clone(), span));
        self
    }

    /// The same as a warning, where `so` adds what was done instead.
    #[must_use]
    pub(crate) fn into_warning(mut self, so: &str) -> Self {
        self.0.severity = Severity::Warning;
        self.0.message.push_str(so);
        self
    }

    /// Shows `source` in place of the text it is in, which has the same lines: one without what must not be shown.
    #[must_use]
    pub(crate) fn shown_in(mut self, source: &Source) -> Self {
        if let Some((shown, _)) = &mut self.0.place {
            *shown = source.clone();
        }
        self
    }

    /// Says which file it is about, when no place in it can be named.
    #[must_use]
    pub fn in_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.0.path = Some(path.into());
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.0.help = Some(help.into());
        self
    }

    /// Puts words under the place, where the message alone would not fit it.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.0.label = Some(label.into());
        self
    }

    /// How bad it is.
    pub fn severity(&self) -> Severity {
        self.0.severity
    }

    /// Whether the thing cannot be used.
    pub fn is_error(&self) -> bool {
        self.0.severity == Severity::Error
    }

    /// What is wrong.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// What to do.
    pub fn advice(&self) -> Option<&str> {
        self.0.help.as_deref()
    }

    /// The file.
    pub fn path(&self) -> Option<&Path> {
        self.0.path.as_deref()
    }

    /// The line and the column, from 1.
    pub fn position(&self) -> Option<(u64, u64)> {
        self.0
            .place
            .as_ref()
            .map(|(source, span)| source.position(span.start))
    }

    /// The text that it is in, and where in it.
    pub fn place(&self) -> Option<(&Source, Range<usize>)> {
        let (source, span) = self.0.place.as_ref()?;
        Some((source, span.clone()))
    }

    /// The words under the place.
    pub fn words(&self) -> &str {
        self.0.label.as_deref().unwrap_or("here")
    }

    /// `FILE:LINE`, as far as it is known: for a message inside another.
    pub fn whereabouts(&self) -> Option<String> {
        let path = self.path()?.display();
        Some(match self.position() {
            Some((line, _)) => format!("{path}:{line}"),
            None => path.to_string(),
        })
    }

    /// As JSON listings show it.
    pub fn row(&self) -> ProblemRow {
        let (line, column) = self.position().unzip();
        ProblemRow {
            path: self.0.path.clone(),
            line,
            column,
            severity: self.0.severity,
            message: self.0.message.clone(),
            help: self.0.help.clone(),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A report with a snippet shows the path above it; one without has only this line.
        match (&self.0.place, &self.0.path) {
            (None, Some(path)) => write!(f, "{}: {}", path.display(), self.0.message),
            _ => f.write_str(&self.0.message),
        }
    }
}

impl std::error::Error for Problem {}

impl Diagnostic for Problem {
    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.0.severity {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
            Severity::Note => miette::Severity::Advice,
        })
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.0
            .help
            .as_ref()
            .map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.0
            .place
            .as_ref()
            .map(|(source, _)| source as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let (_, span) = self.0.place.as_ref()?;
        Some(Box::new(std::iter::once(LabeledSpan::new(
            Some(self.words().to_owned()),
            span.start,
            span.len(),
        ))))
    }
}

impl SourceCode for Source {
    fn read_span<'a>(
        &'a self,
        span: &miette::SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn miette::SpanContents<'a> + 'a>, miette::MietteError> {
        let inner = self.text().read_span(span, before, after)?;
        Ok(Box::new(miette::MietteSpanContents::new_named(
            self.path().display().to_string(),
            inner.data(),
            *inner.span(),
            inner.line(),
            inner.column(),
            inner.line_count(),
        )))
    }
}

/// The known word nearest to `word`, when one is near enough to be what was meant.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |text: &str| {
        text.chars()
            .filter(|c| c.is_alphanumeric())
            .flat_map(char::to_lowercase)
            .collect::<String>()
    };
    let wanted = plain(word);
    known
        .into_iter()
        .map(|candidate| (strsim::osa_distance(&wanted, &plain(candidate)), candidate))
        .filter(|&(distance, candidate)| {
            distance <= 1.max(candidate.chars().count().min(word.chars().count()) / 3)
        })
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_ignores_case_and_separators() {
        let known = ["read", "grep", "code-linter", "maxConcurrency"];
        assert_eq!(nearest("grpe", known), Some("grep"));
        assert_eq!(nearest("CODE_LINTER", known), Some("code-linter"));
        assert_eq!(nearest("max-concurency", known), Some("maxConcurrency"));
        assert_eq!(nearest("banana", known), None);
    }

    #[test]
    fn positions_count_characters() {
        let source = Source::new("a.yml", "é: x\nüü: y\n");
        assert_eq!(source.position(0), (1, 1));
        assert_eq!(source.position("é: x\nüü".len()), (2, 3));
        assert_eq!(source.position(9999), (3, 1));
    }
}
