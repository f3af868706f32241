use std::{fmt::Write as _, path::Path};

use sortie_protocol::Secrets;

use super::*;

/// A source in which `~N` stands for N lines that do something, indented like it.
pub(super) fn filled(source: &str) -> String {
    let mut text = String::new();
    for line in source.lines() {
        let indent = &line[..line.len() - line.trim_start().len()];
        match line.trim_start().strip_prefix('~') {
            None => text += line,
            Some(count) => {
                for n in 1..count.parse().unwrap() {
                    let _ = writeln!(text, "{indent}some_step(state, {n}, \"and so on\");");
                }
                text = text + indent + "last_step(state);";
            }
        }
        text.push('\n');
    }
    text
}

/// The summary of a file called `name`, where there is one.
pub(super) fn summary_of(name: &str, text: &str) -> Option<String> {
    summarize(&Source {
        text,
        language: Language::of(Path::new(name)).unwrap(),
        limit: 48 << 10,
        keys: &Redactor::default(),
        cancel: &CancellationToken::new(),
    })
}

#[test]
fn rust_is_summarised() {
    let text = filled(include_str!("samples/rust.txt"));
    insta::assert_snapshot!(summary_of("a.rs", &text).unwrap(), @r#"
    [summary of 487 lines: declarations by line number; `… A-B` stands for lines left out. Read them with range "A-B"; `edit` needs the real text]
    1: //! Reads the thing. … 2-4
    5: use std::{ … 6-8
    9-10: use crate::other::Thing;
    11: const LIMIT: usize = 20;
    12: /// A table.
    13: static TABLE: [u8; 3] = [ … 14-21
    22: pub enum Fault {
    23:   /// It is gone.
    24:   Gone,
    25:   Denied { path: String }, … 26-27
    28: pub struct Parser<'a> {
    29:   source: &'a str,
    30:   pub limit: usize, … 31-32
    33: impl<'a> Parser<'a> {
    34:   /// Starts at the beginning.
    35-40:   pub fn new( source: &'a str, limit: usize, ) -> Self where Self: Sized, … 41-73
    74-75:   fn step(&mut self) { self.limit += 1; }
    76:   pub async fn run(&mut self) -> Result<(), Fault> { … 77-88
    89:     match self.limit {
    90:       0 => { … 91-133
    134:     fn inner(a: u8) -> u8 { … 135-144
    145: pub trait Visit {
    146:   type Out;
    147:   const DEPTH: usize;
    148:   fn visit(&self) -> Self::Out;
    149:   fn leave(&self) { … 150-172
    173: macro_rules! twice { … 174-176
    177: pub fn read(path: &str) -> io::Result<String> { … 178-430
    431: mod tests {
    432:   use super::*; … 433-434
    435:   fn it_reads() { … 436-487
    "#);
}

#[test]
fn python_is_summarised() {
    let text = filled(include_str!("samples/python.txt"));
    insta::assert_snapshot!(summary_of("a.py", &text).unwrap(), @r#"
    [summary of 448 lines: declarations by line number; `… A-B` stands for lines left out. Read them with range "A-B"; `edit` needs the real text]
    … 1-5
    6: import os
    7: from typing import ( … 8-11
    12: LIMIT = 20
    13: ROUTES = { … 14-16
    17: class Fault(Exception):
    18-19:   """What went wrong."""
    20-21:   code: int = 3
    22:   def __init__(self, path: str) -> None: … 23
    24:     Remembers where. … 25-56
    57:   @property
    58:   def short(self) -> str: … 59-71
    72:   class Meta:
    73-74:     ordering = ["id"]
    75: @app.route("/users")
    76: @cached
    77-80: async def users( request: Any, limit: int = LIMIT, ) -> list[str]: … 81-230
    231:   for user in everybody: … 232-272
    273:   def inner(x): … 274-294
    295: # Not worth much.
    296-297: def nothing(): pass
    298: if __name__ == "__main__": … 299-448
    "#);
}

#[test]
fn typescript_is_summarised() {
    let text = filled(include_str!("samples/typescript.txt"));
    insta::assert_snapshot!(summary_of("a.ts", &text).unwrap(), @r#"
    [summary of 451 lines: declarations by line number; `… A-B` stands for lines left out. Read them with range "A-B"; `edit` needs the real text]
    1: import { a, b } from "./a";
    2: import type { C } from "./c";
    3: export * from "./d"; … 4-5
    6: * What it is made with. … 7
    8: export interface Options {
    9:   limit: number;
    10:   onDone?(result: string): void; … 11-12
    13-14: export type Result<T> = { ok: true; value: T } | { ok: false };
    15: export enum Level {
    16:   Low,
    17:   High = 3, … 18-19
    20: const table = { … 21-23
    24: @Injectable()
    25: export class Service<T> extends Base implements Options {
    26:   private readonly limit = 3;
    27:   constructor(private http: Http) { … 28-59
    60-63:   async run( first: T, second: Map<string, T>, ): Promise<Result<T>> { … 64-125
    126:   get size() { return this.limit; } … 127-128
    129: export const handler = async (event: Event): Promise<void> => { … 130-221
    222: namespace Inner {
    223:   export function deep(x: number) { … 224-246
    247: function overload(x: string): void;
    248: function overload(x: any) { … 249-450
    451: export default overload;
    "#);
}

#[test]
fn javascript_is_summarised() {
    let text = filled(include_str!("samples/javascript.txt"));
    insta::assert_snapshot!(summary_of("a.jsx", &text).unwrap(), @r#"
    [summary of 448 lines: declarations by line number; `… A-B` stands for lines left out. Read them with range "A-B"; `edit` needs the real text]
    1-2: const fs = require("fs");
    3: function App({ items }) { … 4-106
    107: describe("App", () => { … 108-114
    115:   it("shows its items", async () => { … 116-243
    244: module.exports = { … 245
    246:   render() { … 247-448
    "#);
}

#[test]
fn go_is_summarised() {
    let text = filled(include_str!("samples/go.txt"));
    insta::assert_snapshot!(summary_of("a.go", &text).unwrap(), @r#"
    [summary of 527 lines: declarations by line number; `… A-B` stands for lines left out. Read them with range "A-B"; `edit` needs the real text]
    1: // Package serve serves. … 2-3
    4: import (
    5:   "fmt"
    6:   "net/http" … 7-8
    9: const Limit = 20 … 10-11
    12: Low = iota
    13: High … 14-15
    16-17: var ErrGone = fmt.Errorf("gone")
    18: // Server is what serves. … 19
    20: type Server struct {
    21:   Addr string
    22:   mux *http.ServeMux … 23-25
    26: Handler interface {
    27:   Handle(w http.ResponseWriter) error … 28
    29: Alias = Server … 30-31
    32: // New makes one.
    33: func New(addr string) *Server { … 34-65
    66-69: func (s *Server) Run( ctx context.Context, limit int, ) error { … 70-219
    220:   for { … 221-323
    324-325: func helper() { fmt.Println() }
    326: func main() { … 327-527
    "#);
}

#[test]
fn what_is_better_shown_as_it_is_has_no_summary() {
    let function = "fn f() {\n    let x = 1;\n    println!(\"{x} and so on and so on\");\n}\n\n";
    let long = function.repeat(200);
    assert!(summary_of("a.rs", &long).is_some());
    for (why, name, text) in [
        ("short", "a.rs", function.repeat(60)),
        ("many lines of nothing", "a.rs", "\n".repeat(3_000)),
        (
            "no declaration",
            "a.rs",
            "// and so on and so on and so on\n".repeat(1_000),
        ),
        (
            "prose",
            "a.rs",
            "It was a dark and stormy night; the rain fell in torrents.\n".repeat(500),
        ),
        ("another language", "a.py", long.clone()),
        (
            "lines of a machine",
            "a.js",
            format!("var x={};\n", "[1,2],".repeat(100)).repeat(500),
        ),
        (
            "one line of a machine",
            "a.js",
            format!("var x=[{}];\n", "1,".repeat(50_000)),
        ),
        ("too long", "a.rs", function.repeat(50_000)),
    ] {
        assert_eq!(summary_of(name, &text), None, "{why}");
    }
}

#[test]
fn a_fault_of_syntax_costs_what_is_around_it() {
    let function = |name: &str| filled(&format!("fn {name}() {{\n    ~40\n}}\n"));
    let functions: Vec<_> = (0..12).map(|n| function(&format!("f{n}"))).collect();
    let text = format!("fn broken( {{\n{}", functions.concat());
    let summary = summary_of("a.rs", &text);
    assert!(summary.is_none_or(|summary| summary.contains("fn f11")));
    let torn: Vec<_> = (0..40)
        .map(|n| format!("{}%%% ((( [[[ fn\n", function(&format!("f{n}"))))
        .collect();
    assert_eq!(summary_of("a.rs", &torn.concat()), None);
}

#[test]
fn line_ends_of_either_kind_are_one_line_end() {
    let text = filled("fn one(\n    a: u8,\n) {\n    ~300\n}\nfn two() {\n    ~200\n}\n");
    let plain = summary_of("a.rs", &text).unwrap();
    assert_eq!(
        summary_of("a.rs", &text.replace('\n', "\r\n")),
        Some(plain.clone())
    );
    insta::assert_snapshot!(plain, @r#"
    [summary of 506 lines: declarations by line number; `… A-B` stands for lines left out. Read them with range "A-B"; `edit` needs the real text]
    1-3: fn one( a: u8, ) { … 4-304
    305: fn two() { … 306-506
    "#);
}

#[test]
fn keys_are_kept_out() {
    let mut secrets = Secrets::default();
    secrets.insert("A", "sk-12345678");
    let keys = Redactor::new(&secrets);
    let text = filled("const KEY: &str = \"sk-12345678\";\nfn one() {\n    ~500\n}\n");
    let summary = summarize(&Source {
        text: &text,
        language: Language::Rust,
        limit: 48 << 10,
        keys: &keys,
        cancel: &CancellationToken::new(),
    });
    insta::assert_snapshot!(summary.unwrap(), @r#"
    [summary of 503 lines: declarations by line number; `… A-B` stands for lines left out. Read them with range "A-B"; `edit` needs the real text]
    1: const KEY: &str = "[key A]";
    2: fn one() { … 3-503
    "#);
}

#[test]
fn a_stopped_session_is_not_kept_waiting() {
    let cancel = CancellationToken::new();
    cancel.cancel();
    let text = filled("fn one() {\n    ~9000\n}\n");
    let source = Source {
        text: &text,
        language: Language::Rust,
        limit: 48 << 10,
        keys: &Redactor::default(),
        cancel: &cancel,
    };
    assert_eq!(summarize(&source), None);
}
