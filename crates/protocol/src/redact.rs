//! Keeping keys out of everything that is stored, logged, or shown.

use std::{
    borrow::Cow,
    ops::Range,
    sync::{PoisonError, RwLock, RwLockReadGuard},
};

use crate::Secrets;
use serde_json::{Map, Value};

/// Values shorter than this are no keys, and replacing them would tear ordinary text.
const SHORTEST: usize = 6;

/// Replaces every key value of a run by `[key NAME]`.
#[derive(Debug, Default)]
pub struct Redactor {
    /// What to find and what to put there; longest first, so that a key within a key is not left half shown.
    pairs: RwLock<Vec<(String, String)>>,
}

impl Redactor {
    /// A redactor for these values, as they are and as JSON writes them.
    pub fn new(secrets: &Secrets) -> Self {
        let redactor = Self::default();
        redactor.learn(secrets);
        redactor
    }

    /// Hears of further values.
    pub fn learn(&self, secrets: &Secrets) {
        let mut pairs = self.pairs.write().unwrap_or_else(PoisonError::into_inner);
        for (name, value) in secrets
            .hidden()
            .filter(|(_, value)| value.len() >= SHORTEST)
        {
            let shown = format!("[key {name}]");
            let quoted = Value::from(value).to_string();
            let quoted = &quoted[1..quoted.len() - 1];
            for form in [quoted, value] {
                if !pairs.iter().any(|(known, _)| known == form) {
                    pairs.push((form.to_owned(), shown.clone()));
                }
            }
        }
        pairs.sort_by_key(|(value, _)| std::cmp::Reverse(value.len()));
    }

    fn pairs(&self) -> RwLockReadGuard<'_, Vec<(String, String)>> {
        self.pairs.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// `text` without keys.
    pub fn clean<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        for (value, shown) in &*self.pairs() {
            if text.contains(value.as_str()) {
                text = Cow::Owned(text.replace(value.as_str(), shown));
            }
        }
        text
    }

    /// Takes the keys out of `text`. Says whether there were any.
    pub fn clean_in_place(&self, text: &mut String) -> bool {
        match self.clean(text) {
            Cow::Owned(cleaned) => {
                *text = cleaned;
                true
            }
            Cow::Borrowed(_) => false,
        }
    }

    /// Takes the keys out of a value, whose shape stays as it is; a number that holds one becomes text. Says whether
    /// there were any.
    pub fn clean_value(&self, value: &mut Value) -> bool {
        match value {
            Value::Null | Value::Bool(_) => false,
            Value::Number(number) => match self.clean(&number.to_string()) {
                Cow::Owned(cleaned) => {
                    *value = Value::String(cleaned);
                    true
                }
                Cow::Borrowed(_) => false,
            },
            Value::String(text) => self.clean_in_place(text),
            // Each of them is cleaned, whatever was found before it.
            Value::Array(items) => items
                .iter_mut()
                .fold(false, |found, item| self.clean_value(item) | found),
            Value::Object(fields) => {
                let mut found = false;
                let clean = |(mut name, mut value)| {
                    found |= self.clean_in_place(&mut name) | self.clean_value(&mut value);
                    (name, value)
                };
                *fields = std::mem::take(fields)
                    .into_iter()
                    .map(clean)
                    .collect::<Map<_, _>>();
                found
            }
        }
    }

    /// The length of the longest value, in bytes.
    pub fn longest(&self) -> usize {
        self.pairs().first().map_or(0, |(value, _)| value.len())
    }

    /// The bytes `part` of `whole` without keys. One that an end of the part cuts through is taken for whole, if
    /// [`longest`](Self::longest) bytes around the part are there.
    pub fn clean_part(&self, whole: &[u8], part: Range<usize>) -> Vec<u8> {
        let pairs = self.pairs();
        let mut found: Vec<(Range<usize>, &str)> = Vec::new();
        for (value, shown) in &*pairs {
            let places = whole
                .windows(value.len())
                .enumerate()
                .filter(|(_, window)| *window == value.as_bytes());
            for (start, _) in places {
                let place = start..start + value.len();
                let is_free = |other: &Range<usize>| !overlap(&place, other);
                if overlap(&place, &part) && found.iter().all(|(other, _)| is_free(other)) {
                    found.push((place, shown));
                }
            }
        }
        found.sort_by_key(|(place, _)| place.start);
        let mut clean = Vec::with_capacity(part.len());
        let mut from = part.start;
        for (place, shown) in found {
            clean.extend_from_slice(&whole[from..place.start.max(from)]);
            clean.extend_from_slice(shown.as_bytes());
            from = place.end.min(part.end);
        }
        clean.extend_from_slice(&whole[from..part.end]);
        clean
    }

    /// What stands in `new` for a key that `old` holds.
    pub fn stand_in(&self, old: &str, new: &str) -> Option<String> {
        let pairs = self.pairs();
        let lost = |(value, shown): &&(String, String)| {
            new.contains(shown.as_str()) && old.contains(value.as_str())
        };
        pairs.iter().find(lost).map(|(_, shown)| shown.clone())
    }

    /// The longest tail of `text` that may be the beginning of a key, in bytes.
    fn undecided(&self, text: &str) -> usize {
        self.pairs()
            .iter()
            .filter_map(|(value, _)| {
                let longest = (value.len() - 1).min(text.len());
                (1..=longest)
                    .rev()
                    .find(|&n| text.as_bytes().ends_with(&value.as_bytes()[..n]))
            })
            .max()
            .unwrap_or(0)
    }
}

