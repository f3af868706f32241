//! Text that models and files wrote, made safe to show.

use std::{borrow::Cow, fmt::Write as _};

use super::figures::grouped;

/// `text` without the control characters that could move a terminal's cursor, recolour it, retitle its window, or show
/// what stands there in another order. Line breaks and tabs stay.
pub(crate) fn without_controls(text: &str) -> Cow<'_, str> {
    let harmful = |c: char| match c {
        '\n' | '\t' => false,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        c => c.is_control(),
    };
    if text.contains(harmful) {
        Cow::Owned(text.replace(harmful, ""))
    } else {
        Cow::Borrowed(text)
    }
}

/// `text` on one line of at most `width` columns, cut with an ellipsis.
pub(crate) fn on_one_line(text: &str, width: usize) -> String {
    // A line is never longer than a terminal is wide, so the rest of a long text need not be looked at.
    let line = text
        .split_whitespace()
        .take(width.max(1))
        .map(|word| without_controls(word))
        .collect::<Vec<_>>()
        .join(" ");
    console::truncate_str(&line, width, "…").into_owned()
}

/// How many names of many are listed.
const FEW: usize = 10;

/// The names, or the first of them and how many more there are.
pub(crate) fn few<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let mut names = names.into_iter();
    let mut text = names.by_ref().take(FEW).collect::<Vec<_>>().join(", ");
    let more = names.count();
    if more > 0 {
        let _ = write!(text, ", and {} more", grouped(more as u64));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_cannot_drive_the_terminal() {
        assert_eq!(without_controls("a\x1b[2Jb\x07c\r\n\td"), "a[2Jbc\n\td");
        assert_eq!(without_controls("plain"), "plain");
        assert_eq!(
            without_controls("a\u{202e}cod.exe\u{2066}b\u{2069}"),
            "acod.exeb"
        );
        assert_eq!(on_one_line("rm \u{202e}x", 20), "rm x");
    }

    #[test]
    fn of_many_names_a_few_are_listed() {
        let names: Vec<_> = (0..1_210).map(|n| n.to_string()).collect();
        let few = |count: usize| few(names[..count].iter().map(String::as_str));
        assert_eq!(few(0), "");
        assert_eq!(few(2), "0, 1");
        assert_eq!(few(10), "0, 1, 2, 3, 4, 5, 6, 7, 8, 9");
        assert_eq!(few(11), "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, and 1 more");
        assert!(few(1_210).ends_with("9, and 1,200 more"));
    }

    #[test]
    fn many_lines_become_one_short_one() {
        assert_eq!(on_one_line("  one\n\ttwo  three ", 20), "one two three");
        assert_eq!(on_one_line("one two three", 8), "one two…");
        assert_eq!(on_one_line("数える数える", 5), "数え…");
        assert_eq!(on_one_line("", 5), "");
    }
}
