//! Code as a person would write it: operators between their operands, assignments with `:=`, a line for each statement. What is
//! written so is parsed again, and taken only if it is the same code; else it is printed message by message.

use language::syntax::{Literal, Node, NodeId, OperatorTable, Tree, parse, print};

/// Source, and whether reading it gives the code that it was made from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Source {
    pub text: String,
    pub is_exact: bool,
}

const INDENT: &str = "    ";

pub fn source(tree: &Tree<'_>) -> Source {
    let table = OperatorTable::default();
    let is_same = |text: &str| parse(text, &table).is_ok_and(|read| read.same_code(tree));
    let text = Writer { tree, table: &table }.write();
    if is_same(&text) {
        return Source { text, is_exact: true };
    }
    let text = print(tree, tree.root);
    let is_exact = is_same(&text);
    Source { text, is_exact }
}

/// What is still to be written; the last first. A stack of our own: code nests as deep as its author wants.
enum Piece {
    Text(String),
    Chain { first: NodeId, depth: usize },
}

struct Writer<'t, 's> {
    tree: &'t Tree<'s>,
    table: &'t OperatorTable,
}

impl Writer<'_, '_> {
    fn write(&self) -> String {
        let mut text = String::new();
        let mut pending = vec![Piece::Chain { first: self.tree.root, depth: 0 }];
        while let Some(piece) = pending.pop() {
            match piece {
                Piece::Text(piece) => text.push_str(&piece),
                Piece::Chain { first, depth } => pending.extend(self.chain(first, depth).into_iter().rev()),
            }
        }
        text
    }

    fn nodes(&self, first: NodeId) -> impl Iterator<Item = &Node<'_>> {
        let next = |node: &&Node<'_>| node.next.map(|next| self.tree.node(next));
        std::iter::successors(Some(self.tree.node(first)), next)
    }

    fn chain(&self, first: NodeId, depth: usize) -> Vec<Piece> {
        let (mut pieces, mut is_first) = (Vec::new(), true);
        for node in self.nodes(first) {
            if node.is_end_of_line() {
                pieces.push(Piece::Text(format!("\n{}", INDENT.repeat(depth))));
                is_first = true;
                continue;
            }
            self.message(node, is_first, depth, &mut pieces);
            is_first = false;
        }
        pieces
    }

    fn message(&self, node: &Node<'_>, is_first: bool, depth: usize, pieces: &mut Vec<Piece>) {
        let mut space = if is_first { "" } else { " " };
        if let Some((name, operator)) = self.assigned(node) {
            pieces.push(Piece::Text(format!("{space}{name} {operator} ")));
            return pieces.push(Piece::Chain { first: node.args[1], depth });
        }
        match (self.table.precedence(&node.name), node.args.as_slice()) {
            (Some(precedence), [operand]) => {
                let is_tight = matches!(&*node.name, "?" | "@" | "@@") || (is_first && node.name == "-");
                let gap = if is_tight { "" } else { " " };
                pieces.push(Piece::Text(format!("{space}{}{gap}", node.name)));
                let (open, close) = if self.needs_brackets(*operand, precedence) { ("(", ")") } else { ("", "") };
                pieces.push(Piece::Text(open.into()));
                pieces.push(Piece::Chain { first: *operand, depth });
                pieces.push(Piece::Text(close.into()));
            }
            (_, arguments) => {
                if node.name.is_empty() && is_first {
                    space = "";
                }
                pieces.push(Piece::Text(format!("{space}{}", node.name)));
                self.arguments(node, arguments, depth, pieces);
            }
        }
    }

    fn arguments(&self, node: &Node<'_>, arguments: &[NodeId], depth: usize, pieces: &mut Vec<Piece>) {
        if arguments.is_empty() {
            let precedes_group = node.next.is_some_and(|next| self.tree.node(next).name.is_empty());
            if node.name.is_empty() || precedes_group {
                pieces.push(Piece::Text("()".into()));
            }
            return;
        }
        pieces.push(Piece::Text("(".into()));
        let is_long = |argument: &NodeId| self.nodes(*argument).any(Node::is_end_of_line);
        let last_is_long = arguments.last().is_some_and(is_long);
        for (index, argument) in arguments.iter().enumerate() {
            let (comma, is_long) = (if index == 0 { "" } else { "," }, is_long(argument));
            let inside = depth + usize::from(is_long);
            let gap = match (is_long, index) {
                (true, _) => format!("{comma}\n{}", INDENT.repeat(inside)),
                (false, 0) => String::new(),
                (false, _) => format!("{comma} "),
            };
            pieces.push(Piece::Text(gap));
            pieces.push(Piece::Chain { first: *argument, depth: inside });
        }
        let close = if last_is_long { format!("\n{})", INDENT.repeat(depth)) } else { ")".into() };
        pieces.push(Piece::Text(close));
    }

    /// The name and the operator of an assignment that ends its statement.
    fn assigned(&self, node: &Node<'_>) -> Option<(String, &str)> {
        let (operator, _) = self.table.assign_operators().find(|(_, message)| *message == node.name)?;
        let [name, _] = node.args.as_slice() else { return None };
        let name = self.tree.node(*name);
        let Literal::Text(text) = &name.literal else { return None };
        let is_last = node.next.is_none_or(|next| self.tree.node(next).is_end_of_line());
        (is_last && name.next.is_none() && name.args.is_empty() && can_be_assigned_to(text))
            .then(|| (text.to_string(), operator))
    }

    /// Whether an operand would go on behind its end, or end before it, without brackets.
    fn needs_brackets(&self, operand: NodeId, precedence: u8) -> bool {
        self.nodes(operand).any(|node| {
            let is_looser = self.table.precedence(&node.name).is_some_and(|own| own >= precedence);
            is_looser || node.is_end_of_line() || self.assigned(node).is_some()
        })
    }
}

