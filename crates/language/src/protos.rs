//! The prototypes that the machine itself clones, and the skeleton they hang on: Lobby, Protos, Core and Object.

use crate::block::call;
use crate::machine::frame::Suspended;
use crate::names::Names;
use object::{Data, Handle, Heap, Kind, Value};

macro_rules! protos {
    ($($field:ident),* $(,)?) => {
        #[derive(Clone, Copy)]
        pub struct Protos { $(pub $field: Handle,)* }

        impl Protos {
            /// Each with its name, for the root of a heap.
            pub fn named(&self) -> impl Iterator<Item = (&'static str, Handle)> {
                [$((stringify!($field), self.$field)),*].into_iter()
            }

            pub fn trace(&self, visit: &mut dyn FnMut(Value)) {
                $(visit(Value::object(self.$field));)*
            }

            /// From what `named` told.
            pub fn found(find: &mut dyn FnMut(&str) -> Option<Handle>) -> Option<Protos> {
                Some(Protos { $($field: find(stringify!($field))?,)* })
            }
        }
    };
}

protos! {
    object, lobby, protos, core, locals, number, sequence, list, map, block, message, call, coroutine, frame,
    primitive, weak_link, exception, operator_table, normal, break_, continue_, return_, end_of_line, set_slot, update_slot,
}

impl Protos {
    /// Lobby → Protos → Core → Object → Lobby: the roots are cyclic by design, and lookup copes.
    pub fn new(heap: &mut Heap, names: &Names) -> Protos {
        let bare = heap.allocate_bare();
        let (object, lobby, protos, core) = (bare, heap.allocate_bare(), heap.allocate_bare(), heap.allocate_bare());
        heap.set_protos(object, vec![lobby]);
        heap.set_protos(lobby, vec![protos]);
        heap.set_protos(protos, vec![core]);
        heap.set_protos(core, vec![object]);
        let mut child = |kind: Kind, data: Data| heap.clone_of(object, kind, data);
        let made = Protos {
            object,
            lobby,
            protos,
            core,
            locals: child(Kind::Locals, Data::None),
            number: child(Kind::Number, Data::Number(0.0)),
            sequence: child(Kind::Sequence, Data::Sequence(Box::default())),
            list: child(Kind::List, Data::list([])),
            map: child(Kind::Map, Data::Map(Box::default())),
            block: child(Kind::Block, Data::None),
            message: child(Kind::Message, Data::None),
            call: child(Kind::Call, Data::None),
            coroutine: child(Kind::Coroutine, Data::Foreign(Box::new(Box::new(Suspended::default())))),
            frame: child(Kind::Frame, Data::None),
            primitive: child(Kind::Primitive, Data::None),
            // The primitives that code takes assignments for, once they are there.
            set_slot: object,
            update_slot: object,
            weak_link: child(Kind::WeakLink, Data::Weak(Value::NIL)),
            exception: child(Kind::Object, Data::None),
            operator_table: child(Kind::Object, Data::None),
            normal: child(Kind::Object, Data::None),
            break_: child(Kind::Object, Data::None),
            continue_: child(Kind::Object, Data::None),
            return_: child(Kind::Object, Data::None),
            end_of_line: child(Kind::Object, Data::None),
        };
        let shape = heap.clone_shape(made.sequence);
        heap.set_symbol_shape(shape);
        for constant in [Value::NIL, Value::TRUE, Value::FALSE] {
            heap.set_protos(constant.as_handle().unwrap_or(object), vec![object]);
        }
        made.fill_records(heap, names);
        made.name(heap, names);
        made
    }

    /// The prototypes of records have fields too, so that a clone of one is complete.
    fn fill_records(&self, heap: &mut Heap, names: &Names) {
        let nil = Value::NIL;
        let name = Value::object(names.unnamed);
        let label = Value::object(names.label_none);
        let message = [name, nil, Value::ABSENT, label, Value::number(0.0), Value::number(0.0)];
        heap.set_data(self.message, Kind::Message, Data::Record(message.into_iter().collect()));
        let body = heap.intern("nil");
        let body = crate::message::with_name(heap, self.message, body, names.label_none);
        let block = [Value::object(body), nil, Value::FALSE];
        heap.set_data(self.block, Kind::Block, Data::Record(block.into_iter().collect()));
        let mut call = [nil; call::COUNT];
        call[call::MESSAGE] = Value::object(self.message);
        call[call::STOP_STATUS] = Value::object(self.normal);
        heap.set_data(self.call, Kind::Call, Data::Record(call.into_iter().collect()));
    }

    fn name(&self, heap: &mut Heap, names: &Names) {
        let named = [
            ("Object", self.object),
            ("Locals", self.locals),
            ("Number", self.number),
            ("Sequence", self.sequence),
            ("List", self.list),
            ("Map", self.map),
            ("Block", self.block),
            ("Message", self.message),
            ("Call", self.call),
            ("Coroutine", self.coroutine),
            ("EvalFrame", self.frame),
            ("CFunction", self.primitive),
            ("WeakLink", self.weak_link),
            ("Exception", self.exception),
            ("OperatorTable", self.operator_table),
            ("Normal", self.normal),
            ("Break", self.break_),
            ("Continue", self.continue_),
            ("Return", self.return_),
            ("Eol", self.end_of_line),
            ("nil", Handle(0)),
            ("true", Handle(1)),
            ("false", Handle(2)),
        ];
        for (text, handle) in named {
            let symbol = heap.intern(text);
            heap.set_slot(self.core, symbol, Value::object(handle));
            heap.set_slot(handle, names.type_, Value::object(symbol));
        }
        for (text, holder, handle) in
            [("Lobby", self.lobby, self.lobby), ("Protos", self.lobby, self.protos), ("Core", self.protos, self.core)]
        {
            let symbol = heap.intern(text);
            heap.set_slot(holder, symbol, Value::object(handle));
        }
    }

    /// What a kind is called when an object has no type slot.
    pub fn kind_name(&self, kind: Kind) -> &'static str {
        match kind {
            Kind::Object | Kind::Hollow => "Object",
            Kind::Number => "Number",
            Kind::Sequence => "Sequence",
            Kind::List => "List",
            Kind::Map => "Map",
            Kind::Block => "Block",
            Kind::Message => "Message",
            Kind::Call => "Call",
            Kind::Locals => "Locals",
            Kind::Coroutine => "Coroutine",
            Kind::Frame => "EvalFrame",
            Kind::Primitive => "CFunction",
            Kind::WeakLink => "WeakLink",
            Kind::Counter => "Counter",
        }
    }
}
