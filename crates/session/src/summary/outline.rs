//! Finding the declarations of a source.

use std::{
    ops::{ControlFlow, RangeInclusive},
    time::{Duration, Instant},
};

use tree_sitter::{Node, ParseOptions, Parser, Tree};

use super::{
    Source,
    language::{Class, Kind, Language, body},
    memory::give_back,
    rows::Rows,
};

/// How long a text may take to parse.
const PARSE: Duration = Duration::from_secs(2);
/// How deep a tree is looked into: deeper ones were not written by a person, and each level takes a bit of the stack.
const DEPTH: usize = 60;
/// How many levels of a tree are searched for faults of syntax.
const FAULT_DEPTH: usize = 500;
/// Of this many lines one may be in a fault of syntax: what stands around a larger one is not understood.
const FAULTLESS: usize = 50;
/// Statements of so many lines are landmarks in a long body.
const LONG: usize = 15;
/// The most lines that a signature takes: of a longer one only the first is shown.
const SIGNATURE: usize = 12;

/// Something that a summary can show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Declaration {
    /// What it is; `None` for a comment or a long statement, which nobody counts.
    pub(super) kind: Option<Kind>,
    /// The lines that are shown of it. They are nobody else's.
    pub(super) rows: RangeInclusive<usize>,
    /// How many lines it has.
    pub(super) size: usize,
    /// How many declarations it lies in.
    pub(super) depth: usize,
    /// The innermost of those, by its place.
    pub(super) parent: Option<usize>,
    /// How much it matters: 0 is the most.
    pub(super) rank: usize,
}

/// The declarations of `source`, in the order of their lines; `None` when it cannot be understood.
pub(super) fn outline(source: &Source<'_>, rows: &Rows<'_>) -> Option<Vec<Declaration>> {
    let found = parse(source).and_then(|tree| declarations(&tree, source.language, rows));
    give_back();
    found
}

fn declarations(tree: &Tree, language: Language, rows: &Rows<'_>) -> Option<Vec<Declaration>> {
    let root = tree.root_node();
    if faulty_rows(root, 0) > rows.count() / FAULTLESS {
        return None;
    }
    let mut walk = Walk {
        language,
        rows,
        found: Vec::new(),
        free: 0,
    };
    walk.children(root, Place::default());
    Some(walk.found)
}

fn parse(source: &Source<'_>) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&source.language.grammar()).ok()?;
    let started = Instant::now();
    let mut look = |_: &tree_sitter::ParseState| {
        if source.cancel.is_cancelled() || started.elapsed() > PARSE {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let bytes = source.text.as_bytes();
    parser.parse_with_options(
        &mut |from, _| bytes.get(from..).unwrap_or_default(),
        None,
        Some(ParseOptions::new().progress_callback(&mut look)),
    )
}

/// How many lines lie in faults of syntax.
fn faulty_rows(node: Node<'_>, level: usize) -> usize {
    if node.is_error() || node.is_missing() {
        return lines(node);
    }
    if !node.has_error() || level > FAULT_DEPTH {
        return 0;
    }
    let mut cursor = node.walk();
    node.children(&mut cursor)
        .map(|child| faulty_rows(child, level + 1))
        .sum()
}

/// How many lines a node has.
fn lines(node: Node<'_>) -> usize {
    last_row(node) - node.start_position().row + 1
}

/// The last line of a node; one that takes the end of its line with it does not reach into the next.
fn last_row(node: Node<'_>) -> usize {
    let (start, end) = (node.start_position(), node.end_position());
    if end.column == 0 && end.row > start.row {
        end.row - 1
    } else {
        end.row
    }
}

/// Where in a source a walk is.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    /// How many levels of the tree are above.
    level: usize,
    /// How many declarations are.
    depth: usize,
    /// The innermost of them.
    parent: Option<usize>,
    /// Whether one of them is a function.
    in_function: bool,
    /// Whether one of them holds tests.
    in_tests: bool,
}

struct Walk<'a> {
    language: Language,
    rows: &'a Rows<'a>,
    found: Vec<Declaration>,
    /// The first line that nothing has taken.
    free: usize,
}

