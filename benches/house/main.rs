//! What the README says about speed and memory, measured: `cargo bench --bench house`.
//!
//! Every figure that has a baseline is taken beside it, one of each in turn, because only their ratio means anything
//! on another machine. Prints one table. Words on the command line choose the rows that have one of them in their name.

#![expect(
    clippy::print_stdout,
    reason = "a benchmark is there to print its figures"
)]

mod batches;
mod child;
mod decisions;
mod figures;
mod memory;
mod scene;
mod table;

use crate::table::Table;

fn main() {
    // A freshly written program starts slowly until it is on disk.
    nix::unistd::sync();
    let mut table = Table::for_rows(std::env::args().skip(1));
    child::measure(&mut table);
    batches::measure(&mut table);
    decisions::measure(&mut table);
    println!("{table}");
}
