//! The diff of a journal: for each object that is other than it was, what was and what is.

use super::Names;
use super::lines::{Line, Mark, harmless, marked};
use super::title::{Titles, slot_name};
use super::value::Values;
use super::view::{View, When};
use crate::journal::{Call, Journal};
use image::readable_text;
use object::Kind;
use object::change::{Body, Creation, Datum, Draft, Field, Line as ElementLine, ObjectId, Operation, Run};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::fmt;

/// What a person is shown. Printed, each section is its title and its lines.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Diff {
    pub sections: Vec<Section>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Section {
    /// What it is about, such as `Account (1.2a)`.
    pub title: String,
    /// None for the calls to the world outside.
    pub object: Option<ObjectId>,
    pub lines: Vec<Line>,
    /// It is about an object that the machine keeps for itself: a call, a coroutine, the queue of those.
    pub is_of_machine: bool,
}

impl Diff {
    /// Without what programs never touch themselves, and how many objects that is.
    pub fn without_machine(mut self) -> (Diff, usize) {
        let count = self.sections.len();
        self.sections.retain(|section| !section.is_of_machine);
        let left_out = count - self.sections.len();
        (self, left_out)
    }
}

impl fmt::Display for Diff {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, section) in self.sections.iter().enumerate() {
            let gap = if index == 0 { "" } else { "\n" };
            writeln!(formatter, "{gap}{}", section.title)?;
            section.lines.iter().try_for_each(|line| writeln!(formatter, "{line}"))?;
        }
        Ok(())
    }
}

/// What the journal did, object by object, in the order in which it first touched them; calls come last.
pub fn diff(journal: &Journal, names: &dyn Names) -> Diff {
    let view = View::new(journal, names);
    let titles = Titles::new(&view, journal);
    let values = Values { view: &view, titles: &titles, shown: RefCell::default() };
    let (mut order, mut touched) = (Vec::new(), HashMap::<ObjectId, Vec<&Operation>>::default());
    for change in journal.changes().filter(|change| !matches!(change.operation, Operation::Call { .. })) {
        let operations = touched.entry(change.object).or_default();
        if operations.is_empty() {
            order.push(change.object);
        }
        operations.push(&change.operation);
    }
    let mut sections: Vec<Section> =
        order.iter().filter_map(|object| section(&values, *object, &touched[object])).collect();
    // Known only when all was shown: a new object that is part of something else needs no section of its own.
    let shown = values.shown.borrow();
    let is_elsewhere = |object: ObjectId| view.is_made(object) && shown.contains(&object);
    sections.retain(|section| !section.object.is_some_and(is_elsewhere));
    sections.extend(unseen(&values, &order, &shown));
    sections.extend(calls(&values, journal));
    Diff { sections }
}

/// New code is shown where it is used; here is how much of it nothing shown uses.
fn unseen(values: &Values<'_>, order: &[ObjectId], shown: &HashSet<ObjectId>) -> Option<Section> {
    let count = order.iter().filter(|object| is_code(values, **object) && !shown.contains(object)).count();
    let text = format!("{count} new messages and blocks that nothing shown here refers to");
    let title = "code without a place".into();
    let lines = vec![Line { mark: Mark::Note, text }];
    (count > 0).then_some(Section { title, object: None, lines, is_of_machine: false })
}

fn is_code(values: &Values<'_>, object: ObjectId) -> bool {
    let is_code = matches!(values.view.kind(When::After, object), Some(Kind::Block | Kind::Message));
    is_code && values.view.is_made(object)
}

fn section(values: &Values<'_>, object: ObjectId, operations: &[&Operation]) -> Option<Section> {
    if is_code(values, object) {
        return None;
    }
    let mut writer = Writer { values, object, lines: Vec::new(), left_out: 0 };
    let title = match values.view.made(object) {
        Some(made) => {
            writer.made(&made);
            let protos: Vec<String> = made.protos.iter().map(|proto| values.titles.title(*proto)).collect();
            format!("new {} ({object}), a clone of {}", values.titles.title(object), protos.join(", "))
        }
        None => {
            writer.changed(operations);
            format!("{} ({object})", values.titles.title(object))
        }
    };
    let unfit = values.view.unfit.iter().filter(|(each, _)| *each == object);
    writer.lines.extend(
        unfit.flat_map(|(_, why)| marked(Mark::Note, &format!("a change does not fit: {why}")).collect::<Vec<_>>()),
    );
    if writer.left_out > 0 {
        let text = format!("and {} lines more, for which there is no room; JSON has them", writer.left_out);
        writer.lines.push(Line { mark: Mark::Note, text });
    }
    let is_new = values.view.is_made(object);
    let is_of_machine = is_of_machine(values, object, operations);
    let section = Section { title, object: Some(object), lines: writer.lines, is_of_machine };
    (is_new || !section.lines.is_empty()).then_some(section)
}

