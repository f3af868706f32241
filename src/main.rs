//! The doors.
mod cli;
mod exit;
mod report;
fn main() {}
