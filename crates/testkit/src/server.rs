//! A provider that does what providers do to their callers: it answers, streams, cuts, stalls, and refuses.
//!
//! A plain listener on loopback, a thread for each connection, and a script. Every request is also held to what real
//! providers insist on; see [`ModelServer::verify`].

mod connection;
mod dialect;
mod http;
mod request;
mod rules;
mod turn;

use std::{
    collections::{HashMap, VecDeque},
    fmt,
    net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

pub use request::{Request, Step};
use sortie_protocol::Api;
pub use turn::Turn;

/// How long the waiting functions wait before they call it a failure.
const PATIENCE: Duration = Duration::from_mins(1);

/// A scripted provider on a port of its own. Dropping it ends its threads, and panics like
/// [`verify`](Self::verify).
#[derive(Debug)]
pub struct ModelServer {
    shared: Arc<Shared>,
    address: SocketAddr,
    acceptor: Option<JoinHandle<()>>,
}

/// A client that hung up before its answer was whole.
#[derive(Clone, Copy, Debug)]
pub struct Hangup {
    /// Which request it had sent: an index into [`ModelServer::requests`].
    pub request: usize,
    /// When the server saw it.
    pub at: Instant,
}

#[derive(Debug)]
struct Shared {
    script: Script,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    turns: VecDeque<Turn>,
    requests: Vec<Request>,
    hangups: Vec<Hangup>,
    faults: Vec<String>,
    secrets: Vec<String>,
    /// Streams in use: shut down at the end, so that no thread waits for a client.
    open: HashMap<usize, TcpStream>,
    workers: Vec<JoinHandle<()>>,
    stopping: bool,
}

type Answer = dyn Fn(&Request) -> Turn + Send + Sync;

enum Script {
    /// The turns of [`State`], in order.
    Turns,
    /// Whatever this says.
    Answering(Box<Answer>),
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Turns => "Turns",
            Self::Answering(_) => "Answering",
        })
    }
}

impl ModelServer {
    /// Answers the first request with the first turn, and so on. A request after the last turn is a fault.
    ///
    /// # Panics
    ///
    /// When there is no port on loopback.
    pub fn start(turns: impl IntoIterator<Item = Turn>) -> Self {
        let state = State {
            turns: turns.into_iter().collect(),
            ..State::default()
        };
        Self::listen(Script::Turns, state)
    }

    /// Answers each request with what `answer` makes of it: for several conversations at once, whose requests come
    /// in any order. It is called on a thread of the connection, so it may wait.
    ///
    /// # Panics
    ///
    /// When there is no port on loopback.
    pub fn answering(answer: impl Fn(&Request) -> Turn + Send + Sync + 'static) -> Self {
        Self::listen(Script::Answering(Box::new(answer)), State::default())
    }

    fn listen(script: Script, state: State) -> Self {
        let listener =
            TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback has a free port");
        let address = listener.local_addr().expect("a listener has an address");
        let shared = Arc::new(Shared {
            script,
            state: Mutex::new(state),
            changed: Condvar::new(),
        });
        let acceptor = thread::spawn({
            let shared = Arc::clone(&shared);
            move || accept(&listener, &shared)
        });
        Self {
            shared,
            address,
            acceptor: Some(acceptor),
        }
    }

    /// Makes it a fault when `secret` stands in the body of a request. Keys that come in a header are watched for
    /// without being named here.
    #[must_use]
    pub fn guarding(self, secret: impl Into<String>) -> Self {
        self.shared.lock().secrets.push(secret.into());
        self
    }

    /// The base URL; it ends in `/v1`.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The base URL as the documentation of `api` writes it.
    pub fn base_url(&self, api: Api) -> String {
        let root = format!("http://{}", self.address);
        match api {
            Api::AnthropicMessages => root,
            Api::GoogleGenerativeAi => root + "/v1beta",
            Api::OpenaiCompletions | Api::OpenaiResponses | Api::Script => self.url(),
        }
    }

    /// Every request so far, in the order in which they came.
    pub fn requests(&self) -> Vec<Request> {
        self.shared.lock().requests.clone()
    }

    /// Every client so far that hung up before its answer was whole.
    pub fn hangups(&self) -> Vec<Hangup> {
        self.shared.lock().hangups.clone()
    }

    /// Waits until there have been `n` requests, and returns them all.
    ///
    /// # Panics
    ///
    /// When they do not come within a minute.
    #[track_caller]
    pub fn wait_for_requests(&self, n: usize) -> Vec<Request> {
        let state = self.wait_until(|state| state.requests.len() >= n);
        assert!(
            state.requests.len() >= n,
            "{} of {n} requests came within {PATIENCE:?}",
            state.requests.len()
        );
        state.requests.clone()
    }

