//! Rules about Rust sources: headers, sizes, and words that must not stay.

use super::Finding;
use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

const FILE_LINES: usize = 500;
const FUNCTION_LINES: usize = 80;
/// Where `unsafe` may stand: the system crate, and a benchmark's peer that cannot be opened without. A module of the VM's
/// hot path may be added here, with an ADR.
const UNSAFE_PLACES: &[&str] =
    &["crates/system/src/", "crates/system/tests/lmdb_writes.rs", "bench/store/src/lmdb_peer.rs"];
/// Macros that mark something unfinished.
const UNFINISHED: &[&str] = &["todo", "unimplemented", "dbg"];

pub fn check(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let header = header(text);
    if path.contains("src/") && header.is_empty() {
        findings.push(Finding::in_file(path, "the module does not open with `//!`"));
    }
    let lines = text.lines().count();
    if lines > FILE_LINES && !header.contains("Long because") {
        let what = format!("{lines} lines: split it, or say why in the header, `//! Long because …`");
        findings.push(Finding::in_file(path, what));
    }
    match syn::parse_file(text) {
        Ok(file) => {
            let mut visitor = Visitor { path, header: &header, is_test: is_test_path(path), findings };
            visitor.visit_file(&file);
            visitor.findings
        }
        Err(error) => {
            findings.push(Finding::at(path, error.span().start().line, format!("does not parse: {error}")));
            findings
        }
    }
}

fn header(text: &str) -> String {
    text.lines().take_while(|line| line.starts_with("//!")).collect::<Vec<_>>().join("\n")
}

fn is_test_path(path: &str) -> bool {
    if path.ends_with("/tests.rs") {
        return true;
    }
    ["tests/", "benches/", "examples/"].iter().any(|part| path.starts_with(part) || path.contains(&format!("/{part}")))
}

struct Visitor<'a> {
    path: &'a str,
    header: &'a str,
    is_test: bool,
    findings: Vec<Finding>,
}

impl Visitor<'_> {
    fn report(&mut self, span: Span, what: impl Into<String>) {
        self.findings.push(Finding::at(self.path, span.start().line, what));
    }

    fn unwrap(&mut self, span: Span) {
        if !self.is_test {
            self.report(span, "`unwrap` outside tests: return the error, or `expect` with the invariant");
        }
    }

    fn unsafe_code(&mut self, span: Span) {
        if !UNSAFE_PLACES.iter().any(|place| self.path.starts_with(place)) {
            self.report(span, "`unsafe` outside the system crate");
        }
    }

    fn function(&mut self, name: &syn::Ident, span: Span) {
        let lines = span.end().line - span.start().line + 1;
        if lines > FUNCTION_LINES && !self.is_test && !names_long_function(self.header, &name.to_string()) {
            let what = format!(
                "function {name} has {lines} lines: split it, or say why in the header, `//! Long functions: {name} (…)`"
            );
            self.report(name.span(), what);
        }
    }

    /// The inside of a macro call is tokens, not syntax; look for the two words that matter there.
    fn tokens(&mut self, tokens: TokenStream) {
        let trees: Vec<TokenTree> = tokens.into_iter().collect();
        for (index, tree) in trees.iter().enumerate() {
            match tree {
                TokenTree::Group(group) => self.tokens(group.stream()),
                TokenTree::Ident(word) if word == "unsafe" => self.unsafe_code(word.span()),
                TokenTree::Ident(word) if word == "unwrap" && is_call_without_arguments(trees.get(index + 1)) => {
                    self.unwrap(word.span());
                }
                _ => {}
            }
        }
    }

    /// Visits an item as test code if its attributes say so.
    fn within(&mut self, attributes: &[syn::Attribute], visit: impl FnOnce(&mut Self)) {
        let outside = self.is_test;
        self.is_test |= attributes.iter().any(is_test_attribute);
        visit(self);
        self.is_test = outside;
    }
}

impl<'ast> Visit<'ast> for Visitor<'_> {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.within(&item.attrs, |visitor| {
            visitor.function(&item.sig.ident, item.span());
            visit::visit_item_fn(visitor, item);
        });
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.within(&item.attrs, |visitor| {
            visitor.function(&item.sig.ident, item.span());
            visit::visit_impl_item_fn(visitor, item);
        });
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        self.within(&item.attrs, |visitor| {
            visitor.function(&item.sig.ident, item.span());
            visit::visit_trait_item_fn(visitor, item);
        });
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        self.within(&item.attrs, |visitor| visit::visit_item_mod(visitor, item));
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        if let Some(word) = item.unsafety {
            self.unsafe_code(word.span());
        }
        self.within(&item.attrs, |visitor| visit::visit_item_impl(visitor, item));
    }

    fn visit_signature(&mut self, signature: &'ast syn::Signature) {
        if let Some(word) = signature.unsafety {
            self.unsafe_code(word.span());
        }
        visit::visit_signature(self, signature);
    }

    fn visit_expr_unsafe(&mut self, block: &'ast syn::ExprUnsafe) {
        self.unsafe_code(block.unsafe_token.span());
        visit::visit_expr_unsafe(self, block);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        if call.method == "unwrap" && call.args.is_empty() {
            self.unwrap(call.method.span());
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        let name = call.path.segments.last().map(|segment| segment.ident.to_string());
        if let Some(name) = name.filter(|name| UNFINISHED.contains(&name.as_str())) {
            self.report(call.span(), format!("`{name}!` must not stay"));
        }
        self.tokens(call.tokens.clone());
        visit::visit_macro(self, call);
    }

    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        if attribute.path().is_ident("ignore") {
            self.report(attribute.span(), "an ignored test is no test: take its size from TELOS_CASES or TELOS_SOAK");
        }
    }
}

