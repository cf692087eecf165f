//! `help` knows the whole library.

mod launch;

use launch::telos_in;

fn repl(input: &str) -> String {
    telos_in(".".as_ref(), &["repl"], input).ok()
}

/// `Prototype slot` for each primitive of the library. Locals have those of Object, and are nobody's prototype.
fn primitives() -> Vec<String> {
    let program = "Protos Core foreachSlot(name, prototype,
        if(name == \"Locals\", continue)
        getSlot(\"prototype\") slotNames foreach(slot,
            value := getSlot(\"prototype\") getLocalSlot(slot)
            if(getSlot(\"value\") type == \"CFunction\", writeln(name, \" \", slot))
        )
    )";
    telos_in(".".as_ref(), &["run", "-"], program).ok().lines().map(String::from).collect()
}

/// A new user asked for `help List append` and was told that nothing is written about it.
#[test]
fn every_primitive_is_documented() {
    // The slot without a name is what brackets mean: it cannot be asked for.
    let asked: Vec<String> = primitives().into_iter().filter(|name| !name.ends_with(' ')).collect();
    assert!(asked.len() > 500, "{}", asked.len());
    let input: String = asked.iter().map(|name| format!("help {name}\n\"next\"\n")).collect();
    let output = repl(&input);
    let answers: Vec<&str> = output.split("==> \"next\"\n").collect();
    assert_eq!(answers.len(), asked.len() + 1);
    let unknown: Vec<&String> = asked
        .iter()
        .zip(&answers)
        .filter(|(_, answer)| answer.contains("Nothing is written") || answer.contains("There is no"))
        .map(|(name, _)| name)
        .collect();
    assert!(unknown.is_empty(), "add a line to stdlib/doc/ for each of {unknown:?}");
    for (name, answer) in asked.iter().zip(&answers) {
        let words = answer.split_once("\n    ").map_or("", |(_, words)| words.trim());
        assert!(words.ends_with('.') && words.len() > 8, "{name}: {answer}");
    }
}

/// What is documented is there: a renamed slot takes its documentation along.
#[test]
fn nothing_is_documented_that_does_not_exist() {
    // A slot that nil has is found in nil, which means that nothing was found.
    let program: String = language::documentation()
        .filter(|(prototype, _)| *prototype != "nil")
        .map(|(prototype, text)| (prototype, text.split([' ', '(']).next().unwrap_or_default()))
        .map(|(prototype, slot)| {
            format!("e := try(if({prototype} hasSlot(\"{slot}\") not, writeln(\"{prototype} {slot}\")))\n")
        })
        .collect();
    assert_eq!(telos_in(".".as_ref(), &["run", "-"], &program).ok(), "");
}

#[test]
fn help_tells_prototypes_slots_and_objects_of_the_program() {
    let list = repl("help List\n");
    assert!(list.contains("append(values, ...)") && list.contains("Adds the values at the end."), "{list}");
    assert!(list.contains("select(") && list.lines().all(|line| line.chars().count() <= 80), "{list}");
    assert_eq!(repl("help List append\n"), "List append(values, ...)\n    Adds the values at the end. Returns self.\n");
    assert!(repl("help List println\n").starts_with("Object println\n"), "what it inherits");
    let late = "Verification judge(case)\n    Returns the Verdict of all checks.\n";
    assert_eq!(repl("help Verification judge\n"), late, "what is loaded when it is first named");
    assert!(repl("help size\n").contains("List size") && repl("help size\n").contains("Map size"));
    assert!(repl("help if\n").starts_with("Object if(condition, thenExpression, elseExpression)\n"));
    let own = "Account := Object clone do(deposit := method(amount, amount))\nx := 1\n";
    assert!(repl(&format!("{own}help Account\n")).contains("  deposit(amount)\n"));
    assert!(repl(&format!("{own}help Account deposit\n")).contains("Account deposit(amount)\n"));
    assert!(repl(&format!("{own}help x\n")).contains("help Number lists"));
}

#[test]
fn what_is_not_there_has_a_neighbour_or_none() {
    assert!(repl("help List appendd\n").contains("Did you mean: help List append\n"));
    assert!(repl("help Lisst append\n").contains("Did you mean: help List\n"));
    assert!(repl("help frobnicate\n").contains("There is no \"frobnicate\". Try: help"));
}
