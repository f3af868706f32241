//! Ids of calls that their provider gave none.

use std::collections::HashSet;

use sortie_protocol::ToolCall;

/// Gives an id of ours to each call whose own is missing or taken: some providers count anew in every answer.
pub(super) fn give(mut calls: Vec<ToolCall>, n: u64, used: &mut HashSet<String>) -> Vec<ToolCall> {
    for (place, call) in calls.iter_mut().enumerate() {
        if call.id.is_empty() || used.contains(&call.id) {
            let mut id = format!("call_{n}_{place}");
            while used.contains(&id) {
                id.push('x');
            }
            call.id = id;
        }
        used.insert(call.id.clone());
    }
    calls
}

/// Whether `id` is one of ours. A provider that gave none need not see it.
pub(super) fn is_ours(id: &str) -> bool {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    id.strip_prefix("call_")
        .and_then(|rest| rest.split_once('_'))
        .is_some_and(|(n, place)| number(n) && number(place.trim_end_matches('x')))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn given(ids: &[&str], used: &[&str]) -> Vec<String> {
        let calls = ids.iter().map(|id| ToolCall {
            id: (*id).into(),
            name: "read".into(),
            args: json!({}),
        });
        let mut used = used.iter().map(|id| (*id).to_owned()).collect();
        let calls = give(calls.collect(), 3, &mut used);
        calls.into_iter().map(|call| call.id).collect()
    }

    #[test]
    fn ids_that_are_missing_or_used_are_ours() {
        let ids = given(&["", "used", "their-own", "call_7", "call_7"], &["used"]);
        let wanted = ["call_3_0", "call_3_1", "their-own", "call_7", "call_3_4"];
        assert_eq!(ids, wanted);
        let ours: Vec<_> = ids.iter().map(|id| is_ours(id)).collect();
        assert_eq!(ours, [true, true, false, false, true]);
    }

    #[test]
    fn an_id_of_ours_is_not_given_twice() {
        let ids = given(&[""], &["call_3_0"]);
        assert_eq!(ids, ["call_3_0x"]);
        assert!(is_ours(&ids[0]));
    }
}