    /// Waits until `n` clients have hung up, and returns them all.
    ///
    /// # Panics
    ///
    /// When they do not within a minute.
    #[track_caller]
    pub fn wait_for_hangups(&self, n: usize) -> Vec<Hangup> {
        let state = self.wait_until(|state| state.hangups.len() >= n);
        assert!(
            state.hangups.len() >= n,
            "{} of {n} clients hung up within {PATIENCE:?}",
            state.hangups.len()
        );
        state.hangups.clone()
    }

    fn wait_until(&self, done: impl Fn(&State) -> bool) -> MutexGuard<'_, State> {
        let (state, _) = self
            .shared
            .changed
            .wait_timeout_while(self.shared.lock(), PATIENCE, |state| !done(state))
            .unwrap_or_else(PoisonError::into_inner);
        state
    }

    /// Checks that every request so far was one that a provider accepts: it reads as JSON and asks for a stream, each
    /// tool result answers one earlier call, each call has its result before anybody speaks again, no key is in a
    /// body, and there was a turn to answer it with.
    ///
    /// # Panics
    ///
    /// When one was not, naming each fault.
    #[track_caller]
    pub fn verify(&self) {
        let faults = self.shared.lock().faults.clone();
        assert!(
            faults.is_empty(),
            "the model server was asked what no provider accepts:\n{}",
            faults.join("\n")
        );
    }

    /// Takes the faults that [`verify`](Self::verify) would panic about: for tests that want them.
    pub fn take_faults(&self) -> Vec<String> {
        std::mem::take(&mut self.shared.lock().faults)
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        let open = {
            let mut state = self.shared.lock();
            state.stopping = true;
            std::mem::take(&mut state.open)
        };
        for stream in open.into_values() {
            // A client that is gone already needs no farewell.
            let _ = stream.shutdown(Shutdown::Both);
        }
        // `accept` has no timeout; a connection wakes it.
        let _ = TcpStream::connect(self.address);
        let acceptor = self.acceptor.take().map(JoinHandle::join);
        let workers = std::mem::take(&mut self.shared.lock().workers);
        let workers = workers.into_iter().map(JoinHandle::join);
        let panicked = acceptor
            .into_iter()
            .chain(workers)
            .filter(Result::is_err)
            .count();
        if !thread::panicking() {
            assert_eq!(panicked, 0, "threads of the model server panicked");
            self.verify();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The answer to `request`, which is noted.
    fn answer(&self, request: &Request) -> (usize, Turn) {
        let (number, turn) = {
            let mut state = self.lock();
            let number = state.requests.len();
            let faults = rules::broken(request, &state.secrets);
            let faults = faults
                .into_iter()
                .map(|fault| format!("request {}: {fault}", number + 1));
            state.faults.extend(faults);
            let turn = match self.script {
                Script::Answering(_) => None,
                Script::Turns => Some(state.turns.pop_front().unwrap_or_else(|| {
                    let fault = format!("request {}: came after the last turn", number + 1);
                    state.faults.push(fault);
                    Turn::status(500)
                })),
            };
            state.requests.push(request.clone());
            (number, turn)
        };
        self.changed.notify_all();
        let turn = match (&self.script, turn) {
            (Script::Answering(answer), _) => answer(request),
            (Script::Turns, turn) => turn.unwrap_or_else(|| Turn::status(500)),
        };
        (number, turn)
    }

    fn fault(&self, fault: String) {
        self.lock().faults.push(fault);
    }

    fn hung_up(&self, request: usize) {
        let mut state = self.lock();
        // What ends with the server was not ended by the client.
        if !state.stopping {
            state.hangups.push(Hangup {
                request,
                at: Instant::now(),
            });
        }
        drop(state);
        self.changed.notify_all();
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        let Ok(stream) = stream else { continue };
        let mut state = shared.lock();
        if state.stopping {
            return;
        }
        let Ok(copy) = stream.try_clone() else {
            continue;
        };
        let number = state.workers.len();
        state.open.insert(number, copy);
        let worker = thread::spawn({
            let shared = Arc::clone(shared);
            move || {
                connection::serve(&stream, &shared);
                // Ours is not the only handle, so dropping it would not close the connection.
                let _ = stream.shutdown(Shutdown::Both);
                shared.lock().open.remove(&number);
            }
        });
        state.workers.push(worker);
    }
}
