use std::fs;

use serde_json::{Value, json};
use sortie_protocol::{EndedStatus, Ending, Finished, OutcomeKind, Reply, Report, TaskResult, Up};

use crate::{fake::Fake, launch::Exit, stage::Stage};

/// One server takes a key of its own and the other takes any.
const MODELS: &str = "\
providers:
  keyed: {baseUrl: http://127.0.0.1:9/v1, api: openai-completions, apiKey: LOCAL_KEY}
  any: {baseUrl: http://127.0.0.1:9/v1, api: openai-completions, apiKey: ollama}
";

/// The result of a child that reports this, and what of it is on disk.
async fn reported(text: &str, data: Value) -> (TaskResult, String, Value) {
    let stage = Stage::new("");
    fs::write(stage.project.agent_dir().join("models.yml"), MODELS).unwrap();
    let text = text.to_owned();
    let schema = json!({"type": "object"});
    let fake = Fake::new(move |mut child| {
        let report = Report {
            ending: Ending::Yielded {
                tries: 1,
                faults: Vec::new(),
            },
            text: Some(text.clone()),
            data: Some(data.clone()),
            sections: Vec::new(),
            last_text: None,
            warnings: Vec::new(),
        };
        async move {
            child.hello().await;
            assert_eq!(child.admit(0).await, Reply::Go);
            child.end(0, EndedStatus::Answered).await;
            child.say(Up::Finished(Finished { report })).await;
            Exit::Code(0)
        }
    });
    let batch = json!({"tasks": [{"name": "One", "task": "x", "outputSchema": schema}]});
    let result = stage.run(&fake, batch).await.tasks.remove(0);
    assert_eq!(result.outcome.kind, OutcomeKind::Completed);
    let stored = |name: &str| fs::read_to_string(stage.project.path(name)).unwrap();
    let data = serde_json::from_str(&stored("run/One.json")).unwrap();
    (result, stored("run/One.md"), data)
}

#[tokio::test(start_paused = true)]
async fn what_only_stands_for_a_key_is_left_in_a_result() {
    let data = json!({"tool": "ollama"});
    let (result, text, stored) = reported("run ollama", data.clone()).await;
    assert_eq!((text.as_str(), &stored), ("run ollama", &data));
    assert_eq!(result.structured.unwrap().data, Some(data));
    assert_eq!(result.warnings, [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_result_that_held_a_key_says_that_it_was_changed() {
    let data = json!({"n": 1, "sk-marked-key": ["is sk-marked-key"]});
    let (result, text, stored) = reported("sk-marked-key", data).await;
    assert_eq!(text, "[key LOCAL_KEY]");
    let clean = json!({"n": 1, "[key LOCAL_KEY]": ["is [key LOCAL_KEY]"]});
    assert_eq!(stored, clean);
    assert_eq!(result.structured.unwrap().data, Some(clean));
    insta::assert_snapshot!(result.warnings.join("\n"), @"keys were taken out of the output and the data: each is `[key NAME]` now");
    let (result, ..) = reported("a sk-marked-key", json!({})).await;
    insta::assert_snapshot!(result.warnings.join("\n"), @"keys were taken out of the output: each is `[key NAME]` now");
}
