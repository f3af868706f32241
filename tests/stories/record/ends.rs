//! However a task ends, it ends so again, at once and whatever became of the others.

use std::time::Instant;

use nix::sys::signal::Signal;
use serde_json::json;
use sortie_testkit::{ModelServer, Turn};

use super::{KEY, Scene, entries};
use crate::support::{Running, SORTIE, run_dir};

const ONE: &str = "model: local/small\ntasks: [{name: One, task: x}]\n";

/// Records [`ONE`] under `config` at a server that answers each request so, replays it, and returns how both ended and
/// the recording.
fn twice(config: &str, answer: fn(usize) -> Turn) -> String {
    let server = ModelServer::answering(move |request| answer(request.turn()));
    let scene = Scene::new(&server, |project| {
        project.config(config).file("batch.yaml", ONE);
    });
    let recorded = scene.record();
    drop(server);
    let replayed = scene.replay();
    assert_eq!(replayed.ended.code, recorded.ended.code);
    assert_eq!(replayed.tasks, recorded.tasks);
    assert_eq!(
        entries(&scene.here.read("twice.yaml")),
        entries(&scene.script())
    );
    format!("{}\n{}", recorded.end(0), entries(&scene.script()))
}

const FEW_TRIES: &str = "retry: {maxRetries: 1, baseDelayMs: 1, maxDelayMs: 1000}\n";

