//! What the other end of a stream can show.

use std::{env, io::IsTerminal};

use console::{Style, Term};

/// The width that is assumed where there is no terminal to ask.
const WIDTH: usize = 100;

/// How text for one stream should look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Look {
    /// Whether lines can be redrawn in place.
    pub(crate) terminal: bool,
    /// Whether colour is wanted.
    pub(crate) color: bool,
    /// Columns.
    pub(crate) width: usize,
}

impl Look {
    /// Text for whoever reads stdout.
    pub(crate) fn stdout() -> Self {
        Self::of(&Term::stdout(), std::io::stdout().is_terminal())
    }

    /// Text for whoever reads stderr.
    pub(crate) fn stderr() -> Self {
        Self::of(&Term::stderr(), std::io::stderr().is_terminal())
    }

    fn of(term: &Term, terminal: bool) -> Self {
        let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
        let terminal = terminal && set("TERM").is_none_or(|kind| kind != "dumb");
        Self {
            terminal,
            color: terminal && set("NO_COLOR").is_none(),
            width: match term.size_checked() {
                Some((_, columns)) if terminal && columns > 0 => usize::from(columns),
                _ => WIDTH,
            },
        }
    }

    /// A style that is plain where colour is not wanted.
    pub(crate) fn style(self) -> Style {
        Style::new().force_styling(self.color)
    }
}

#[cfg(test)]
impl Look {
    /// A pipe: what snapshots are taken with.
    pub(crate) const PLAIN: Self = Self {
        terminal: false,
        color: false,
        width: WIDTH,
    };
}
