//! Limits that may be absent.

/// A limit. In a file 0 says that there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit<N>(pub(crate) Option<N>);

impl<N: Copy + Default> Limit<N> {
    /// The limit, where there is one.
    pub fn get(self) -> Option<N> {
        self.0
    }

    /// The limit, or 0 where there is none.
    pub fn or_zero(self) -> N {
        self.0.unwrap_or_default()
    }
}

/// How deep agents may spawn agents. In a file a negative number says that there is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Depth(pub(crate) Option<u32>);

impl Depth {
    /// The deepest a task may be, where there is a limit; 1 is a task of the root.
    pub fn get(self) -> Option<u32> {
        self.0
    }

    /// Whether a task may be this deep; 1 is a task of the root.
    pub fn allows(self, depth: u32) -> bool {
        self.0.is_none_or(|deepest| depth <= deepest)
    }
}
