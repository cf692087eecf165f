//! A picture of all that a root leads to: equal pictures, equal graphs, whatever the handles.

use object::sequence::Sequence;
use object::{Data, Handle, Heap, Value, flag};
use std::collections::BTreeMap;
use std::fmt::Write;

pub fn picture(heap: &Heap, root: Handle) -> String {
    let mut picture = Picture { heap, numbers: BTreeMap::from([(root, 0)]), pending: vec![root], text: String::new() };
    let mut done = 0;
    while let Some(&handle) = picture.pending.get(done) {
        done += 1;
        picture.object(handle);
    }
    picture.text
}

struct Picture<'h> {
    heap: &'h Heap,
    numbers: BTreeMap<Handle, usize>,
    pending: Vec<Handle>,
    text: String,
}

fn sequence_text(sequence: &Sequence) -> String {
    format!("{:?}/{:?} {:?}", sequence.item_type(), sequence.encoding(), sequence.as_bytes())
}

impl Picture<'_> {
    fn value(&mut self, value: Value) -> String {
        let Some(handle) = value.as_handle().filter(|handle| handle.0 > 2) else { return format!("{value:?}") };
        if self.heap.object(handle).has(flag::SYMBOL) {
            return format!("'{}'", sequence_text(self.heap.sequence(handle).expect("a symbol is a text")));
        }
        self.number(handle)
    }

    fn number(&mut self, handle: Handle) -> String {
        let next = self.numbers.len();
        let number = *self.numbers.entry(handle).or_insert(next);
        if number == next {
            self.pending.push(handle);
        }
        format!("<{number}>")
    }

    fn object(&mut self, handle: Handle) {
        let object = self.heap.object(handle);
        let shape = self.heap.shapes().get(object.shape());
        let protos: Vec<String> = shape.protos.iter().map(|&proto| self.value(Value::object(proto))).collect();
        let slots: Vec<String> = shape
            .names
            .iter()
            .enumerate()
            .map(|(index, &name)| format!("{}={}", self.heap.symbol_text(name), self.value(object.slot(index))))
            .collect();
        let data = self.data(object.data());
        let number = self.numbers[&handle];
        let (kind, active) = (object.kind(), object.has(flag::ACTIVATABLE));
        writeln!(self.text, "{number}: {kind:?} {active} {protos:?} {slots:?} {data}").expect("a string takes all");
    }

    fn data(&mut self, data: &Data) -> String {
        match data {
            Data::None => String::new(),
            Data::Number(number) => format!("{number:?}"),
            Data::Sequence(sequence) => sequence_text(sequence),
            Data::List(values, start) => self.values(&values[*start as usize..]),
            Data::Record(values) => self.values(values),
            Data::Map(map) => {
                let entries =
                    map.iter().map(|(&key, &value)| format!("{}={}", self.heap.symbol_text(key), self.value(value)));
                entries.collect::<Vec<_>>().join(", ")
            }
            // A link to what nothing else holds is cleared when the image is next opened.
            Data::Weak(_) => "link".into(),
            Data::Primitive(index) => format!("primitive {index}"),
            Data::Foreign(_) => "foreign".into(),
        }
    }

    fn values(&mut self, values: &[Value]) -> String {
        values.iter().map(|&value| self.value(value)).collect::<Vec<_>>().join(", ")
    }
}
