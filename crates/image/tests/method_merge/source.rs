//! Methods from source, and as text again.

use image::reconcile::{Chain, Found, Head, Method, Origin, Shell, Tree};
use language::syntax::{Literal, Node, NodeId, OperatorTable, Tree as Parsed, parse};
use object::change::{ActorId, ChangeId, Datum, ObjectId, Text};

/// What the source of a method makes, as the machine would.
pub fn method(source: &str) -> Method {
    let parsed = parsed(source);
    let root = parsed.node(parsed.root);
    let (names, scope) = match (&*root.name, root.args.split_last()) {
        (_, None) => (&[][..], Datum::Nil),
        ("method", Some((_, names))) => (names, Datum::Nil),
        (_, Some((_, names))) => (names, Datum::Object(ObjectId::minted(ChangeId::new(ActorId(1), 1)))),
    };
    let names = names.iter().map(|&name| Text::from(&*parsed.node(name).name)).collect();
    let body = root.args.last().map_or_else(|| body("nil"), |&body| grown(&parsed, body));
    Method { shell: Shell::default(), scope, passes_stops: Datum::Boolean(false), names, body }
}

pub fn body(source: &str) -> Tree {
    let parsed = parsed(source);
    grown(&parsed, parsed.root)
}

fn parsed(source: &str) -> Parsed<'_> {
    parse(source, &OperatorTable::default()).unwrap_or_else(|error| panic!("{source}: {error}"))
}

fn grown(parsed: &Parsed<'_>, root: NodeId) -> Tree {
    Tree::grow(root, |id| Some(found(parsed.node(id)))).expect("what is parsed is a tree")
}

fn found(node: &Node<'_>) -> Found<NodeId> {
    let value = match &node.literal {
        Literal::Number(number) => Datum::number(*number),
        Literal::Text(text) => Datum::text(text),
        Literal::None => match &*node.name {
            "nil" => Datum::Nil,
            "true" => Datum::Boolean(true),
            "false" => Datum::Boolean(false),
            _ => Datum::Absent,
        },
    };
    let head = Head { name: Text::from(&*node.name), value, shell: Shell::default() };
    let place = |number: u32| Datum::number(f64::from(number));
    let origin = Origin { label: Datum::text("test"), line: place(node.line), column: place(node.column) };
    Found { head, origin, arguments: node.args.to_vec(), next: node.next }
}

/// One line that two methods share only if they are the same code.
pub fn text(method: &Method) -> String {
    let word = if method.scope == Datum::Nil { "method" } else { "block" };
    let names: String = method.names.iter().map(|name| format!("{name}, ")).collect();
    format!("{word}({names}{})", chain(&method.body, method.body.root()))
}

fn chain(tree: &Tree, statements: &Chain) -> String {
    let message = |&id: &usize| {
        let message = &tree.messages()[id];
        let arguments: Vec<String> = message.arguments.iter().map(|argument| chain(tree, argument)).collect();
        let arguments = if arguments.is_empty() { String::new() } else { format!("({})", arguments.join(", ")) };
        format!("{}{arguments}", message.head.name)
    };
    let statement = |ids: &Vec<usize>| ids.iter().map(message).collect::<Vec<String>>().join(" ");
    statements.iter().map(statement).collect::<Vec<String>>().join("; ")
}
