//! A child's progress without keys.
//!
//! Text arrives in pieces of any size, so a key may lie across several: what may be the beginning of one is held back
//! until it is known.

use sortie_protocol::EventKind;

use crate::store::{Redactor, Stream};

/// The progress of one child.
#[derive(Debug, Default)]
pub(super) struct Progress {
    text: Stream,
    thought: Stream,
}

impl Progress {
    /// What may be shown now that `kind` came.
    pub(super) fn push(&mut self, redactor: &Redactor, kind: EventKind) -> Vec<EventKind> {
        let mut shown = Vec::new();
        match kind {
            EventKind::Streaming => shown.push(kind),
            EventKind::Text { text } => {
                shown.extend(thought(self.thought.finish(redactor)));
                shown.extend(said(self.text.push(redactor, &text)));
            }
            EventKind::Thought { text } => {
                shown.extend(said(self.text.finish(redactor)));
                shown.extend(thought(self.thought.push(redactor, &text)));
            }
            other => {
                shown = self.finish(redactor);
                shown.push(cleaned(other, redactor));
            }
        }
        shown
    }

    /// What was held back, when the text is over.
    pub(super) fn finish(&mut self, redactor: &Redactor) -> Vec<EventKind> {
        let thought = thought(self.thought.finish(redactor));
        let said = said(self.text.finish(redactor));
        thought.into_iter().chain(said).collect()
    }
}

fn said(text: String) -> Option<EventKind> {
    (!text.is_empty()).then_some(EventKind::Text { text })
}

fn thought(text: String) -> Option<EventKind> {
    (!text.is_empty()).then_some(EventKind::Thought { text })
}

/// An event that comes whole.
fn cleaned(mut kind: EventKind, redactor: &Redactor) -> EventKind {
    let texts: &mut [&mut String] = match &mut kind {
        EventKind::Text { text } | EventKind::Thought { text } | EventKind::Notice { text } => {
            &mut [text]
        }
        EventKind::ToolStarted { call, tool, detail } => &mut [call, tool, detail],
        EventKind::ToolEnded { call, tool, .. } => &mut [call, tool],
        EventKind::RetryWait { why, .. } => &mut [why],
        EventKind::Switch { from, to, why } => &mut [from, to, why],
        EventKind::Section { label } => &mut [label],
        EventKind::Streaming | EventKind::Reminder { .. } => &mut [],
    };
    for text in texts {
        redactor.clean_in_place(text);
    }
    kind
}

#[cfg(test)]
mod tests {
    use sortie_protocol::Secrets;

    use super::*;

    fn redactor() -> Redactor {
        let mut secrets = Secrets::default();
        secrets.insert("A_KEY", "sk-12345678");
        Redactor::new(&secrets)
    }

    fn text(text: &str) -> EventKind {
        EventKind::Text { text: text.into() }
    }

    #[test]
    fn a_key_that_comes_in_pieces_is_never_shown() {
        let (redactor, mut progress) = (redactor(), Progress::default());
        let mut shown = Vec::new();
        for piece in ["the key is s", "k-1", "2345", "678, and", " s"] {
            shown.extend(progress.push(&redactor, text(piece)));
        }
        shown.extend(progress.finish(&redactor));
        let shown: String = shown
            .into_iter()
            .map(|kind| match kind {
                EventKind::Text { text } => text,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(shown, "the key is [key A_KEY], and s");
    }

    #[test]
    fn what_was_held_back_comes_before_what_follows_it() {
        let (redactor, mut progress) = (redactor(), Progress::default());
        assert_eq!(progress.push(&redactor, text("yes")), [text("ye")]);
        let thought = EventKind::Thought { text: "hm".into() };
        assert_eq!(
            progress.push(&redactor, thought.clone()),
            [text("s"), thought]
        );
        assert_eq!(progress.finish(&redactor), []);
        progress.push(&redactor, text("sk"));
        let reminder = EventKind::Reminder { n: 1 };
        assert_eq!(
            progress.push(&redactor, reminder.clone()),
            [text("sk"), reminder]
        );
    }
}
