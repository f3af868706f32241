//! Carrying out the calls of one turn.
//!
//! Calls that only look, and calls of `task`, run side by side where they stand beside each other; all others run one
//! after the other. Answers are recorded in the order of the calls. A call that cannot be carried out is answered,
//! never dropped.

use std::{future::Future, pin::Pin, sync::Arc, time::Duration};

use futures_util::{StreamExt, stream::FuturesOrdered};
use serde_json::Value;
use sortie_prompts::notes;
use sortie_protocol::{
    Call, Ending, EventKind, RecordKind, Reply, ToolCall, ToolResult,
    tool::{self, Access, Side, YIELD},
};
use tokio::{select, time::Instant};

use super::{Session, detail::detail};
use crate::{
    arm, descendants,
    link::Link,
    result::{HandedIn, Verdict},
    tools::{Tool, ToolAnswer, ToolContext},
};

/// The most text that a tool's answer may hold, in bytes.
const OUTPUT_LIMIT: usize = 48 << 10;

/// What a call comes to.
enum Order {
    /// Nothing: it is answered with this.
    Refuse(String),
    /// It hands something in.
    HandIn(Value),
    /// This process carries it out.
    Here { tool: Arc<dyn Tool>, args: Value },
    /// The root does.
    AtRoot(Call),
}

type Running = Pin<Box<dyn Future<Output = (ToolAnswer, Duration)> + Send>>;

impl Session<'_> {
    /// Carries out `calls`. `Some`: one of them ended the session.
    pub(super) async fn carry_out(&mut self, calls: &[ToolCall]) -> Option<HandedIn> {
        let mut rest = calls;
        while let Some(call) = rest.first() {
            if self.link.cancelled().is_cancelled() {
                self.refuse_all(rest, notes::NOT_RUN_STOPPED);
                return None;
            }
            let mut done = 1;
            match self.order(call) {
                Order::Refuse(why) => self.transcript.refuse(call, &why),
                Order::HandIn(args) => {
                    if let Some(handed_in) = self.hand_in(call, &args) {
                        let why = match handed_in.ending {
                            Ending::Yielded { .. } => notes::NOT_RUN_FINISHED,
                            _ => notes::NOT_RUN_STOPPED,
                        };
                        self.refuse_all(&rest[1..], why);
                        return Some(handed_in);
                    }
                }
                order => {
                    let mut orders = vec![order];
                    if runs_in_parallel(call) {
                        orders.extend(self.followers(&rest[1..]));
                    }
                    done = orders.len();
                    self.run_side_by_side(&rest[..done], orders).await;
                }
            }
            rest = &rest[done..];
        }
        None
    }

    /// The orders of those calls at the head of `calls` that may run beside the one before them.
    fn followers(&mut self, calls: &[ToolCall]) -> Vec<Order> {
        let mut orders = Vec::new();
        for call in calls.iter().take_while(|call| runs_in_parallel(call)) {
            match self.order(call) {
                order @ (Order::Here { .. } | Order::AtRoot(_)) => orders.push(order),
                Order::Refuse(_) | Order::HandIn(_) => break,
            }
        }
        orders
    }

    fn refuse_all(&mut self, calls: &[ToolCall], why: &str) {
        for call in calls {
            self.transcript.refuse(call, why);
        }
    }

    /// Finds out what `call` comes to.
    fn order(&mut self, call: &ToolCall) -> Order {
        let planned = |name: &str| self.plan.tools.iter().any(|tool| tool.name == name);
        // A tool of the root is asked for even where the plan has it not: the root refuses, and knows why.
        let is_refused_there = |tool: &tool::Tool| tool.side == Side::Root && tool.built;
        let known =
            tool::find(&call.name).filter(|tool| planned(tool.name) || is_refused_there(tool));
        let Some(known) = known else {
            return Order::Refuse(self.no_such_tool(&call.name));
        };
        let args = match arguments(&call.args) {
            Ok(args) => args,
            // The desk counts what it has to reject, so that a model cannot fail at it forever.
            Err(_) if known.name == YIELD => call.args.clone(),
            Err(why) => return Order::Refuse(why),
        };
        if known.name == YIELD {
            return Order::HandIn(args);
        }
        if known.side == Side::Root {
            return Order::AtRoot(Call::Spawn { args });
        }
        match self.toolbox.get(known.name) {
            Some(tool) => Order::Here { tool, args },
            None => Order::Refuse(self.no_such_tool(&call.name)),
        }
    }

    fn no_such_tool(&self, name: &str) -> String {
        let names: Vec<_> = self
            .plan
            .tools
            .iter()
            .map(|tool| format!("`{}`", tool.name))
            .collect();
        format!(
            "there is no tool `{name}` here; the tools are {}",
            names.join(", ")
        )
    }

    /// Receives a `yield`. Nothing in it touches the world, so it need not wait until its record is on disk.
    fn hand_in(&mut self, call: &ToolCall, args: &Value) -> Option<HandedIn> {
        self.transcript.append(RecordKind::ToolCall(call.clone()));
        let (ok, text, handed_in) = match self.desk.submit(args, self.transcript.last_text()) {
            Verdict::Final(handed_in) => {
                let (ok, text) = match &handed_in.ending {
                    Ending::SchemaViolation { faults, .. } => (
                        false,
                        format!(
                            "not accepted, and that was the last try: {}",
                            faults.join("; ")
                        ),
                    ),
                    Ending::Incomplete { message } => (false, message.clone()),
                    _ => (true, "the session is over".to_owned()),
                };
                (ok, text, Some(handed_in))
            }
            Verdict::Part { labels } => {
                for label in &labels {
                    self.link.event(EventKind::Section {
                        label: label.clone(),
                    });
                }
                let text = format!("part `{}` is taken; go on", labels.join("`, `"));
                (true, text, None)
            }
            Verdict::Rejected { text } => (false, text, None),
        };
        self.transcript.append(RecordKind::ToolResult(ToolResult {
            call: call.id.clone(),
            name: call.name.clone(),
            ok,
            text,
        }));
        handed_in
    }

    async fn run_side_by_side(&mut self, calls: &[ToolCall], orders: Vec<Order>) {
        let mut last = 0;
        for call in calls {
            last = self.transcript.append(RecordKind::ToolCall(call.clone()));
        }
        select! {
            biased;
            () = self.link.taken(last) => {}
            () = self.link.cancelled().cancelled() => {
                self.refuse_all(calls, notes::NOT_RUN_STOPPED);
                return;
            }
        }
        // The watcher kills what there is; whatever started now might escape it.
        arm::unless_leaving().await;
        let mut running: FuturesOrdered<Running> = calls
            .iter()
            .zip(orders)
            .map(|(call, order)| self.start(call, order))
            .collect();
        let mut answered = calls.iter();
        while let (Some((mut answer, took)), Some(call)) = (running.next().await, answered.next()) {
            arm::unless_leaving().await;
            self.keys.clean_in_place(&mut answer.text);
            self.link.event(EventKind::ToolEnded {
                call: call.id.clone(),
                tool: call.name.clone(),
                ok: answer.ok,
                ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            });
            self.transcript.append(RecordKind::ToolResult(ToolResult {
                call: call.id.clone(),
                name: call.name.clone(),
                ok: answer.ok,
                text: answer.text,
            }));
        }
        if calls.iter().any(runs_commands) {
            descendants::reap_adopted();
        }
    }

    fn start(&mut self, call: &ToolCall, order: Order) -> Running {
        self.link.event(EventKind::ToolStarted {
            call: call.id.clone(),
            tool: call.name.clone(),
            detail: detail(&call.args, &self.keys),
        });
        let started = Instant::now();
        let context = self.context(call);
        let link = self.link.clone();
        Box::pin(async move {
            let answer = match order {
                Order::Here { tool, args } => tool.run(&args, &context).await,
                Order::AtRoot(call) => ask_root(&link, call).await,
                Order::Refuse(why) => ToolAnswer::failed(why),
                Order::HandIn(_) => ToolAnswer::failed(notes::NOT_RUN_STOPPED),
            };
            (answer, started.elapsed())
        })
    }

    fn context(&mut self, call: &ToolCall) -> ToolContext {
        self.calls_started += 1;
        ToolContext {
            task: self.plan.id.clone(),
            call: call.id.clone(),
            serial: self.calls_started,
            cwd: self.plan.cwd.clone(),
            output_limit: OUTPUT_LIMIT,
            bash_timeout: Duration::from_millis(self.plan.clocks.bash_timeout_ms),
            kill_grace: Duration::from_millis(self.plan.clocks.kill_grace_ms),
            summarize: self.plan.read.summarize,
            cancel: self.link.cancelled().clone(),
            keys: Arc::clone(&self.keys),
            artifacts: Arc::new(self.link.clone()),
            archive: Arc::new(self.link.clone()),
        }
    }
}

