//! How long a provider asks to wait.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use reqwest::header::{HeaderMap, RETRY_AFTER};
use serde_json::Value;

/// The wait that `headers` ask for at the time `now`: `retry-after-ms`, else `retry-after` as seconds or as a date.
pub(super) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    if let Some(wait) = text("retry-after-ms").and_then(|text| seconds(text, 1e-3)) {
        return Some(wait);
    }
    let text = text(RETRY_AFTER.as_str())?;
    seconds(text, 1.0).or_else(|| {
        let until = UNIX_EPOCH + Duration::from_secs(date(text)?);
        // A date that has passed asks for no wait.
        Some(until.duration_since(now).unwrap_or_default())
    })
}

/// The wait that an error's JSON asks for, as Gemini does: `"retryDelay": "7.5s"`, anywhere in it.
pub(super) fn retry_delay(body: &Value) -> Option<Duration> {
    match body {
        Value::Object(fields) => fields
            .get("retryDelay")
            .and_then(|delay| seconds(delay.as_str()?.strip_suffix('s')?, 1.0))
            .or_else(|| fields.values().find_map(retry_delay)),
        Value::Array(items) => items.iter().find_map(retry_delay),
        _ => None,
    }
}

fn seconds(text: &str, unit: f64) -> Option<Duration> {
    let number: f64 = text.parse().ok()?;
    Duration::try_from_secs_f64(number * unit).ok()
}

/// Seconds since 1970 of a date as HTTP writes it: `Wed, 21 Oct 2015 07:28:00 GMT`.
fn date(text: &str) -> Option<u64> {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let mut words = text.split_once(',')?.1.split_whitespace();
    let day: u64 = words.next()?.parse().ok()?;
    let month = words.next()?;
    let month = MONTHS.iter().position(|name| *name == month)? as u64 + 1;
    let year: u64 = words.next()?.parse().ok()?;
    let mut clock = words.next()?.split(':').map(str::parse::<u64>);
    let mut part = || clock.next()?.ok();
    let (hours, minutes, seconds) = (part()?, part()?, part()?);
    if words.next() != Some("GMT") || !(1970..10_000).contains(&year) || !(1..=31).contains(&day) {
        return None;
    }
    Some(days(year, month, day)? * 86_400 + hours * 3_600 + minutes * 60 + seconds)
}

/// Days from 1970 to a day of the Gregorian calendar. Years begin in March here, so that a leap day is a year's last.
fn days(year: u64, month: u64, day: u64) -> Option<u64> {
    let year = if month > 2 { year } else { year - 1 };
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    (year * 365 + year / 4 - year / 100 + year / 400 + day_of_year).checked_sub(719_468)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use reqwest::header::{HeaderName, HeaderValue};
    use serde_json::json;

    use super::*;

    fn wait(headers: &[(&'static str, &str)], now: u64) -> Option<Duration> {
        let headers = headers
            .iter()
            .map(|(name, value)| {
                (
                    HeaderName::from_static(name),
                    HeaderValue::from_str(value).unwrap(),
                )
            })
            .collect();
        retry_after(&headers, UNIX_EPOCH + Duration::from_secs(now))
    }

    #[test]
    fn every_way_to_write_it_is_read() {
        let seconds = Duration::from_secs;
        assert_eq!(wait(&[], 0), None);
        assert_eq!(wait(&[("retry-after", "7")], 0), Some(seconds(7)));
        assert_eq!(wait(&[("retry-after", "0")], 0), Some(seconds(0)));
        assert_eq!(
            wait(&[("retry-after", "1.5")], 0),
            Some(Duration::from_millis(1_500))
        );
        let both = [("retry-after", "2"), ("retry-after-ms", "250")];
        assert_eq!(wait(&both, 0), Some(Duration::from_millis(250)));
        let date = [("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT")];
        assert_eq!(wait(&date, 1_445_412_480 - 90), Some(seconds(90)));
        assert_eq!(wait(&date, 1_445_412_480 + 90), Some(seconds(0)));
    }

    #[test]
    fn a_body_may_say_it() {
        let body = |delay: &str| {
            json!([{"error": {"code": 429, "details": [
                {"@type": "type.googleapis.com/google.rpc.Help", "links": []},
                {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay},
            ]}}])
        };
        let wait = |delay| retry_delay(&body(delay));
        assert_eq!(wait("7.5s"), Some(Duration::from_millis(7_500)));
        for none in ["", "s", "soon", "7", "-1s", "1e300s"] {
            assert_eq!(wait(none), None, "{none}");
        }
    }

    #[test]
    fn what_is_no_wait_is_none() {
        for text in [
            "",
            "soon",
            "-3",
            "NaN",
            "1e300",
            "Wed, 21 Okt 2015 07:28:00 GMT",
            "Wed, 21 Oct 2015 07:28:00 CET",
            "Wed, 21 Oct",
            "Wed, 0 Oct 2015 07:28:00 GMT",
        ] {
            assert_eq!(wait(&[("retry-after", text)], 0), None, "{text}");
        }
    }

    #[test]
    fn leap_days_are_counted() {
        assert_eq!(days(1970, 1, 1), Some(0));
        assert_eq!(days(2000, 2, 29), Some(11_016));
        assert_eq!(days(2000, 3, 1), Some(11_017));
        assert_eq!(days(2026, 11, 30), Some(20_787));
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[ -~]{0,40}") {
            wait(&[("retry-after", &text)], 0);
        }
    }
}
