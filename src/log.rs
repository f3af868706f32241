//! What the program says about itself, for whoever looks for a fault in it. Off unless `SORTIE_LOG` asks for it.

use tracing_subscriber::EnvFilter;

use crate::report::{Look, print};

/// Starts to log to stderr when `SORTIE_LOG` holds a filter. Not for a child: its stderr belongs to its root.
pub(crate) fn start() {
    let Ok(filter) = std::env::var("SORTIE_LOG") else {
        return;
    };
    match EnvFilter::builder().parse(&filter) {
        Ok(filter) => tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_writer(std::io::stderr)
            .with_ansi(Look::stderr().color)
            .init(),
        Err(error) => print::err(&format!("warning: `SORTIE_LOG` is ignored: {error}\n")),
    }
}