/// Whether the machine keeps this object for itself, or changed only what it keeps in it.
fn is_of_machine(values: &Values<'_>, object: ObjectId, operations: &[&Operation]) -> bool {
    let kind = values.view.kind(When::After, object);
    if matches!(kind, Some(Kind::Call | Kind::Coroutine | Kind::Frame)) {
        return true;
    }
    // Locals that have a name are no stack's: the prototype of them all.
    if kind == Some(Kind::Locals) && values.titles.name(object).is_none() {
        return true;
    }
    // Programs change methods of these, and the machine what they hold.
    let sets_slots = |operation: &&Operation| matches!(operation, Operation::Put { field: Field::Slot(_), .. });
    let is_its_own = match values.titles.name(object).as_deref() {
        Some("Date") => true,
        Some(name) => name.starts_with("Scheduler "),
        None => false,
    };
    is_its_own && !values.view.is_made(object) && !operations.iter().any(sets_slots)
}

fn calls(values: &Values<'_>, journal: &Journal) -> Option<Section> {
    let line = |call: Call<'_>| {
        let arguments: Vec<String> = call.arguments.iter().map(|each| values.text(When::After, each)).collect();
        let (name, way) = (readable_text(call.name.as_bytes()), call.answered.name());
        let answer = values.text(When::After, call.answer);
        let text = format!("{name}({}) → {answer} ({way})", arguments.join(", "));
        Line { mark: Mark::Note, text: harmless(&text.replace('\n', "\\n")) }
    };
    let lines: Vec<Line> = journal.calls().map(line).collect();
    let title = "calls to the world outside".into();
    (!lines.is_empty()).then_some(Section { title, object: None, lines, is_of_machine: false })
}

struct Writer<'w> {
    values: &'w Values<'w>,
    object: ObjectId,
    lines: Vec<Line>,
    /// Lines for which there was no room.
    left_out: usize,
}

