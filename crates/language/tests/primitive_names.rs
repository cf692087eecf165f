//! The names of primitives are part of every saved image: a method that was saved is a name. The list is in
//! `primitive_names.txt`. A new primitive is added there; a name that goes away or changes leaves images behind whose
//! methods raise, so it stays, or an upgrade takes care of them.

mod machine;

use language::{Function, NONE, Value, Vm};
use machine::{number, text, vm};
use std::collections::BTreeSet;

const GOLDEN: &str = include_str!("primitive_names.txt");

fn names(vm: &Vm) -> Vec<String> {
    vm.primitive_names()
}

#[test]
fn names_are_unique_and_those_of_the_list() {
    let names = names(&vm());
    let sorted: BTreeSet<&str> = names.iter().map(String::as_str).collect();
    assert_eq!(sorted.len(), names.len(), "each has a name of its own");
    let golden: BTreeSet<&str> = GOLDEN.lines().collect();
    assert_eq!(golden.len(), GOLDEN.lines().count(), "the list has each once");
    assert!(GOLDEN.lines().is_sorted(), "the list is sorted");
    let (gone, new): (Vec<_>, Vec<_>) = (golden.difference(&sorted).collect(), sorted.difference(&golden).collect());
    assert!(gone.is_empty() && new.is_empty(), "gone: {gone:#?}\nnew: {new:#?}");
}

#[test]
fn names_lead_to_places_and_back() {
    let mut vm = vm();
    for (index, name) in names(&vm).iter().enumerate() {
        assert_eq!(vm.primitive_index(name), index as u32);
    }
    assert_eq!(number(&mut vm, "List getSlot(\"append\") id"), vm.primitive_index("List.append") as f64);
}

#[test]
fn an_embedder_s_primitives_have_names_too() {
    let mut vm = vm();
    let shop = vm.prototype("Shop");
    let answer = |number: f64| Function::shared(move |_, _| Ok(Value::number(number)));
    vm.define(shop, "price", NONE, answer(1.0));
    let first = vm.primitive_index("Shop.price");
    assert_eq!(vm.primitive_names().get(first as usize).map(String::as_str), Some("Shop.price"));
    // Again, for the same object: the same primitive does something else.
    vm.define(shop, "price", NONE, answer(2.0));
    assert_eq!((vm.primitive_index("Shop.price"), number(&mut vm, "Shop price")), (first, 2.0));
    // The machine's own are never taken, nor are those of another object.
    let list = vm.prototype("List");
    vm.define(list, "size", NONE, answer(3.0));
    assert_eq!(number(&mut vm, "list() size + Map clone keys itemCopy performWithArgList(\"size\", list())"), 6.0);
    assert_eq!(text(&mut vm, "List getSlot(\"size\") uniqueName"), "size*");
    let [one, other] = [vm.object(shop), vm.object(shop)];
    vm.define(one, "stock", NONE, answer(4.0));
    vm.define(other, "stock", NONE, answer(5.0));
    assert_eq!(vm.send(one, "stock", &[]).ok(), Some(Value::number(4.0)));
    assert_eq!(vm.send(other, "stock", &[]).ok(), Some(Value::number(5.0)));
}
