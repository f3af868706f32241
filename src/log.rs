//! What the program says about itself, for whoever looks for a fault in it. Off unless `SORTIE_LOG` asks for it.

use tracing_subscriber::{EnvFilter, filter::ParseError};

use crate::report::{Look, print};

/// Starts to log to stderr when `SORTIE_LOG` holds a filter.
pub(crate) fn start() {
    match filter() {
        Some(Ok(filter)) => init(filter, Look::stderr().color),
        Some(Err(error)) => print::err(&format!("warning: `SORTIE_LOG` is ignored: {error}\n")),
        None => {}
    }
}

/// The same for a child, whose stderr becomes `<id>.log`. Its root has warned of a bad filter.
pub(crate) fn start_in_child() {
    if let Some(Ok(filter)) = filter() {
        init(filter, false);
    }
}

fn filter() -> Option<Result<EnvFilter, ParseError>> {
    std::env::var("SORTIE_LOG")
        .ok()
        .map(|filter| EnvFilter::builder().parse(filter))
}

fn init(filter: EnvFilter, color: bool) {
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(color)
        .init();
}