fn is_test_attribute(attribute: &syn::Attribute) -> bool {
    if attribute.path().is_ident("test") {
        return true;
    }
    let Ok(condition) = attribute.meta.require_list() else { return false };
    let condition = condition.tokens.to_string();
    let mut words = condition.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    attribute.path().is_ident("cfg") && words.any(|word| word == "test") && !condition.contains("not")
}

fn is_call_without_arguments(tree: Option<&TokenTree>) -> bool {
    matches!(tree, Some(TokenTree::Group(group))
        if group.delimiter() == Delimiter::Parenthesis && group.stream().is_empty())
}

/// Whether the header lists the function, as in `//! Long functions: step (a dispatch), decode (one arm per kind)`.
fn names_long_function(header: &str, name: &str) -> bool {
    header
        .split("Long functions:")
        .skip(1)
        .any(|list| list.split(|letter: char| !letter.is_alphanumeric() && letter != '_').any(|word| word == name))
}

#[cfg(test)]
mod tests {
    use super::check;

    fn whats(path: &str, text: &str) -> Vec<String> {
        check(path, text).into_iter().map(|finding| finding.what).collect()
    }

    fn assert_finds(text: &str, part: &str) {
        let found = whats("crates/object/src/a.rs", &format!("//! A module.\n{text}"));
        assert!(found.len() == 1 && found[0].contains(part), "{text}: {found:?}");
    }

    fn assert_clean(text: &str) {
        assert_eq!(whats("crates/object/src/a.rs", &format!("//! A module.\n{text}")), Vec::<String>::new());
    }

    #[test]
    fn a_module_opens_with_its_story() {
        assert_eq!(whats("crates/object/src/a.rs", "fn a() {}").len(), 1);
        assert_eq!(whats("crates/object/tests/a.rs", "fn a() {}").len(), 0);
    }

    #[test]
    fn long_files_say_why() {
        let body = "// line\n".repeat(500);
        assert_finds(&body, "501 lines");
        assert_clean(&format!("//! Long because it is a table.\n{body}"));
    }

    #[test]
    fn long_functions_say_why() {
        let function = format!("fn dispatch() {{\n{}}}\n", "    call();\n".repeat(80));
        assert_finds(&function, "function dispatch has 82 lines");
        assert_clean(&format!("//! Long functions: dispatch (one arm per instruction)\n{function}"));
        assert_finds(&format!("//! Long functions: dispatcher (…)\n{function}"), "dispatch");
        assert_clean(&format!("#[cfg(test)]\nmod tests {{\n{function}}}\n"));
    }

    #[test]
    fn unwrap_is_for_tests() {
        assert_finds("fn a() { b().unwrap(); }", "unwrap");
        assert_finds("fn a() { println!(\"{}\", b().unwrap()); }", "unwrap");
        assert_clean("#[cfg(test)]\nmod tests { #[test] fn a() { b().unwrap(); } }");
        assert_clean("#[cfg(all(test, unix))]\nmod tests { fn a() { b().unwrap(); } }");
        assert_finds("#[cfg(not(test))]\nmod a { fn a() { b().unwrap(); } }", "unwrap");
        assert_clean("fn a() { b().unwrap_or(1); }\n// c.unwrap()\nconst A: &str = \".unwrap()\";");
        assert_eq!(whats("crates/object/tests/a.rs", "fn a() { b().unwrap(); }").len(), 0);
        assert_eq!(whats("crates/object/src/heap/tests.rs", "//! Tests.\nfn a() { b().unwrap(); }").len(), 0);
    }

    #[test]
    fn unsafe_is_for_the_system_crate() {
        let text = "fn a() { unsafe { b() } }";
        assert_finds(text, "unsafe");
        assert_finds("unsafe impl Send for A {}", "unsafe");
        assert_eq!(whats("crates/system/src/a.rs", &format!("//! A.\n{text}")).len(), 0);
        assert_clean("// unsafe\nconst A: &str = \"unsafe\";");
    }

    #[test]
    fn nothing_unfinished_stays() {
        assert_finds("fn a() { todo!() }", "todo!");
        assert_finds("fn a() { dbg!(1); }", "dbg!");
        assert_finds("#[test]\n#[ignore]\nfn a() {}", "ignored");
    }
}
