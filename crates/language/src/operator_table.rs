//! The program's OperatorTable and the parser's: two maps in the heap that a program may change in any way, and what
//! the parser makes of them. Owns the copying between both.

use crate::syntax::OperatorTable;
use crate::vm::Vm;
use object::{Handle, Symbol, Value};

/// The table that the parser uses, and the maps as they were when it was made. Comparing them with a glance at each
/// entry is far cheaper than making a table, so it can be done at each parse.
#[derive(Default)]
pub(crate) struct Operators {
    pub table: OperatorTable,
    seen: Vec<(Symbol, Value)>,
}

impl Operators {
    /// What was seen is kept alive, so that no other symbol can take its place and look unchanged.
    pub fn trace(&self, visit: &mut dyn FnMut(Value)) {
        for &(name, value) in &self.seen {
            visit(Value::object(name));
            visit(value);
        }
    }
}

/// Makes the maps that the OperatorTable of a new machine has.
pub(crate) fn install(vm: &mut Vm) {
    let table = OperatorTable::default();
    let holder = Value::object(vm.protos.operator_table);
    let (operators, assign_operators) = (vm.map(), vm.map());
    for (name, precedence) in table.operators() {
        let name = vm.heap.intern(name);
        vm.heap.map_put(vm.handle_of(operators), name, Value::number(precedence as f64));
    }
    for (name, message) in table.assign_operators() {
        let (name, message) = (vm.heap.intern(name), vm.symbol(message));
        vm.heap.map_put(vm.handle_of(assign_operators), name, message);
    }
    vm.set_slot(holder, "operators", operators);
    vm.set_slot(holder, "assignOperators", assign_operators);
    let precedences = Value::number(OperatorTable::MAX_PRECEDENCE as f64 + 1.0);
    vm.set_slot(holder, "precedenceLevelCount", precedences);
    vm.refresh_operators();
}

impl Vm {
    /// Takes the operators from the program's OperatorTable if it changed.
    pub(crate) fn refresh_operators(&mut self) {
        let [operators, assign_operators] = [self.names.operators, self.names.assign_operators].map(|name| {
            let map = self.heap.own_slot(self.protos.operator_table, name).and_then(Value::as_handle);
            map.filter(|&map| self.heap.map(map).is_some())
        });
        let entries = entries(self, operators).chain(entries(self, assign_operators));
        if !entries.eq(self.operators.seen.iter().copied()) {
            self.rebuild_operators(operators, assign_operators);
        }
    }

    fn rebuild_operators(&mut self, operators: Option<Handle>, assign_operators: Option<Handle>) {
        let mut table = OperatorTable::empty();
        for (name, precedence) in entries(self, operators) {
            // What is no precedence is none of the parser's; a looser one than the loosest is the loosest.
            if let Some(precedence) = self.number_of(precedence).filter(|precedence| *precedence >= 0.0) {
                let precedence = precedence.min(OperatorTable::MAX_PRECEDENCE as f64) as u8;
                table.add_operator(&self.heap.symbol_text(name), precedence);
            }
        }
        for (name, message) in entries(self, assign_operators) {
            if let Some(message) = self.text_of(message) {
                table.add_assign_operator(&self.heap.symbol_text(name), &message);
            }
        }
        let seen = entries(self, operators).chain(entries(self, assign_operators)).collect();
        self.operators = Operators { table, seen };
    }
}

fn entries(vm: &Vm, map: Option<Handle>) -> impl Iterator<Item = (Symbol, Value)> + '_ {
    map.and_then(|map| vm.heap.map(map)).into_iter().flatten().map(|(&name, &value)| (name, value))
}
