//! Methods from their records, and back. Owns which records are methods that can be merged: what is not as the machine
//! makes it is left to others.

use super::method::Method;
use super::tree::{Chain, END_OF_LINE, Found, Head, MessageId, Origin, Shell, Tree};
use crate::form::{Flags, kind_number};
use language::{block_field, message_field};
use object::Kind;
use object::change::{Body, Creation, Datum, ObjectId, Text};

/// The method that this object is, where `look` finds objects.
pub fn read(method: ObjectId, look: &dyn Fn(ObjectId) -> Option<Creation>) -> Option<Method> {
    let (shell, fields) = parts(look(method)?, Kind::Block)?;
    let (fixed, names) = fields.split_at_checked(block_field::ARGUMENT_NAMES)?;
    let Datum::Object(root) = fixed[block_field::MESSAGE] else { return None };
    Some(Method {
        shell,
        scope: fixed[block_field::SCOPE].clone(),
        passes_stops: fixed[block_field::PASSES_STOPS].clone(),
        names: names.iter().map(text).collect::<Option<_>>()?,
        body: Tree::grow(root, |id| message(look(id)?))?,
    })
}

fn message(creation: Creation) -> Option<Found<ObjectId>> {
    let (shell, fields) = parts(creation, Kind::Message)?;
    let (fixed, arguments) = fields.split_at_checked(message_field::ARGUMENTS)?;
    let next = match fixed[message_field::NEXT] {
        Datum::Nil => None,
        Datum::Object(next) => Some(next),
        _ => return None,
    };
    let head = Head { name: text(&fixed[message_field::NAME])?, value: fixed[message_field::LITERAL].clone(), shell };
    let origin = Origin {
        label: fixed[message_field::LABEL].clone(),
        line: fixed[message_field::LINE].clone(),
        column: fixed[message_field::COLUMN].clone(),
    };
    let argument = |datum: &Datum| if let Datum::Object(id) = datum { Some(*id) } else { None };
    Some(Found { head, origin, arguments: arguments.iter().map(argument).collect::<Option<_>>()?, next })
}

/// What an object of this kind is made of; none if it is not of this kind.
fn parts(creation: Creation, kind: Kind) -> Option<(Shell, Vec<Datum>)> {
    let Creation { kind: number, flags, protos, slots, body: Body::Data(Datum::Record(fields)), under: None } =
        creation
    else {
        return None;
    };
    let is_of_kind = number == kind_number(kind) && Flags::from_number(flags)?.kind == kind;
    is_of_kind.then(|| (Shell { flags, protos, slots }, fields.to_vec()))
}

fn text(datum: &Datum) -> Option<Text> {
    if let Datum::Text(text) = datum { Some(text.clone()) } else { None }
}

/// The objects that make this method, the method itself last; each refers to those before it only. `mint` gives ids, one
/// for each, in this order.
pub fn write(method: &Method, mint: &mut dyn FnMut() -> ObjectId) -> Vec<(ObjectId, Creation)> {
    let tree = &method.body;
    let firsts = vec![Vec::new(); tree.messages().len()];
    let mut writing = Writing { tree, made: Vec::new(), firsts, mint };
    // A message stands before what hangs on it; so what is read backwards is there when it is referred to.
    for (id, message) in tree.messages().iter().enumerate().rev() {
        let firsts = message.arguments.iter().map(|chain| writing.chain(chain)).collect();
        writing.firsts[id] = firsts;
    }
    let root = Datum::Object(writing.chain(tree.root()));
    let fixed = [root, method.scope.clone(), method.passes_stops.clone()];
    let fields = fixed.into_iter().chain(method.names.iter().cloned().map(Datum::Text)).collect();
    writing.make(Kind::Block, &method.shell, fields);
    writing.made
}

struct Writing<'w> {
    tree: &'w Tree,
    made: Vec<(ObjectId, Creation)>,
    /// The first message of each argument, of each message whose arguments were written.
    firsts: Vec<Vec<ObjectId>>,
    mint: &'w mut dyn FnMut() -> ObjectId,
}

impl Writing<'_> {
    /// Its first message.
    fn chain(&mut self, chain: &Chain) -> ObjectId {
        let mut next = None;
        for statement in chain.iter().rev() {
            if next.is_some()
                && let Some(&last) = statement.last()
            {
                next = Some(self.end_of_line(last, next));
            }
            for &id in statement.iter().rev() {
                next = Some(self.message(id, next));
            }
        }
        next.expect("a chain is never without messages")
    }

    fn message(&mut self, id: MessageId, next: Option<ObjectId>) -> ObjectId {
        let message = &self.tree.messages()[id];
        let arguments = std::mem::take(&mut self.firsts[id]).into_iter().map(Datum::Object);
        let fixed = fixed_fields(message.head.name.clone(), message.head.value.clone(), &message.origin, next);
        self.make(Kind::Message, &message.head.shell, fixed.into_iter().chain(arguments).collect())
    }

    /// It is what it is beside: an object like the message that it follows, from the same place.
    fn end_of_line(&mut self, last: MessageId, next: Option<ObjectId>) -> ObjectId {
        let message = &self.tree.messages()[last];
        let shell = Shell {
            flags: Flags::plain(Kind::Message, false).number(),
            protos: message.head.shell.protos.clone(),
            slots: Vec::new(),
        };
        let fields = fixed_fields(Text::from(END_OF_LINE), Datum::Absent, &message.origin, next);
        self.make(Kind::Message, &shell, fields.into())
    }

    fn make(&mut self, kind: Kind, shell: &Shell, fields: Vec<Datum>) -> ObjectId {
        let Shell { flags, protos, slots } = shell.clone();
        let body = Body::Data(Datum::Record(fields.into()));
        let id = (self.mint)();
        self.made.push((id, Creation { kind: kind_number(kind), flags, protos, slots, body, under: None }));
        id
    }
}

/// In the order of `message_field`.
fn fixed_fields(
    name: Text,
    value: Datum,
    origin: &Origin,
    next: Option<ObjectId>,
) -> [Datum; message_field::ARGUMENTS] {
    let next = next.map_or(Datum::Nil, Datum::Object);
    let Origin { label, line, column } = origin.clone();
    [Datum::Text(name), next, value, label, line, column]
}
