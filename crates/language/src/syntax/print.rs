//! Writes a tree as Io source, in the form that `Message code` gives. What it writes parses to the same tree again.

use super::tree::{Node, NodeId, Tree};

/// An argument list that is being written.
struct OpenList {
    owner: NodeId,
    written: usize,
}

/// The source of the message `root`, its arguments and everything after it in its chain.
pub fn print(tree: &Tree<'_>, root: NodeId) -> String {
    let mut text = String::new();
    let mut open_lists: Vec<OpenList> = Vec::new();
    let mut current = Some(root);
    loop {
        // Down: write messages until one without arguments ends its chain.
        while let Some(id) = current {
            let node = tree.node(id);
            text.push_str(&node.name);
            if let Some(&first) = node.args.first() {
                text.push('(');
                open_lists.push(OpenList { owner: id, written: 1 });
                current = Some(first);
            } else {
                current = end_message(tree, node, &mut text);
            }
        }
        // Up: the chain was an argument; write the next one or close the list.
        let Some(list) = open_lists.last_mut() else { return text };
        let owner = tree.node(list.owner);
        if let Some(&argument) = owner.args.get(list.written) {
            text.push_str(", ");
            list.written += 1;
            current = Some(argument);
        } else {
            text.push(')');
            open_lists.pop();
            current = end_message(tree, owner, &mut text);
        }
    }
}

/// Writes what separates a message from the next one, and returns the next one.
fn end_message(tree: &Tree<'_>, node: &Node<'_>, text: &mut String) -> Option<NodeId> {
    if node.is_end_of_line() {
        text.push('\n');
        return node.next;
    }
    // A bare group is written as "(", which must not become the argument list of the message before it.
    let precedes_group = node.next.is_some_and(|next| tree.node(next).name.is_empty());
    if node.args.is_empty() && (node.name.is_empty() || precedes_group) {
        text.push_str("()");
    }
    if node.next.is_some() {
        text.push(' ');
    }
    node.next
}
