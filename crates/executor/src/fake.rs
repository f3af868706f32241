//! Children without processes: each is a tokio task that speaks the wire by a script, so that a test owns the clock.

use std::{
    collections::VecDeque,
    fmt,
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicBool, Ordering},
    },
};

use async_trait::async_trait;
use serde_json::Value;
use sortie_protocol::{
    Call, Down, Ended, EndedStatus, Ending, Event, EventKind, Finished, Hello, Origin,
    PROTOCOL_VERSION, Record, RecordKind, Reply, Report, SessionPlan, Up, Usage,
};
use tokio::sync::mpsc;

use crate::launch::{Child, Exit, Launch, LaunchError, Order, Signal, Word};

type Act = dyn Fn(Mouth) -> Pin<Box<dyn Future<Output = Exit> + Send>> + Send + Sync;

/// Starts children that all follow one script.
#[derive(Clone)]
pub(crate) struct Fake {
    act: Arc<Act>,
    book: Arc<Mutex<Book>>,
}

/// What the children of a [`Fake`] did, as they saw it.
#[derive(Debug, Default)]
pub(crate) struct Book {
    /// Who was started, in order.
    pub(crate) launched: Vec<String>,
    /// Who lives.
    pub(crate) alive: Vec<String>,
    /// What was sent to whom, in order.
    pub(crate) signals: Vec<(String, Signal)>,
    open: usize,
    /// How many model requests were open at once, at most.
    pub(crate) most_open: usize,
    /// How many there were.
    pub(crate) requests: usize,
}

impl fmt::Debug for Fake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.book.fmt(f)
    }
}

impl Fake {
    /// Every child does what `act` does, and ends with it.
    pub(crate) fn new<F>(act: impl Fn(Mouth) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Exit> + Send + 'static,
    {
        Self {
            act: Arc::new(move |mouth| Box::pin(act(mouth))),
            book: Arc::default(),
        }
    }

    /// What they did so far.
    pub(crate) fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap()
    }
}

#[async_trait]
impl Launch for Fake {
    async fn launch(&self, order: Order) -> Result<Child, LaunchError> {
        let named = |key: &str| {
            let found = order.environment.iter().find(|(name, _)| name == key);
            found.map(|(_, value)| value.as_str()).unwrap()
        };
        let (_, id) = named("SORTIE_SESSION").split_once('/').unwrap();
        let id = id.to_owned();
        let pid = {
            let mut book = self.book();
            book.launched.push(id.clone());
            book.alive.push(id.clone());
            u32::try_from(book.launched.len()).unwrap()
        };
        let (words_in, words) = mpsc::channel(256);
        let (orders, orders_out) = mpsc::unbounded_channel();
        let (signals, signals_out) = mpsc::unbounded_channel();
        let ignores_term = Arc::new(AtomicBool::new(false));
        let mouth = Mouth {
            id: id.clone(),
            pid,
            words: words_in.clone(),
            orders: orders_out,
            unheard: VecDeque::new(),
            plan: None,
            records: 0,
            calls: 0,
            ignores_term: Arc::clone(&ignores_term),
            book: Arc::clone(&self.book),
        };
        let act = (self.act)(mouth);
        let book = Arc::clone(&self.book);
        tokio::spawn(async move {
            let exit = tokio::select! {
                biased;
                exit = death(&id, signals_out, &ignores_term, &book) => exit,
                exit = act => exit,
            };
            book.lock().unwrap().alive.retain(|other| *other != id);
            let _ = words_in.send(Word::Gone(exit)).await;
        });
        Ok(Child {
            pid: Some(pid),
            words,
            orders,
            signals,
        })
    }
}

/// Waits for a signal that ends the child `id`.
async fn death(
    id: &str,
    mut signals: mpsc::UnboundedReceiver<Signal>,
    ignores_term: &AtomicBool,
    book: &Mutex<Book>,
) -> Exit {
    while let Some(signal) = signals.recv().await {
        book.lock().unwrap().signals.push((id.to_owned(), signal));
        match signal {
            Signal::Terminate if ignores_term.load(Ordering::Relaxed) => {}
            Signal::Terminate => return Exit::Signal(15),
            Signal::Kill => break,
        }
    }
    Exit::Signal(9)
}

/// A child, as its script sees it.
#[derive(Debug)]
pub(crate) struct Mouth {
    /// Its task.
    pub(crate) id: String,
    pid: u32,
    words: mpsc::Sender<Word>,
    orders: mpsc::UnboundedReceiver<Down>,
    /// What came while it waited for something else.
    unheard: VecDeque<Down>,
    plan: Option<SessionPlan>,
    records: u64,
    calls: u64,
    ignores_term: Arc<AtomicBool>,
    book: Arc<Mutex<Book>>,
}

impl Mouth {
    /// Says hello, and hears what it is to do.
    pub(crate) async fn hello(&mut self) -> String {
        self.say(Up::Hello(Hello {
            version: PROTOCOL_VERSION,
            pid: self.pid,
            armed: true,
        }))
        .await;
        let started = self.until(|down| matches!(down, Down::Start(_))).await;
        let Down::Start(start) = started else {
            unreachable!()
        };
        self.plan = Some(start.plan);
        let prompt = self.until(|down| matches!(down, Down::Prompt { .. })).await;
        let Down::Prompt { text } = prompt else {
            unreachable!()
        };
        text
    }

