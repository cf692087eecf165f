//! Evaluates an Io expression on a fresh machine and shows the result as text, without the library's help.

use language::{Host, Value, Vm};

/// The text of what the source evaluates to, or of the exception it raised.
pub fn evaluate(source: &str) -> String {
    let mut vm = Vm::new(Host::default());
    evaluate_on(&mut vm, source)
}

pub fn evaluate_on(vm: &mut Vm, source: &str) -> String {
    match vm.evaluate(source, "test") {
        Ok(value) => show(vm, value),
        Err(language::Error::Exception(exception)) => format!("! {}", exception.message),
        Err(error) => format!("! {error}"),
    }
}

/// Lists and maps are shown with what they hold, text in quotes inside of them.
fn show(vm: &mut Vm, value: Value) -> String {
    if value == Value::NIL {
        return "nil".into();
    }
    if value == Value::TRUE || value == Value::FALSE {
        return (value == Value::TRUE).to_string();
    }
    if let Some(text) = vm.simple_text(value) {
        return text;
    }
    let handle = value.as_handle().expect("what is no number is an object");
    if let Some(items) = vm.heap().list(handle).map(<[Value]>::to_vec) {
        let items: Vec<String> = items.into_iter().map(|item| show_inside(vm, item)).collect();
        return format!("list({})", items.join(", "));
    }
    if let Some(map) = vm.heap().map(handle) {
        let pairs: Vec<_> = map.iter().map(|(&key, &value)| (key, value)).collect();
        let pairs: Vec<String> = pairs
            .into_iter()
            .map(|(key, value)| format!("{}: {}", vm.heap().symbol_text(key).into_owned(), show_inside(vm, value)))
            .collect();
        return format!("map({})", pairs.join(", "));
    }
    format!("a {}", vm.type_name(value))
}

fn show_inside(vm: &mut Vm, value: Value) -> String {
    let is_text = vm.text_of(value).is_some();
    let text = show(vm, value);
    if is_text { format!("{text:?}") } else { text }
}

/// Checks each expression against the text of its value.
#[allow(dead_code, reason = "not every test file needs it")]
pub fn check(cases: &[(&str, &str)]) {
    let wrong: Vec<String> = cases
        .iter()
        .map(|&(source, wanted)| (source, wanted, evaluate(source)))
        .filter(|(_, wanted, got)| got != wanted)
        .map(|(source, wanted, got)| format!("{source}\n  wanted {wanted}\n  got    {got}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