#[test]
fn a_model_that_cannot_be_had_cannot_be_had_again() {
    insta::assert_snapshot!(twice(FEW_TRIES, |_| Turn::status(500)), @"
    failed, provider_error
    - when:
        task: One
      turns:
      - error:
          status: 500
          message: the scripted refusal
        repeat: true
    ");
    insta::assert_snapshot!(twice(FEW_TRIES, |_| Turn::status(429).retry_after(60)), @"
    failed, rate_limited
    - when:
        task: One
      turns:
      - error:
          status: 429
          message: the scripted refusal
        repeat: true
    ");
    insta::assert_snapshot!(twice(FEW_TRIES, |turn| match turn {
        0 => Turn::text("let me see").and_tool("bash", json!({"command": "true"})),
        _ => Turn::text("half of it, and no more").cutting_after(3),
    }), @r#"
    failed, connection
    - when:
        task: One
      turns:
      - text: let me see
        tool: bash
        args:
          command: "true"
      - text: half of it, an
        cut: true
        repeat: true
    "#);
}

#[test]
fn a_clock_that_ran_out_runs_out_again() {
    insta::assert_snapshot!(twice("task.firstActivityMs: 300\n", |_| Turn::silent()), @"
    timed_out, first_activity
    - when:
        task: One
      turns:
      - stall: true
    ");
    insta::assert_snapshot!(twice("task.idleMs: 300\n", |_| {
        Turn::text("so far, so good").stalling_after(3)
    }), @"
    timed_out, idle
    - when:
        task: One
      turns:
      - text: so far, so
        stall: true
    ");
    insta::assert_snapshot!(twice("task.maxRuntimeMs: 700\n", |_| {
        Turn::tool("bash", json!({"command": "sleep 1000"}))
    }), @"
    timed_out, total
    - when:
        task: One
      turns:
      - tool: bash
        args:
          command: sleep 1000
      - think: (no text)
        stall: true
    ");
}

#[test]
fn what_a_child_did_to_itself_it_does_again() {
    insta::assert_snapshot!(twice("", |turn| match turn {
        0 => Turn::text("and then").and_tool("bash", json!({"command": "kill -KILL $PPID"})),
        _ => Turn::text("not reached"),
    }), @"
    crashed, SIGKILL
    - when:
        task: One
      turns:
      - text: and then
        tool: bash
        args:
          command: kill -KILL $PPID
    ");
}

#[test]
fn a_budget_ends_where_it_ended() {
    insta::assert_snapshot!(twice("task.budget.tokens: 100\n", |_| {
        Turn::tool("bash", json!({"command": "true"})).usage(60, 1)
    }), @r#"
    budget, tokens
    - when:
        task: One
      turns:
      - tool: bash
        args:
          command: "true"
        usage:
          input: 60
          output: 1
          cost: 0.000062
      - tool: bash
        args:
          command: "true"
        usage:
          input: 60
          output: 1
          cost: 0.000062
    "#);
}

#[test]
fn a_tired_provider_holds_up_no_other_in_a_replay() {
    let server = ModelServer::answering(|request| match request.model().as_str() {
        "small" => Turn::status(429).retry_after(60),
        _ => Turn::text("done").and_tool("yield", json!({"type": "text"})),
    });
    let url = server.url();
    let scene = Scene::new(&server, |project| {
        let other = format!(
            "providers:\n  local: {{baseUrl: '{url}', api: openai-completions, models: [{{id: small}}]}}\n  other: {{baseUrl: '{url}', api: openai-completions, models: [{{id: big}}]}}\n"
        );
        project
            .user_file("models.yml", other)
            .user_file("agents/other.md", "---\nname: other\ndescription: d\nmodel: other/big\n---\nx\n")
            .config("retry.maxDelayMs: 1000\ntask.maxConcurrency: 1\n")
            .file(
                "batch.yaml",
                "model: local/small\ntasks: [{name: One, task: x}, {name: Two, agent: other, task: x}]\n",
            );
    });
    let recorded = scene.record();
    drop(server);
    assert_eq!(
        [recorded.end(0), recorded.end(1)],
        ["failed, rate_limited", "completed, null"]
    );
    assert_eq!(scene.replay().tasks, recorded.tasks);
}

#[test]
fn many_tries_in_vain_are_not_waited_for_again() {
    let server = ModelServer::answering(|_| Turn::status(503));
    let scene = Scene::new(&server, |project| {
        project
            .config("retry: {maxRetries: 6, baseDelayMs: 20}\n")
            .file("batch.yaml", ONE);
    });
    let recorded = scene.record();
    assert_eq!(server.requests().len(), 7);
    drop(server);
    // Whoever replays it has settings of their own, by which it would be tried for an hour.
    scene
        .here
        .config("retry: {maxRetries: 10, baseDelayMs: 60000}\n");
    let since = Instant::now();
    let replayed = scene.replay();
    assert_eq!(replayed.tasks, recorded.tasks);
    assert_eq!(replayed.ended.task("One").requests, 1);
    assert!(since.elapsed().as_secs() < 60);
}

#[test]
fn a_run_that_is_stopped_is_recorded_as_far_as_it_came() {
    let server = ModelServer::answering(|request| match request.turn() {
        0 => Turn::text("let me see").and_tool("bash", json!({"command": "echo made > made.txt"})),
        _ => Turn::silent(),
    });
    let scene = Scene::new(&server, |project| {
        project.file("batch.yaml", ONE);
    });
    let mut command = scene
        .there
        .sortie(SORTIE, ["run", "batch.yaml", "--record", "again.yaml"]);
    let run = Running::start(&scene.there, command.env("LOCAL_KEY", KEY));
    server.wait_for_requests(2);
    run.signal(Signal::SIGINT);
    run.end().expect(130);
    let script = scene.there.read("again.yaml");
    let run = run_dir(&scene.there);
    insta::assert_snapshot!(without_id(&script), @"
    # Recorded from run [RUN]. Beside its batch it replays by
    #   sortie run BATCH --model script/again
    # Every task says and calls what it said and called then; tools really run.
    # How these ended was not a model's doing, and does not come again; who asks for more than is here ends as `script_ended`:
    #   One: cancelled
    - when:
        task: One
      turns:
      - text: let me see
        tool: bash
        args:
          command: echo made > made.txt
    ");
    assert!(run.join("One.jsonl").is_file());

    scene.here.file("again.yaml", script);
    let ended = scene.replay();
    assert_eq!(ended.end(0), "failed, script_ended");
    assert_eq!(scene.here.read("made.txt"), "made\n");
}

/// A recording without the id of its run.
fn without_id(script: &str) -> String {
    let (id, rest) = script.split_once(". ").unwrap();
    let (words, _) = id.rsplit_once(' ').unwrap();
    format!("{words} [RUN]. {rest}")
}
