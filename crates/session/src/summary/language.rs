//! The languages that are understood, and what their syntax calls a declaration.

use std::path::Path;

use tree_sitter::Node;

/// A language with a grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    /// Rust.
    Rust,
    /// Python.
    Python,
    /// TypeScript.
    TypeScript,
    /// TypeScript with JSX. JavaScript too: all but a few odd corners of it read the same, and those that do not are faults
    /// of syntax, so that such a file is shown as it is.
    Tsx,
    /// Go.
    Go,
}

/// What a node is to a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Something that is declared.
    Declared(Kind),
    /// A comment or a decorator: told in short where there is room.
    Aside,
    /// Nothing of its own: what it holds counts as if it stood in its place.
    Through,
    /// Nothing that is declared.
    Other,
}

/// What is declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// A module or a namespace.
    Module,
    /// A type, with what it holds.
    Type,
    /// An implementation block.
    Impl,
    /// A function or a method.
    Function,
    /// A macro.
    Macro,
    /// A constant or a variable.
    Constant,
    /// A field, a variant, or a property.
    Member,
    /// Something that is brought in or handed on.
    Import,
}

impl Kind {
    /// `count` of them, in words.
    pub(super) fn counted(self, count: usize) -> String {
        let noun = match self {
            Self::Module => "module",
            Self::Type => "type",
            Self::Impl => "impl",
            Self::Function => "function",
            Self::Macro => "macro",
            Self::Constant => "constant",
            Self::Member => "member",
            Self::Import => "import",
        };
        let plural = if count == 1 { "" } else { "s" };
        format!("{count} {noun}{plural}")
    }
}

use Class::{Aside, Declared, Other, Through};

impl Language {
    /// The language of a file, by the ending of its name.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "rs" => Some(Self::Rust),
            "py" | "pyi" => Some(Self::Python),
            "ts" | "mts" | "cts" => Some(Self::TypeScript),
            "tsx" | "js" | "jsx" | "mjs" | "cjs" => Some(Self::Tsx),
            "go" => Some(Self::Go),
            _ => None,
        }
    }

    /// Its grammar. Until it is asked for, nothing of it is in memory.
    pub(super) fn grammar(self) -> tree_sitter::Language {
        match self {
            Self::Rust => tree_sitter_rust::LANGUAGE,
            Self::Python => tree_sitter_python::LANGUAGE,
            Self::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT,
            Self::Tsx => tree_sitter_typescript::LANGUAGE_TSX,
            Self::Go => tree_sitter_go::LANGUAGE,
        }
        .into()
    }

    /// What `node`, a child of `parent`, is.
    pub(super) fn class(self, node: Node<'_>, parent: Node<'_>) -> Class {
        match self {
            Self::Rust => rust(node.kind()),
            Self::Python => python(node, parent),
            Self::TypeScript | Self::Tsx => typescript(node, parent),
            Self::Go => go(node.kind()),
        }
    }
}

fn rust(kind: &str) -> Class {
    Declared(match kind {
        "mod_item" | "foreign_mod_item" => Kind::Module,
        "struct_item" | "enum_item" | "union_item" | "trait_item" | "type_item"
        | "associated_type" => Kind::Type,
        "impl_item" => Kind::Impl,
        "function_item" | "function_signature_item" => Kind::Function,
        "macro_definition" => Kind::Macro,
        "const_item" | "static_item" => Kind::Constant,
        "field_declaration" | "enum_variant" => Kind::Member,
        "use_declaration" | "extern_crate_declaration" => Kind::Import,
        "line_comment" | "block_comment" => return Aside,
        "declaration_list" | "field_declaration_list" | "enum_variant_list" => return Through,
        _ => return Other,
    })
}

fn python(node: Node<'_>, parent: Node<'_>) -> Class {
    Declared(match node.kind() {
        "class_definition" | "type_alias_statement" => Kind::Type,
        "function_definition" => Kind::Function,
        "import_statement" | "import_from_statement" | "future_import_statement" => Kind::Import,
        "expression_statement" => match node.named_child(0).map(|inner| inner.kind()) {
            Some("assignment") if parent.kind() == "block" => Kind::Member,
            Some("assignment") => Kind::Constant,
            // A docstring, or nothing at all.
            Some("string") => return Aside,
            _ => return Other,
        },
        "comment" | "decorator" => return Aside,
        "decorated_definition" | "block" => return Through,
        _ => return Other,
    })
}

fn typescript(node: Node<'_>, parent: Node<'_>) -> Class {
    Declared(match node.kind() {
        "internal_module" | "module" => Kind::Module,
        "class_declaration"
        | "abstract_class_declaration"
        | "interface_declaration"
        | "enum_declaration"
        | "type_alias_declaration" => Kind::Type,
        "function_declaration"
        | "generator_function_declaration"
        | "function_signature"
        | "method_definition"
        | "method_signature"
        | "abstract_method_signature" => Kind::Function,
        "lexical_declaration" | "variable_declaration" => match function_value(node) {
            Some(_) => Kind::Function,
            None => Kind::Constant,
        },
        "public_field_definition" | "property_signature" | "enum_assignment" => Kind::Member,
        "property_identifier" if parent.kind() == "enum_body" => Kind::Member,
        "import_statement" | "import_alias" => Kind::Import,
        "export_statement" => {
            let has = |field| node.child_by_field_name(field).is_some();
            if has("declaration") {
                return Through;
            } else if has("value") {
                Kind::Constant
            } else {
                Kind::Import
            }
        }
        "comment" | "decorator" => return Aside,
        "ambient_declaration"
        | "expression_statement"
        | "class_body"
        | "interface_body"
        | "object_type"
        | "enum_body" => return Through,
        _ => return Other,
    })
}

fn go(kind: &str) -> Class {
    Declared(match kind {
        "type_spec" | "type_alias" => Kind::Type,
        "function_declaration" | "method_declaration" | "method_elem" => Kind::Function,
        "const_spec" | "var_spec" => Kind::Constant,
        "field_declaration" => Kind::Member,
        "import_declaration" | "import_spec" => Kind::Import,
        "comment" => return Aside,
        "package_clause"
        | "statement_list"
        | "type_declaration"
        | "const_declaration"
        | "var_declaration"
        | "var_spec_list"
        | "import_spec_list"
        | "struct_type"
        | "interface_type"
        | "field_declaration_list" => {
            return Through;
        }
        _ => return Other,
    })
}

/// The body of what a node declares, where it has one.
pub(super) fn body(node: Node<'_>) -> Option<Node<'_>> {
    node.child_by_field_name("body")
        .or_else(|| function_value(node)?.child_by_field_name("body"))
}

/// The function that a variable is declared with: `const f = () => { … }`.
fn function_value(node: Node<'_>) -> Option<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor)
        .filter_map(|declarator| declarator.child_by_field_name("value"))
        .find(|value| {
            matches!(
                value.kind(),
                "arrow_function" | "function_expression" | "generator_function"
            )
        })
}
