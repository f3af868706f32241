//! C16: the last turn dies, over every API.

use std::{
    fs,
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use serde_json::{Value, json};
use sortie_protocol::{Api, TaskResult};
use sortie_testkit::{ModelServer, Project, Request, Turn};

use crate::support::{end_of, frames_to_text, models_over, over_every_api, sortie};

/// What is left of a batch in which `Lead` dispatched `Dig`, whose model took some turns.
struct Played {
    api: Api,
    code: Option<i32>,
    /// The receipt of `Lead.Dig`.
    dig: TaskResult,
    /// What is stored of its conversation.
    transcript: Vec<Value>,
    /// The requests of `Lead.Dig`.
    asked: Vec<Request>,
    /// The request of `Lead` that holds what it was told of `Dig`.
    parent: Request,
}

/// Plays `turns` over every API; a provider's failure is repeated `retries` times.
fn play(retries: u32, turns: impl Fn(Api) -> Vec<Turn> + Sync) -> Vec<Played> {
    over_every_api(|api| {
        let turns = turns(api);
        let taken = AtomicUsize::new(0);
        let server = ModelServer::answering(move |request| {
            if !is_of_lead(request) {
                return turns[taken.fetch_add(1, Ordering::Relaxed)].clone();
            }
            match request.turn() {
                0 => Turn::tool(
                    "task",
                    json!({"context": "all of it", "tasks": [{"name": "Dig", "agent": "dig", "task": "dig"}]}),
                ),
                _ => Turn::tool("yield", json!({"data": "the lead is done"})),
            }
        });
        let project = Project::new();
        project
            .user_file("models.yml", models_over(api, &server.base_url(api), ""))
            .config(&format!(
                "retry: {{maxRetries: {retries}, baseDelayMs: 1}}\n"
            ))
            .agent(
                "dig",
                "---\nname: dig\ndescription: digs\nmodel: local/small\ntools: [read]\n---\nx\n",
            )
            .file("a", "alpha\n")
            .file("b", "beta\n")
            .file(
                "batch.yaml",
                "model: local/small\ntasks: [{name: Lead, agent: task, task: I am the lead}]\n",
            );
        let ended = sortie(&project, &["run", "batch.yaml", "--json"]);
        let dig = ended.task("Lead.Dig");
        let transcript = dig.artifacts.transcript.as_ref().unwrap();
        let transcript = fs::read_to_string(transcript).unwrap();
        let (parents, asked): (Vec<_>, Vec<_>) =
            server.requests().into_iter().partition(is_of_lead);
        Played {
            api,
            code: ended.code,
            dig,
            transcript: transcript
                .lines()
                .map(|line| serde_json::from_str(line).unwrap())
                .collect(),
            asked,
            parent: parents[1].clone(),
        }
    })
}

fn is_of_lead(request: &Request) -> bool {
    request.task().contains("I am the lead")
}

fn read(path: &str) -> Turn {
    Turn::tool("read", json!({"path": path}))
}

impl Played {
    /// What `read` answered, as it is stored.
    fn results(&self) -> Vec<&str> {
        let results = self
            .transcript
            .iter()
            .filter(|record| record["record"] == "tool_result" && record["name"] == "read");
        results
            .map(|record| record["text"].as_str().unwrap())
            .collect()
    }

    /// What the lead's model was told of the call, which has to be marked as a failure.
    #[track_caller]
    fn told_as_error(&self) -> String {
        let told = self.parent.results().concat();
        let body = self.parent.body.to_string();
        match self.api {
            Api::AnthropicMessages => assert!(body.contains("\"is_error\":true"), "{body}"),
            Api::GoogleGenerativeAi => {
                assert!(body.contains("\"response\":{\"error\":"), "{body}");
            }
            // These have no mark for it, only words.
            Api::OpenaiCompletions | Api::OpenaiResponses | Api::Script => {
                let words = told.strip_prefix("error: ");
                return words.unwrap_or_else(|| panic!("{told}")).to_owned();
            }
        }
        told
    }
}

/// All of this text, and then an error with this status.
fn dying(api: Api, status: u16) -> Turn {
    // It comes in four pieces.
    Turn::text("Both files").failing_after(frames_to_text(api) + 3, status)
}

#[test]
fn a_what_was_read_and_said_is_kept_and_marked_partial() {
    for played in play(0, |api| vec![read("a"), read("b"), dying(api, 503)]) {
        let Played { api, dig, .. } = &played;
        assert_eq!(played.code, Some(0), "the lead handed something in");
        assert_eq!(end_of(dig), ("failed".into(), Some("provider_error")));
        let words = match api {
            // Their errors in a stream tell a status.
            Api::OpenaiCompletions | Api::GoogleGenerativeAi | Api::Script => {
                "`local/small` answered with provider error 503: the scripted error"
            }
            Api::OpenaiResponses | Api::AnthropicMessages => {
                "`local/small`: the answer cannot be used: the scripted error"
            }
        };
        assert_eq!(dig.outcome.message.as_deref(), Some(words));
        kept_as_partial(&played);
        assert_eq!(played.asked.len(), 3);
    }
}

#[test]
fn a_or_the_provider_is_down_when_it_is_asked_again() {
    let turns = |api| {
        let cut = Turn::text("Both files").cutting_after(frames_to_text(api) + 3);
        vec![read("a"), read("b"), cut, Turn::status(503)]
    };
    let mut told = Vec::new();
    for played in play(1, turns) {
        kept_as_partial(&played);
        assert_eq!(played.asked.len(), 4);
        told.push(played.told_as_error());
    }
    for other in &told {
        assert_eq!(other, &told[0]);
    }
    insta::assert_snapshot!(told[0], @r#"
    <task-result id="Lead.Dig" agent="dig" outcome="failed">
    `local/small` answered with provider error 503: the scripted refusal; that was try 2, the last that `retry.maxRetries` allows
    warning: the last text is partial: the answer that held it broke off
    what there was of its output:
    Both files
    </task-result>
    "#);
}

#[track_caller]
fn kept_as_partial(played: &Played) {
    let Played { dig, .. } = played;
    assert_eq!(end_of(dig), ("failed".into(), Some("provider_error")));
    // The two results, and the text that broke off.
    let results = played.results();
    assert!(
        results.len() == 2 && results[0].contains("alpha") && results[1].contains("beta"),
        "{results:?}"
    );
    assert_eq!(dig.output.as_deref(), Some("Both files"));
    assert_eq!(
        dig.warnings,
        ["the last text is partial: the answer that held it broke off"]
    );
    // To the parent it is an error, with all of that.
    let told = played.told_as_error();
    for part in [
        "outcome=\"failed\"",
        "the scripted",
        "Both files",
        "the last text is partial",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
}

#[test]
fn b_a_cut_turn_is_sent_again_and_leaves_nothing_behind() {
    let turns = |api| {
        let cut = Turn::text("Bo").cutting_after(frames_to_text(api) + 1);
        vec![
            read("a"),
            cut,
            Turn::tool("yield", json!({"data": "alpha"})),
        ]
    };
    for played in play(1, turns) {
        let Played { dig, asked, .. } = &played;
        assert_eq!(end_of(dig), ("completed".into(), None));
        assert_eq!(dig.output.as_deref(), Some("alpha"));
        assert!(dig.warnings.is_empty(), "{:?}", dig.warnings);
        // The file was read once, and the same was asked twice.
        assert_eq!(played.results().len(), 1);
        assert_eq!(asked.len(), 3);
        assert_eq!(asked[2].steps(), asked[1].steps());
        let said = |record: &Value| record["text"] == "Bo";
        assert!(!played.transcript.iter().any(said));
        let told = played.parent.results().concat();
        assert!(
            told.contains("outcome=\"completed\"") && told.contains("alpha"),
            "{told}"
        );
    }
}

#[test]
fn c_a_first_request_that_fails_is_a_failure_without_a_turn() {
    let mut told = Vec::new();
    for played in play(0, |_| vec![Turn::status(500)]) {
        let Played { dig, asked, .. } = &played;
        assert_eq!(end_of(dig), ("failed".into(), Some("provider_error")));
        assert_eq!(dig.output, None);
        assert_eq!((dig.requests, asked.len()), (1, 1));
        let is_turn = |record: &&Value| record["record"] == "assistant";
        assert_eq!(played.transcript.iter().filter(is_turn).count(), 0);
        // No clock was waited for: the shortest is two minutes.
        let took = played.parent.at - asked[0].at;
        assert!(took < Duration::from_mins(1), "{took:?}");
        told.push(played.told_as_error());
    }
    for other in &told {
        assert_eq!(other, &told[0]);
    }
    insta::assert_snapshot!(told[0], @r#"
    <task-result id="Lead.Dig" agent="dig" outcome="failed">
    `local/small` answered with provider error 500: the scripted refusal
    (no output)
    </task-result>
    "#);
}