/// Whether text can stand before `:=` without quotes.
pub fn can_be_assigned_to(text: &str) -> bool {
    is_name(text) || (!text.is_empty() && text.chars().all(|letter| "+-*/%^&|<>=!?@.:~".contains(letter)))
}

fn is_name(text: &str) -> bool {
    let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_';
    text.starts_with(|first: char| is_letter(first) && !first.is_numeric()) && text.chars().all(is_letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        let table = OperatorTable::default();
        let source = source(&parse(text, &table).expect("it is source"));
        assert!(source.is_exact, "{text} became {}", source.text);
        source.text
    }

    #[test]
    fn what_a_person_wrote_is_what_a_person_reads() {
        let same = [
            "x * 1.2",
            "a + b * c - d",
            "(a + b) * c",
            "a * (b + c)",
            "a - (b - c)",
            "x := y + 1",
            "self balance = balance + amount",
            "name ::= nil",
            "return a and b or c",
            "if(a > 1, b, c) foo(1, \"two\")",
            "a := method(x, y, x .. y)",
            "list(1, 2) map(x, x * 2) sum",
            "a ?b",
            "-5 abs",
            "x := -y",
            "a\nb",
            "Number + := method(x, x)",
            "\"text\" .. \"\\n\"",
        ];
        for text in same {
            assert_eq!(read(text), text);
        }
        assert_eq!(read("a ; b;c"), "a\nb\nc");
        assert_eq!(read("f(a;b)"), "f(\n    a\n    b\n)");
        assert_eq!(read("setSlot(\"a b\", 1)"), "setSlot(\"a b\", 1)");
    }

    /// All of the library, which has every construct that there is.
    #[test]
    fn all_of_the_library_is_the_same_code() {
        let (mut files, mut infix) = (0, 0);
        let table = OperatorTable::default();
        for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../stdlib")).expect("the library") {
            let path = entry.expect("a name").path();
            let Some(text) =
                std::fs::read_to_string(&path).ok().filter(|_| path.extension().is_some_and(|kind| kind == "io"))
            else {
                continue;
            };
            let tree = parse(&text, &table).expect("the library is source");
            let source = source(&tree);
            assert!(source.is_exact, "{}", path.display());
            files += 1;
            infix += usize::from(source.text != print(&tree, tree.root));
        }
        assert!(files > 10 && infix == files, "{infix} of {files} files are as a person would write them");
    }

    #[test]
    fn names_that_are_no_names_are_told() {
        let node = |name: &str| Node::new(name.to_string(), 1, 1);
        for name in ["a b", "a(b)", "a;b", "// gone", "a)"] {
            let tree = Tree { nodes: vec![node(name)], root: NodeId(0) };
            assert!(!source(&tree).is_exact, "{name}");
        }
    }
}