/// Redacts a text that arrives in pieces, so that a key that lies across two is still found.
#[derive(Debug, Default)]
pub struct Stream {
    held: String,
}

impl Stream {
    /// What of the text so far can be written.
    pub fn push(&mut self, redactor: &Redactor, piece: &str) -> String {
        self.held.push_str(piece);
        let clean = redactor.clean(&self.held).into_owned();
        let keep = redactor.undecided(&clean);
        let cut = clean.floor_char_boundary(clean.len() - keep);
        clean[cut..].clone_into(&mut self.held);
        clean[..cut].to_owned()
    }

    /// The rest, when no more will come. What has begun like a key counts as one: whoever wrote it was cut off.
    pub fn finish(&mut self, redactor: &Redactor) -> String {
        let mut rest = redactor.clean(&std::mem::take(&mut self.held)).into_owned();
        let begun = redactor.undecided(&rest);
        if begun >= SHORTEST {
            let key = rest.split_off(rest.ceil_char_boundary(rest.len() - begun));
            let pairs = redactor.pairs();
            let shown = pairs.iter().find(|(value, _)| value.starts_with(&key));
            rest.extend(shown.map(|(_, shown)| shown.as_str()));
        }
        rest
    }
}

fn overlap(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.start < b.end && b.start < a.end
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn redactor() -> Redactor {
        let mut secrets = Secrets::default();
        secrets.insert("A_KEY", "sk-12345678");
        secrets.insert("B_KEY", "sk-12345678-long");
        secrets.insert("QUOTED", "with\"quote");
        secrets.insert("SHORT", "on");
        Redactor::new(&secrets)
    }

    #[test]
    fn keys_become_their_names() {
        let redactor = redactor();
        assert_eq!(
            redactor.clean("on sk-12345678-long, sk-12345678."),
            "on [key B_KEY], [key A_KEY]."
        );
        assert_eq!(
            redactor.clean(r#"{"a":"with\"quote"}"#),
            r#"{"a":"[key QUOTED]"}"#
        );
        assert!(matches!(redactor.clean("nothing here"), Cow::Borrowed(_)));
    }

    #[test]
    fn what_is_handed_out_and_is_no_secret_stays() {
        let mut secrets = Secrets::default();
        secrets.insert_plain("local.apiKey", "ollama");
        assert_eq!(Redactor::new(&secrets).clean("use ollama"), "use ollama");
    }

    #[test]
    fn a_value_keeps_its_shape() {
        let mut secrets = Secrets::default();
        secrets.insert("PIN", "123456");
        secrets.insert("QUOTED", "with\"quote");
        let redactor = Redactor::new(&secrets);
        let mut value = json!({"n": [7, 1_234_567], "with\"quote": {"a": "is 123456", "b": null}});
        assert!(redactor.clean_value(&mut value));
        let clean =
            json!({"n": [7, "[key PIN]7"], "[key QUOTED]": {"a": "is [key PIN]", "b": null}});
        assert_eq!(value, clean);
        assert!(!redactor.clean_value(&mut value));
    }

    #[test]
    fn a_part_shows_no_piece_of_a_key() {
        let redactor = redactor();
        let whole = "a sk-12345678-long b sk-12345678 c".as_bytes();
        for start in 0..whole.len() {
            for end in start..=whole.len() {
                let part = String::from_utf8(redactor.clean_part(whole, start..end)).unwrap();
                for piece in ["sk-", "1234", "5678", "-long"] {
                    assert!(!part.contains(piece), "{start}..{end}: {part}");
                }
            }
        }
        assert_eq!(
            redactor.clean_part(whole, 0..whole.len()),
            b"a [key B_KEY] b [key A_KEY] c"
        );
        assert_eq!(redactor.clean_part(whole, 5..19), b"[key B_KEY] ");
        assert_eq!(redactor.clean_part(b"nothing", 2..4), b"th");
        assert_eq!(Redactor::default().clean_part(b"nothing", 2..4), b"th");
    }

    #[test]
    fn a_key_that_was_cut_off_at_the_end_is_one() {
        let redactor = redactor();
        let end = |text: &str| {
            let mut stream = Stream::default();
            stream.push(&redactor, text) + &stream.finish(&redactor)
        };
        assert_eq!(end("is sk-12345"), "is [key B_KEY]");
        assert_eq!(end("yes"), "yes");
    }

    #[test]
    fn what_stands_for_a_key_is_known() {
        let redactor = redactor();
        let shown = redactor.stand_in("a=sk-12345678\n", "a=[key A_KEY]\n");
        assert_eq!(shown.as_deref(), Some("[key A_KEY]"));
        assert_eq!(redactor.stand_in("a=\n", "a=[key A_KEY]\n"), None);
    }

    proptest! {
        #[test]
        fn no_cut_lets_a_key_through(before in "[a-z s]{0,12}", after in "[a-z k]{0,12}", cuts in prop::collection::vec(1_usize..6, 1..40)) {
            let redactor = redactor();
            let text = format!("{before}sk-12345678-long{after}sk-12345678");
            let mut rest = text.as_str();
            let mut stream = Stream::default();
            let mut out = String::new();
            for cut in cuts.into_iter().cycle() {
                if rest.is_empty() {
                    break;
                }
                let (piece, tail) = rest.split_at(cut.min(rest.len()));
                out.push_str(&stream.push(&redactor, piece));
                rest = tail;
            }
            out.push_str(&stream.finish(&redactor));
            prop_assert!(!out.contains("sk-12345678"), "{out}");
            prop_assert!(out.starts_with(&before) && out.contains(&after));
        }
    }
}