    /// What it was told to do.
    pub(crate) fn plan(&self) -> &SessionPlan {
        self.plan.as_ref().unwrap()
    }

    /// How far below the root it is.
    pub(crate) fn depth(&self) -> usize {
        self.id.split('.').count()
    }

    /// From now on it does not die of TERM.
    pub(crate) fn ignore_term(&self) {
        self.ignores_term.store(true, Ordering::Relaxed);
    }

    pub(crate) async fn say(&self, message: Up) {
        self.utter(Word::Message(Box::new(message))).await;
    }

    pub(crate) async fn utter(&self, word: Word) {
        // Nobody listens: this ends with the child.
        if self.words.send(word).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Waits for an order of some kind, and keeps the others.
    pub(crate) async fn until(&mut self, wanted: impl Fn(&Down) -> bool) -> Down {
        if let Some(at) = self.unheard.iter().position(&wanted) {
            return self.unheard.remove(at).unwrap();
        }
        loop {
            match self.orders.recv().await {
                Some(down) if wanted(&down) => return down,
                Some(down) => self.unheard.push_back(down),
                None => std::future::pending().await,
            }
        }
    }

    /// Waits to be asked to stop, and returns why.
    pub(crate) async fn cancelled(&mut self) -> String {
        match self.until(|down| matches!(down, Down::Cancel { .. })).await {
            Down::Cancel { reason } => reason,
            _ => unreachable!(),
        }
    }

    /// Makes a call, and leaves the answer for later.
    pub(crate) async fn call(&mut self, call: Call) -> u64 {
        self.calls += 1;
        let id = self.calls;
        self.say(Up::Call { id, call }).await;
        id
    }

    pub(crate) async fn reply(&mut self, call: u64) -> Reply {
        let answers = |down: &Down| matches!(down, Down::Reply { id, .. } if *id == call);
        match self.until(answers).await {
            Down::Reply { reply, .. } => reply,
            _ => unreachable!(),
        }
    }

    /// Asks for a model request.
    pub(crate) async fn admit(&mut self, candidate: usize) -> Reply {
        let call = self.call(Call::Admit { candidate }).await;
        let reply = self.reply(call).await;
        if reply == Reply::Go {
            let mut book = self.book.lock().unwrap();
            book.requests += 1;
            book.open += 1;
            book.most_open = book.most_open.max(book.open);
        }
        reply
    }

    /// Ends the request that the last call let out.
    pub(crate) async fn end(&mut self, candidate: usize, status: EndedStatus) {
        self.end_and_rest(candidate, status, None).await;
    }

    /// The same, with the time that the provider asked to be left alone.
    pub(crate) async fn end_and_rest(
        &mut self,
        candidate: usize,
        status: EndedStatus,
        retry_after_ms: Option<u64>,
    ) {
        self.book.lock().unwrap().open -= 1;
        let usage = Usage {
            input: Some(10),
            output: Some(5),
            ..Usage::default()
        };
        self.say(Up::Ended(Ended {
            admit: self.calls,
            candidate,
            status,
            retry_after_ms,
            usage,
        }))
        .await;
    }

    /// One model request, from the first candidate, that is answered.
    pub(crate) async fn request(&mut self) {
        assert_eq!(self.admit(0).await, Reply::Go, "{}", self.id);
        self.end(0, EndedStatus::Answered).await;
    }

    pub(crate) async fn event(&self, kind: EventKind) {
        self.say(Up::Event(Event { kind })).await;
    }

    /// Writes a record, and waits until it is stored.
    pub(crate) async fn record(&mut self, text: &str) {
        self.records += 1;
        let n = self.records;
        self.say(Up::Record(Record {
            n,
            at: 0,
            kind: RecordKind::User {
                origin: Origin::Steer,
                text: text.to_owned(),
            },
        }))
        .await;
        self.until(|down| matches!(down, Down::Taken { n: taken } if *taken == n))
            .await;
    }

    /// Dispatches tasks, and waits for the answer.
    pub(crate) async fn spawn(&mut self, args: Value) -> (bool, String) {
        let call = self.start(args).await;
        self.spawned(call).await
    }

    /// Dispatches tasks, and goes on.
    pub(crate) async fn start(&mut self, args: Value) -> u64 {
        self.call(Call::Spawn { args }).await
    }

    /// Waits for the answer to a call that dispatched tasks.
    pub(crate) async fn spawned(&mut self, call: u64) -> (bool, String) {
        match self.reply(call).await {
            Reply::Text { ok, text } => (ok, text),
            other => panic!("{other:?}"),
        }
    }

    /// Hands in a result, and leaves.
    pub(crate) async fn finish(&self, text: &str) -> Exit {
        let yielded = Ending::Yielded {
            tries: 1,
            faults: Vec::new(),
        };
        self.report(yielded, text).await;
        Exit::Code(0)
    }

    pub(crate) async fn report(&self, ending: Ending, text: &str) {
        let report = Report {
            ending,
            text: Some(text.to_owned()),
            data: None,
            sections: Vec::new(),
            last_text: None,
            warnings: Vec::new(),
        };
        self.say(Up::Finished(Finished { report })).await;
    }

    /// Does nothing more, and never leaves by itself.
    pub(crate) async fn stay(self) -> Exit {
        std::future::pending().await
    }
}
