//! The memory that a tree took.

/// Gives memory that is free back to the system.
///
/// A tree is about fifty times as large as its text, in pieces so small that the allocator keeps all of them for later,
/// and a session seldom parses twice. Measured with 1.9 MiB of Rust: 100 MiB stayed behind.
pub(super) fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        #[expect(
            unsafe_code,
            reason = "it takes no pointer, and touches only memory that is free"
        )]
        // Whether there was any is nothing to act on.
        let _ = unsafe { nix::libc::malloc_trim(0) };
    }
}