impl Writer<'_> {
    fn say(&mut self, mark: Mark, text: &str) {
        match self.values.view.has_room(text.len()) {
            true => self.lines.extend(marked(mark, text)),
            false => self.left_out += 1,
        }
    }

    fn made(&mut self, made: &Creation) {
        for (name, value) in &made.slots {
            self.field(Mark::Added, &Field::Slot(name.clone()), value, When::After);
        }
        let text = |datum: &Datum| self.values.text(When::After, datum);
        let lines: Vec<String> = match &made.body {
            Body::Nothing => Vec::new(),
            Body::Data(Datum::Record(fields)) => fields.iter().map(|field| format!("holds {}", text(field))).collect(),
            Body::Data(datum) => vec![format!("holds {}", text(datum))],
            Body::Elements(Run::Items(items)) => {
                items.iter().enumerate().map(|(index, item)| format!("at {index}: {}", text(item))).collect()
            }
            Body::Elements(run) => vec![self.values.elements(When::After, self.object, run)],
            Body::Map(entries) => {
                entries.iter().map(|(key, value)| format!("at {}: {}", text(key), text(value))).collect()
            }
            Body::Counters(counters) => {
                counters.iter().map(|(key, sum)| format!("counts {}: {sum}", text(key))).collect()
            }
            Body::Members(members) => {
                members.iter().map(|(member, times)| format!("has {} {times} times", text(member))).collect()
            }
        };
        lines.iter().for_each(|line| self.say(Mark::Added, line));
    }

    /// Fields by what is at the end, each once; lines edit by edit.
    fn changed(&mut self, operations: &[&Operation]) {
        let mut met = HashSet::new();
        let mut runs = HashMap::new();
        for operation in operations {
            match operation {
                Operation::Put { field, .. } => {
                    if met.insert(field) {
                        self.put(field);
                    }
                }
                operation => self.edit(operation, &mut runs),
            }
        }
    }

    fn put(&mut self, field: &Field) {
        let view = self.values.view;
        let (before, after) =
            (view.field(When::Before, self.object, field), view.field(When::After, self.object, field));
        let after = after.unwrap_or_default();
        if before.as_ref() == Some(&after) && *field != Field::Data {
            return;
        }
        if let (Field::Data, Some(Kind::Block | Kind::Message)) = (field, view.kind(When::After, self.object)) {
            return self.code();
        }
        match before {
            Some(before) if before.is_absent() => {}
            Some(before) => self.field(Mark::Removed, field, &before, When::Before),
            None if after.is_absent() => self.field(Mark::Removed, field, &Datum::Absent, When::Before),
            None => {}
        }
        if !after.is_absent() {
            self.field(Mark::Added, field, &after, When::After);
        }
    }

    /// A method or message that was changed in its place.
    fn code(&mut self) {
        let itself = Datum::Object(self.object);
        let text = |when| self.values.view.code(when, self.object).map(|_| self.values.text(when, &itself));
        let (before, after) = (text(When::Before), text(When::After));
        if let Some(before) = before {
            self.say(Mark::Removed, &before);
        }
        self.say(Mark::Added, &after.unwrap_or_else(|| "code that cannot be shown".into()));
    }

    fn field(&mut self, mark: Mark, field: &Field, value: &Datum, when: When) {
        let text = match field {
            Field::Slot(name) if value.is_absent() => slot_name(name),
            Field::Slot(name) => format!("{} := {}", slot_name(name), self.values.text(when, value)),
            Field::Entry(key) => format!("at {}: {}", self.values.text(when, key), self.values.text(when, value)),
            Field::Data => format!("holds {}", self.values.text(when, value)),
            Field::Flags => self.flags(when),
        };
        self.say(mark, &text);
    }

    fn flags(&self, when: When) -> String {
        match self.values.view.flags(when, self.object) {
            Some(flags) if flags.is_activatable => format!("is a {:?} and activated when it is found", flags.kind),
            Some(flags) => format!("is a {:?}", flags.kind),
            None => "is of no kind".into(),
        }
    }

    /// `runs` holds what is known of the lines, as they are at that moment.
    fn edit(&mut self, operation: &Operation, runs: &mut HashMap<ElementLine, Option<Draft>>) {
        let (object, values) = (self.object, self.values);
        let text = |datum: &Datum| values.text(When::After, datum);
        let undone = line_of(operation).and_then(|line| {
            let draft = runs.entry(line).or_insert_with(|| draft_of(values.view.names.run_before(object, line)?, line));
            draft.as_mut()?.apply(operation).ok().flatten()
        });
        match (operation, undone) {
            (Operation::Insert { line, index, run }, _) => {
                let elements = values.elements(When::After, object, run);
                self.say(Mark::Added, &format!("{}at {index}: {elements}", word(*line)));
            }
            (Operation::Delete { line, index, .. }, Some(Operation::Insert { run, .. })) => {
                let elements = values.elements(When::Before, object, &run);
                self.say(Mark::Removed, &format!("{}at {index}: {elements}", word(*line)));
            }
            (Operation::Delete { line, index, count }, _) => {
                self.say(Mark::Removed, &format!("{}at {index}: {count} elements", word(*line)));
            }
            (Operation::Move { line, from, to }, _) => {
                self.say(Mark::Note, &format!("{}from {from} to {to}", word(*line)));
            }
            (Operation::Set { index, value }, undone) => {
                if let Some(Operation::Set { value: before, .. }) = undone {
                    self.say(Mark::Removed, &format!("at {index}: {}", values.text(When::Before, &before)));
                }
                self.say(Mark::Added, &format!("at {index}: {}", text(value)));
            }
            (Operation::Count { key, delta }, _) => self.say(Mark::Added, &format!("counts {}: {delta:+}", text(key))),
            (Operation::Add { member, count }, _) => {
                self.say(Mark::Added, &format!("has {} {count} times more", text(member)))
            }
            (Operation::Remove { member, count }, _) => {
                self.say(Mark::Removed, &format!("has {} {count} times less", text(member)));
            }
            (Operation::Create(_) | Operation::Put { .. } | Operation::Call { .. }, _) => {}
        }
    }
}

fn line_of(operation: &Operation) -> Option<ElementLine> {
    match operation {
        Operation::Insert { line, .. } | Operation::Delete { line, .. } | Operation::Move { line, .. } => Some(*line),
        Operation::Set { .. } => Some(ElementLine::Items),
        _ => None,
    }
}

/// An object that has just this in its line, to find out what edits take from it.
fn draft_of(run: Run, line: ElementLine) -> Option<Draft> {
    let mut draft = Draft::from(Creation {
        body: if line == ElementLine::Protos { Body::Nothing } else { Body::Elements(run.clone()) },
        ..Creation::default()
    });
    if line == ElementLine::Protos {
        draft.apply(&Operation::Insert { line, index: 0, run }).ok()?;
    }
    Some(draft)
}

const fn word(line: ElementLine) -> &'static str {
    if matches!(line, ElementLine::Protos) { "proto " } else { "" }
}
