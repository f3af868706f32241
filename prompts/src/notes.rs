//! What a session says to its model on the way.

use crate::fill;

/// How many reminders there are.
pub const REMINDERS: u32 = 3;

const REMINDER: [&str; 3] = [
    include_str!("../system/reminder-1.md"),
    include_str!("../system/reminder-2.md"),
    include_str!("../system/reminder-3.md"),
];

/// The answer to calls that stand beside an accepted `yield`.
pub const NOT_RUN_FINISHED: &str = include_str!("../system/not-run-finished.md").trim_ascii_end();
/// The answer to calls of a turn that broke off before they started.
pub const NOT_RUN_BROKEN: &str = include_str!("../system/not-run-broken.md").trim_ascii_end();
/// The answer to calls that a stop came before.
pub const NOT_RUN_STOPPED: &str = include_str!("../system/not-run-stopped.md").trim_ascii_end();
/// The answer to calls of an earlier life whose own answer is not on record.
pub const NOT_RUN_LOST: &str = include_str!("../system/not-run-lost.md").trim_ascii_end();

/// The reminder to hand something in: the first, the second, and from the third on the last, which wants `yield` now.
pub fn reminder(n: u32) -> &'static str {
    let place = n.clamp(1, REMINDERS) - 1;
    REMINDER[place as usize].trim_end()
}

/// The request to wrap up, once `used` model requests reach the soft `budget` (`task.softRequestBudget`).
pub fn soft_budget(used: u64, budget: u64) -> String {
    fill(
        include_str!("../system/soft-budget.md").trim_end(),
        &[("used", &used.to_string()), ("budget", &budget.to_string())],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reminders_grow_firmer_and_the_last_wants_yield_now() {
        assert_ne!(reminder(1), reminder(2));
        assert!(reminder(3).contains("`yield` now"));
        assert_eq!(reminder(0), reminder(1));
        assert_eq!(reminder(9), reminder(3));
    }

    #[test]
    fn no_place_is_left_unfilled() {
        let text = soft_budget(200, 150);
        assert!(text.contains("200 model requests; 150"), "{text}");
        for text in [&text, reminder(1), reminder(2), reminder(3)] {
            assert!(!text.contains("{{"), "{text}");
        }
    }

    #[test]
    fn calls_that_did_not_run_say_so_in_one_line() {
        for text in [
            NOT_RUN_FINISHED,
            NOT_RUN_BROKEN,
            NOT_RUN_STOPPED,
            NOT_RUN_LOST,
        ] {
            assert!(text.starts_with("not run"), "{text}");
            assert!(!text.contains('\n'), "{text}");
        }
    }
}
