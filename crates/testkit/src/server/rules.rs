//! What every provider insists on, and no key in a body.

use super::request::{Request, Step};

/// A key shorter than this only stands for one, and may be an ordinary word.
const SHORTEST_KEY: usize = 12;

/// The rules that `request` breaks, each in a sentence.
pub(super) fn broken(request: &Request, secrets: &[String]) -> Vec<String> {
    let mut faults = Vec::new();
    if request.body.is_null() {
        faults.push(format!("the body is no JSON: {:.200}", request.text));
        return faults;
    }
    if !request.dialect.streams(&request.path, &request.body) {
        faults.push("it does not ask for a stream".to_owned());
    }
    conversation(&request.steps(), &mut faults);
    faults.extend(request.dialect.refusals(&request.body));
    let in_headers = ["authorization", "x-api-key", "x-goog-api-key"]
        .into_iter()
        .filter_map(|name| request.header(name))
        .map(|value| value.strip_prefix("Bearer ").unwrap_or(value))
        .filter(|key| key.len() >= SHORTEST_KEY);
    let named = secrets.iter().map(String::as_str);
    for key in in_headers.chain(named) {
        if request.text.contains(key) {
            faults.push(format!("the key `{key}` is in the body"));
        }
        if request.path.contains(key) {
            faults.push(format!("the key `{key}` is in the path"));
        }
    }
    faults
}

fn conversation(steps: &[Step], faults: &mut Vec<String>) {
    let mut open: Vec<&str> = Vec::new();
    for step in steps {
        match step {
            Step::System(_) => {}
            Step::User(_) => faults.extend(open.drain(..).map(unanswered)),
            Step::Assistant { calls, .. } => {
                faults.extend(open.drain(..).map(unanswered));
                open.extend(calls.iter().map(String::as_str));
            }
            Step::Result { call, .. } => match open.iter().position(|other| other == call) {
                Some(found) => {
                    open.remove(found);
                }
                None => faults.push(format!("a result for `{call}` answers no open call")),
            },
        }
    }
    faults.extend(open.drain(..).map(unanswered));
}

fn unanswered(call: &str) -> String {
    format!("the call `{call}` has no result")
}