async fn ask_root(link: &Link, call: Call) -> ToolAnswer {
    let open = link.call(call);
    select! {
        biased;
        () = link.cancelled().cancelled() => ToolAnswer::failed("stopped: the session was told to stop"),
        reply = open.answer() => match reply {
            Reply::Text { ok, text } => ToolAnswer { ok, text },
            other => ToolAnswer::failed(format!("the root gave no answer that can be used: {other:?}")),
        },
    }
}

fn runs_in_parallel(call: &ToolCall) -> bool {
    tool::find(&call.name).is_some_and(tool::Tool::runs_in_parallel)
}

fn runs_commands(call: &ToolCall) -> bool {
    tool::find(&call.name).is_some_and(|tool| tool.access == Access::Execute)
}

/// Arguments as the object that they have to be. Some models send that object as text, or nothing where it is empty.
fn arguments(args: &Value) -> Result<Value, String> {
    match args {
        Value::Object(_) => Ok(args.clone()),
        Value::Null => Ok(Value::Object(serde_json::Map::new())),
        Value::String(text) if text.trim().is_empty() => Ok(Value::Object(serde_json::Map::new())),
        Value::String(text) => match serde_json::from_str(text) {
            Ok(inner @ Value::Object(_)) => Ok(inner),
            Ok(_) => Err("the arguments have to be a JSON object".into()),
            Err(error) => Err(format!(
                "the arguments are no JSON ({error}); send the call again, whole, and in smaller pieces if it was cut off"
            )),
        },
        _ => Err("the arguments have to be a JSON object".into()),
    }
}
