//! Bare words for families of models: `opus`, `sonnet`, `haiku`.

use sortie_config::Models;
use sortie_protocol::EffortWord;

use crate::lookup;

/// A family, and the role that stands in for it where no model of it can be used.
#[derive(Debug)]
pub(crate) struct Family {
    word: &'static str,
    pub role: &'static str,
}

const FAMILIES: [Family; 4] = [
    Family {
        word: "haiku",
        role: "smol",
    },
    Family {
        word: "sonnet",
        role: "task",
    },
    Family {
        word: "opus",
        role: "slow",
    },
    Family {
        word: "fable",
        role: "slow",
    },
];

/// The family of this name.
pub(crate) fn find(word: &str) -> Option<&'static Family> {
    FAMILIES
        .iter()
        .find(|family| family.word.eq_ignore_ascii_case(word))
}

/// A word, and the level behind it.
pub(crate) fn split(piece: &str) -> (&str, Option<EffortWord>) {
    match piece.rsplit_once(':') {
        Some((word, level)) => match level.parse() {
            Ok(level) => (word, Some(level)),
            Err(_) => (piece, None),
        },
        None => (piece, None),
    }
}

impl Family {
    /// The selector of its newest model, by the numbers in its name, among those that can be used. A name with a date
    /// in it is a copy of one without.
    pub(crate) fn newest(&self, models: &Models) -> Option<String> {
        models
            .iter()
            .filter(|(provider, model)| {
                model.id.to_lowercase().contains(self.word)
                    && version(&model.id).is_some()
                    && lookup::hindrance(models, provider).is_none()
            })
            // The first of equals: the catalogue's own order.
            .rev_max_by(|(_, model)| version(&model.id))
            .map(|(provider, model)| lookup::selector(provider, model))
    }
}

/// The numbers in a name, or `None` for one with a date.
fn version(id: &str) -> Option<Vec<u64>> {
    id.split(|c: char| !c.is_ascii_digit())
        .filter(|digits| !digits.is_empty())
        .map(|digits| {
            if digits.len() < 6 {
                digits.parse().ok()
            } else {
                None
            }
        })
        .collect()
}

/// The first of the greatest, where the standard library gives the last.
trait RevMaxBy: Iterator + Sized {
    fn rev_max_by<K: Ord>(self, key: impl Fn(&Self::Item) -> K) -> Option<Self::Item> {
        self.fold(None, |best: Option<Self::Item>, item| match best {
            Some(best) if key(&best) >= key(&item) => Some(best),
            _ => Some(item),
        })
    }
}

impl<I: Iterator> RevMaxBy for I {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_by_number_and_dates_do_not_count() {
        assert!(version("claude-opus-5") > version("claude-opus-4-8"));
        assert!(version("claude-opus-4.10") > version("claude-opus-4.9"));
        assert_eq!(version("claude-opus-4-20250514"), None);
    }

    #[test]
    fn a_level_behind_a_word_is_split_off() {
        assert_eq!(split("opus:off"), ("opus", Some(EffortWord::Off)));
        assert_eq!(split("qwen3:8b"), ("qwen3:8b", None));
        assert!(find("Sonnet").is_some() && find("sonnets").is_none());
    }
}
