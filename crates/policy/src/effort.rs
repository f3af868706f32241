//! How hard a model thinks.

use sortie_config::{Model, Settings};
use sortie_protocol::{Effort, EffortHint, EffortWord, Thinking};

/// Who says how hard, strongest first.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wish {
    /// The task's hint.
    pub hint: Option<EffortHint>,
    /// The level of the selector.
    pub selector: Option<EffortWord>,
    /// The agent's file.
    pub file: Option<EffortWord>,
    /// The level of the caller, of whom the model was inherited.
    pub inherited: Option<Thinking>,
    /// The level of the caller, for the word `inherit`.
    pub caller: Option<Thinking>,
}

/// A level, and who said it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Level {
    /// What is asked of the model; `None`: it has no levels.
    pub thinking: Option<Thinking>,
    /// Who decided.
    pub by: By,
}

/// Who decided a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    Hint,
    Selector,
    File,
    Caller,
    Model,
    Setting,
    Nobody,
}

/// A model that cannot think as little as `task.maxEffort` wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AboveCeiling {
    pub lowest: Effort,
}

/// The level that `model` is asked for: the strongest wish, and then the highest of the model's own levels at or under
/// both the wish and `task.maxEffort`. A wish under all of them is the lowest.
pub(crate) fn level(settings: &Settings, model: &Model, wish: Wish) -> Result<Level, AboveCeiling> {
    let (Some(&lowest), Some(&highest)) = (model.efforts.iter().min(), model.efforts.iter().max())
    else {
        return Ok(Level {
            thinking: None,
            by: By::Nobody,
        });
    };
    let (asked, by) = asked(settings, model, wish);
    let Thinking::Level(asked) = asked else {
        return Ok(Level {
            thinking: Some(Thinking::Off),
            by,
        });
    };
    let ceiling = settings.task_max_effort.value;
    if lowest > ceiling {
        return Err(AboveCeiling { lowest });
    }
    let most = asked.min(ceiling).min(highest);
    let fitting = model
        .efforts
        .iter()
        .copied()
        .filter(|&level| level <= most)
        .max();
    Ok(Level {
        thinking: Some(Thinking::Level(fitting.unwrap_or(lowest))),
        by,
    })
}

