//! Numbers as people read them.

/// A count and its noun: `1 request`, `2 requests`.
pub(crate) fn count(n: u64, noun: &str) -> String {
    let s = if n == 1 { "" } else { "s" };
    format!("{} {noun}{s}", grouped(n))
}

/// Digits in groups of three: `12,345`.
pub(crate) fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A length of time: `0.3 s`, `2 min 05 s`, `1 h 02 min`, `3 d 04 h`.
pub(crate) fn duration(ms: u64) -> String {
    let seconds = ms / 1000;
    if seconds < 60 {
        // Rounded, but not up to a minute, which is written differently.
        let tenths = (ms.saturating_add(50) / 100).min(599);
        format!("{}.{} s", tenths / 10, tenths % 10)
    } else if seconds < 3600 {
        format!("{} min {:02} s", seconds / 60, seconds % 60)
    } else if seconds < 48 * 3600 {
        format!("{} h {:02} min", seconds / 3600, seconds % 3600 / 60)
    } else {
        format!("{} d {:02} h", seconds / 86_400, seconds % 86_400 / 3600)
    }
}

/// A time since the start: `0:07`, `12:34`, `1:02:03`.
pub(crate) fn clock(ms: u64) -> String {
    let seconds = ms / 1000;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours == 0 {
        format!("{minutes}:{seconds:02}")
    } else {
        format!("{hours}:{minutes:02}:{seconds:02}")
    }
}

/// US dollars, with more digits where there is little to show.
pub(crate) fn money(dollars: f64) -> String {
    if dollars < 1.0 {
        format!("${dollars:.4}")
    } else {
        format!("${dollars:.2}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_groups_and_a_plural() {
        assert_eq!(count(0, "token"), "0 tokens");
        assert_eq!(count(1, "token"), "1 token");
        assert_eq!(count(999, "token"), "999 tokens");
        assert_eq!(count(1_234_567, "token"), "1,234,567 tokens");
    }

    #[test]
    fn times_are_short_at_every_size() {
        assert_eq!(duration(0), "0.0 s");
        assert_eq!(duration(349), "0.3 s");
        assert_eq!(duration(59_949), "59.9 s");
        assert_eq!(duration(59_990), "59.9 s");
        assert_eq!(duration(125_000), "2 min 05 s");
        assert_eq!(duration(3_725_000), "1 h 02 min");
        assert_eq!(duration(273_600_000), "3 d 04 h");
        assert_eq!(clock(7_900), "0:07");
        assert_eq!(clock(754_000), "12:34");
        assert_eq!(clock(3_723_000), "1:02:03");
    }

    #[test]
    fn little_money_is_still_seen() {
        assert_eq!(money(0.00124), "$0.0012");
        assert_eq!(money(12.345), "$12.35");
    }
}