impl Walk<'_> {
    fn children(&mut self, node: Node<'_>, place: Place) {
        if place.level > DEPTH {
            return;
        }
        let below = Place {
            level: place.level + 1,
            ..place
        };
        let mut cursor = node.walk();
        // A comment counts once it is known what it stands before.
        let mut aside: Option<Node<'_>> = None;
        let mut aside_end = usize::MAX - 1;
        let mut after_import = false;
        for child in node.named_children(&mut cursor) {
            let class = self.language.class(child, node);
            if class == Class::Aside {
                let goes_on = aside_end + 1 == child.start_position().row;
                if !self.stands_inside(child) {
                    aside = aside.filter(|_| goes_on).or(Some(child));
                } else if !goes_on || child.kind() == "decorator" {
                    self.aside(child, place);
                }
                aside_end = last_row(child);
                continue;
            }
            match class {
                Class::Declared(kind) => {
                    if let Some(comment) = aside.filter(|_| kind != Kind::Import) {
                        self.aside(comment, place);
                    }
                    self.declaration(child, kind, below, after_import);
                }
                Class::Through => {
                    if let Some(comment) = aside {
                        self.aside(comment, place);
                    }
                    self.children(child, below);
                }
                Class::Other if lines(child) >= LONG => self.statement(child, below),
                Class::Other | Class::Aside => {}
            }
            after_import = class == Class::Declared(Kind::Import);
            aside = None;
        }
    }

    /// Whether a comment speaks of what it stands in: `//!`, a docstring.
    fn stands_inside(&self, comment: Node<'_>) -> bool {
        let row = self.rows.row(comment.start_position().row).trim_start();
        row.starts_with("//!")
            || comment.kind() == "expression_statement"
            || comment.kind() == "decorator"
    }

    fn declaration(&mut self, node: Node<'_>, kind: Kind, place: Place, after_import: bool) {
        // What a function keeps to itself is no declaration to anybody else.
        if place.in_function && matches!(kind, Kind::Constant | Kind::Member | Kind::Import) {
            if lines(node) >= LONG {
                self.statement(node, place);
            }
            return;
        }
        let rank = match (kind, place.depth) {
            (Kind::Import, _) if after_import || place.depth > 0 => 9,
            (Kind::Import, _) => 3,
            (Kind::Constant, 0) => 2,
            (Kind::Constant | Kind::Member, 0 | 1) => 5,
            (Kind::Constant | Kind::Member, _) => 6,
            (_, depth @ (0 | 1)) => depth,
            (_, depth) => depth + 2,
        };
        let rank = if place.in_tests { rank + 4 } else { rank };
        let body = body(node);
        let first = node.start_position().row;
        let last = body.map_or(first, |body| signature_end(node, body).max(first));
        let last = if last - first < SIGNATURE {
            last
        } else {
            first
        };
        let parent = self.push(node, Some(kind), first..=last, rank, place);
        let is_tests = kind == Kind::Module
            && node.child_by_field_name("name").is_some_and(|name| {
                self.rows
                    .row(name.start_position().row)
                    .contains("mod test")
            });
        let within = Place {
            depth: place.depth + usize::from(parent.is_some()),
            parent: parent.or(place.parent),
            in_function: place.in_function || matches!(kind, Kind::Function | Kind::Macro),
            in_tests: place.in_tests || is_tests,
            ..place
        };
        self.children(body.unwrap_or(node), within);
    }

    /// A statement of many lines, and what is in it.
    fn statement(&mut self, node: Node<'_>, place: Place) {
        let first = node.start_position().row;
        let parent = self.push(node, None, first..=first, 10 + place.depth, place);
        let within = Place {
            depth: place.depth + usize::from(parent.is_some()),
            parent: parent.or(place.parent),
            ..place
        };
        self.children(node, within);
    }

    /// The first line of a comment that says something.
    fn aside(&mut self, node: Node<'_>, place: Place) {
        let (first, last) = (node.start_position().row, last_row(node));
        let says = |row: &usize| self.rows.row(*row).contains(char::is_alphanumeric);
        let Some(row) = (first..=last).take(3).find(says) else {
            return;
        };
        let opens_the_file = self.found.is_empty() && place.depth == 0;
        let rank = if opens_the_file { 2 } else { 7 };
        let rank = if place.in_tests { rank + 4 } else { rank };
        self.push(node, None, row..=row, rank, place);
    }

    /// Takes the lines `rows` for `node`, unless they are taken.
    fn push(
        &mut self,
        node: Node<'_>,
        kind: Option<Kind>,
        rows: RangeInclusive<usize>,
        rank: usize,
        place: Place,
    ) -> Option<usize> {
        // A node may end where no line starts any more.
        if *rows.start() < self.free || *rows.end() >= self.rows.count() {
            return None;
        }
        self.free = rows.end() + 1;
        self.found.push(Declaration {
            kind,
            rows,
            size: lines(node),
            depth: place.depth,
            parent: place.parent,
            rank,
        });
        Some(self.found.len() - 1)
    }
}

/// The line in which a signature ends: that of whatever stands before the body.
fn signature_end(node: Node<'_>, body: Node<'_>) -> usize {
    let mut cursor = node.walk();
    // A body that is not the node's own is that of a function that a variable is declared with: on the same line, mostly.
    let before = node
        .children(&mut cursor)
        .take_while(|child| child.id() != body.id())
        .filter(|child| child.end_byte() <= body.start_byte())
        .last();
    before.map_or_else(
        || body.start_position().row,
        |child| child.end_position().row,
    )
}