fn asked(settings: &Settings, model: &Model, wish: Wish) -> (Thinking, By) {
    let own = || match model.default_effort {
        Some(level) => (Thinking::Level(level), By::Model),
        None => (settings.default_thinking_level.value, By::Setting),
    };
    if let Some(hint) = wish.hint {
        let mut levels = model.efforts.clone();
        levels.sort_unstable();
        let last = levels.len() - 1;
        let place = match hint {
            EffortHint::Lo => 0,
            EffortHint::Med => last / 2,
            EffortHint::Hi => last,
        };
        return (Thinking::Level(levels[place]), By::Hint);
    }
    let said = [(wish.selector, By::Selector), (wish.file, By::File)];
    for (word, by) in said {
        match word {
            Some(EffortWord::Off) => return (Thinking::Off, by),
            Some(EffortWord::Level(level)) => return (Thinking::Level(level), by),
            Some(EffortWord::Auto) => return (own().0, by),
            Some(EffortWord::Inherit) => {
                if let Some(level) = wish.caller {
                    return (level, by);
                }
            }
            None => {}
        }
    }
    match wish.inherited {
        Some(level) => (level, By::Caller),
        None => own(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use sortie_protocol::Effort::{High, Low, Max, Medium, Minimal, Xhigh};

    use super::*;

    fn model(levels: &[Effort]) -> Model {
        let mut model = Model::new("m");
        model.efforts = levels.to_vec();
        model
    }

    fn sent(levels: &[Effort], ceiling: Effort, wish: Wish) -> Option<Thinking> {
        let mut settings = Settings::default();
        settings.task_max_effort.value = ceiling;
        level(&settings, &model(levels), wish).unwrap().thinking
    }

    fn at(level: Effort) -> Wish {
        Wish {
            selector: Some(EffortWord::Level(level)),
            ..Wish::default()
        }
    }

    #[test]
    fn a_level_is_fitted_to_the_model_and_the_ceiling() {
        let table: &[(&[Effort], [Effort; 6])] = &[
            (&[Low, High, Max], [Low, Low, Low, High, High, Max]),
            (&[High], [High; 6]),
            (&[Low, Medium, High], [Low, Low, Medium, High, High, High]),
            (&[Max], [Max; 6]),
        ];
        for (levels, expected) in table {
            for (asked, expected) in Effort::ALL.into_iter().zip(expected) {
                let got = sent(levels, Max, at(asked));
                assert_eq!(got, Some(Thinking::Level(*expected)), "{levels:?} {asked}");
            }
        }
        assert_eq!(
            sent(&[Low, High], Medium, at(Max)),
            Some(Thinking::Level(Low))
        );
        assert_eq!(sent(&[], Max, at(High)), None);
    }

    #[test]
    fn a_model_that_starts_above_the_ceiling_is_refused_unless_it_may_not_think() {
        let mut settings = Settings::default();
        settings.task_max_effort.value = Medium;
        let fault = level(&settings, &model(&[High, Max]), at(Low));
        assert_eq!(fault, Err(AboveCeiling { lowest: High }));
        let off = Wish {
            file: Some(EffortWord::Off),
            ..Wish::default()
        };
        assert_eq!(sent(&[High, Max], Medium, off), Some(Thinking::Off));
    }

    #[test]
    fn a_hint_is_relative_to_the_model() {
        let hint = |hint| Wish {
            hint: Some(hint),
            ..at(Max)
        };
        for (levels, expected) in [
            (&[Low, High, Max][..], [Low, High, Max]),
            (
                &[Minimal, Low, Medium, High, Xhigh],
                [Minimal, Medium, Xhigh],
            ),
            (&[High, Max], [High, High, Max]),
        ] {
            let got = [EffortHint::Lo, EffortHint::Med, EffortHint::Hi]
                .map(|word| sent(levels, Max, hint(word)));
            assert_eq!(got, expected.map(|level| Some(Thinking::Level(level))));
        }
    }

    #[test]
    fn the_strongest_wish_wins() {
        let mut settings = Settings::default();
        let mut row = model(&[Low, Medium, High, Max]);
        let mut wish = Wish {
            hint: Some(EffortHint::Hi),
            selector: Some(EffortWord::Level(Low)),
            file: Some(EffortWord::Level(Medium)),
            inherited: Some(Thinking::Off),
            caller: Some(Thinking::Off),
        };
        let mut next = |change: fn(&mut Wish)| {
            let got = level(&settings, &row, wish).unwrap();
            change(&mut wish);
            (got.thinking.unwrap(), got.by)
        };
        assert_eq!(
            next(|wish| wish.hint = None),
            (Thinking::Level(Max), By::Hint)
        );
        assert_eq!(
            next(|wish| wish.selector = None),
            (Thinking::Level(Low), By::Selector)
        );
        assert_eq!(
            next(|wish| wish.file = None),
            (Thinking::Level(Medium), By::File)
        );
        assert_eq!(
            next(|wish| wish.inherited = None),
            (Thinking::Off, By::Caller)
        );
        assert_eq!(next(|_| {}), (Thinking::Level(High), By::Setting));
        row.default_effort = Some(Low);
        assert_eq!(
            level(&settings, &row, Wish::default()).unwrap().by,
            By::Model
        );
        settings.default_thinking_level.value = Thinking::Off;
        row.default_effort = None;
        let got = level(&settings, &row, Wish::default()).unwrap().thinking;
        assert_eq!(got, Some(Thinking::Off));
    }

    #[test]
    fn words_stand_for_levels() {
        let word = |word| Wish {
            file: Some(word),
            caller: Some(Thinking::Level(Low)),
            ..Wish::default()
        };
        let levels = &[Low, Medium, High];
        assert_eq!(
            sent(levels, Max, word(EffortWord::Inherit)),
            Some(Thinking::Level(Low))
        );
        assert_eq!(
            sent(levels, Max, word(EffortWord::Auto)),
            Some(Thinking::Level(High))
        );
        let nobody = Wish {
            caller: None,
            ..word(EffortWord::Inherit)
        };
        assert_eq!(sent(levels, Max, nobody), Some(Thinking::Level(High)));
    }

    proptest! {
        #[test]
        fn what_is_asked_is_a_level_of_the_model_under_the_ceiling(
            levels in prop::sample::subsequence(Effort::ALL.to_vec(), 1..=6),
            asked in prop::sample::select(Effort::ALL.to_vec()),
            ceiling in prop::sample::select(Effort::ALL.to_vec()),
        ) {
            let mut settings = Settings::default();
            settings.task_max_effort.value = ceiling;
            match level(&settings, &model(&levels), at(asked)) {
                Ok(Level { thinking: Some(Thinking::Level(got)), .. }) => {
                    prop_assert!(levels.contains(&got) && got <= ceiling);
                }
                Ok(other) => prop_assert!(false, "{other:?}"),
                Err(AboveCeiling { lowest }) => {
                    prop_assert!(lowest > ceiling && levels.iter().all(|&level| level >= lowest));
                }
            }
        }
    }
}
