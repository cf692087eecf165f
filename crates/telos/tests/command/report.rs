//! What a user reads when something went wrong.

use crate::launch::{eval, telos, telos_in, write};
use tempfile::tempdir;

#[test]
fn an_exception_shows_source_stack_and_hint() {
    let directory = tempdir().unwrap();
    let program = "// A shop.\nbuy := method(things,\n    things appendd(\"tea\")\n)\nbuy(list())\n";
    write(directory.path(), "shop.io", program);
    let ran = telos_in(directory.path(), &["run", "shop.io"], "");
    assert_eq!(ran.code, Some(1));
    assert_eq!(
        ran.errors,
        "\
error: Exception: List does not respond to 'appendd'
 --> shop.io:3:12
  |
3 |     things appendd(\"tea\")
  |            ^^^^^^^
  |
  = help: did you mean 'append'?
stack:
    appendd  shop.io:3:12
    buy      shop.io:5:1
"
    );
}

/// Found by review: the library was known by its file names, so that what happened in a program's own Exception.io was
/// taken for the library's way of raising and left out.
#[test]
fn a_file_named_as_one_of_the_library_s_keeps_its_place() {
    for name in ["Exception.io", "List.io"] {
        let directory = tempdir().unwrap();
        write(directory.path(), name, "outer := method(inner)\ninner := method(Exception raise(\"no\"))\nouter\n");
        let ran = telos_in(directory.path(), &["run", name], "");
        assert!(ran.errors.contains(&format!("--> {name}:2:27")), "{ran:?}");
        assert!(ran.errors.contains(&format!("outer  {name}:3:1")), "{ran:?}");
    }
}

#[test]
fn a_syntax_error_shows_where_and_what_would_help() {
    let ran = eval("list(1, 2");
    assert_eq!(ran.code, Some(1));
    assert!(ran.errors.starts_with("error: syntax error: "), "{ran:?}");
    assert!(ran.errors.contains(" --> eval:1:5"), "{ran:?}");
    assert!(ran.errors.contains("1 | list(1, 2\n  |     ^"), "{ran:?}");
}

#[test]
fn a_slot_that_is_not_there_is_not_updated() {
    let ran = eval("count = 1");
    assert!(ran.errors.contains("help: \"count := …\" makes the slot"), "{ran:?}");
}

#[test]
fn names_are_guessed_from_the_object_itself() {
    let ran = eval("Account := Object clone do(balance := 1); Account blance");
    assert!(ran.errors.contains("did you mean 'balance'?"), "{ran:?}");
    let ran = eval("1 frobnicateAll");
    assert!(!ran.errors.contains("did you mean"), "{ran:?}");
}

#[test]
fn colours_are_for_terminals_or_on_demand() {
    assert!(!eval("1 foo").errors.contains('\x1b'));
    assert!(telos(&["--color", "always", "eval", "1 foo"]).errors.contains('\x1b'));
    assert!(!telos(&["--color", "never", "eval", "1 foo"]).errors.contains('\x1b'));
}

#[test]
fn output_comes_before_the_error_that_follows_it() {
    let ran = eval("\"before\" println; 1 foo");
    assert_eq!(ran.output, "before\n");
    assert_eq!(ran.code, Some(1));
}

/// The help line of what an expression said.
fn hint(expression: &str) -> String {
    let errors = eval(expression).errors;
    errors.lines().find_map(|line| line.split_once("help: ")).map(|(_, hint)| hint.to_string()).unwrap_or_default()
}

#[test]
fn habits_of_other_languages_are_understood() {
    for (written, said) in [
        ("\"a\" + 1", "joined with \"..\""),
        ("1 + \"a\"", "\"..\" joins text"),
        ("\"a\" * 3", "repeated(3)"),
        ("list(1) + list(2)", "'appendSeq'"),
        ("x := 1 y := 2", "x := 1; y := 2"),
        ("[1, 2]", "list(1, 2)"),
        ("{}", "Map with(\"key\", value)"),
        ("'x'", "double quotes"),
        ("list(1)[0]", "at(0)"),
        ("Map clone[\"a\"]", "at(\"key\")"),
        ("list(1) each(x, x)", "'foreach'"),
        ("list(1) length", "'size'"),
        ("\"a\" len", "'size'"),
        ("len(\"a\")", "\"text\" size"),
        ("\"a\" toUpper", "'asUppercase'"),
        ("list(1) add(2)", "'append'"),
        ("puts(\"x\")", "println"),
        ("def f(x) x", "method(x, x * 2)"),
        ("f := function(x, x)", "method(x, x * 2)"),
        ("var x = 1", "x := 1"),
        ("if x > 3 then 1", "in brackets: if(x > 1,"),
        ("this", "self"),
        ("null", "'nil'"),
        ("None", "'nil'"),
        ("True", "'true'"),
        ("true && false", "'and'"),
        ("x := 1; x++", "x = x + 1"),
        ("x := 1; x += 1", "x = x + 1"),
        ("a.b", "a b"),
        ("a := Object clone; a.b = 2", "a b"),
        ("a := list(1); a[0] = 1", "a atPut(0, 1)"),
        ("y:=-1; y println", "y := -1"),
        ("y := 2*-1", "* -1"),
        ("f := method(x, y, x + y); f()", "'f' was called without 'x' and 'y'"),
        ("\" a\" strip", "asMutable strip"),
    ] {
        assert!(hint(written).contains(said), "{written}: {}", hint(written));
    }
    for silly in ["foo", "bar", "nil foo", "list(1) xyz"] {
        assert_eq!(hint(silly), "", "{silly}");
    }
}

/// `println("hello")` is no error in Io: it prints the Lobby, and a new user wonders.
#[test]
fn printing_as_a_function_is_explained() {
    let ran = eval("println(\"hello\")");
    assert!(ran.errors.contains("help: println prints the object it is sent to"), "{ran:?}");
    assert_eq!(ran.code, Some(0));
    assert_eq!(eval("println := method(x, write(x)); println(\"hello\")").errors, "", "a method of one's own");
    assert_eq!(eval("\"hello\" println").errors, "");
}

/// "argument 0 to method 'at' must be a Number, not a 'nil'" was said of `list(1) at`.
#[test]
fn a_missing_argument_is_said_to_be_missing() {
    let ran = eval("list(1) at");
    assert!(ran.errors.starts_with("error: Exception: 'List at' needs at least 1 argument, got 0\n"), "{ran:?}");
    assert!(ran.errors.contains("help: List at(index): Returns the element there, or nil."), "{ran:?}");
    let ran = eval("list(1) at(\"x\")");
    assert!(ran.errors.contains("argument 1 of 'List at' must be a Number, not a Sequence"), "{ran:?}");
    assert!(eval("while(true)").errors.contains("'while' needs at least 2 arguments, got 1"));
}

#[test]
fn a_choice_in_another_language_is_explained() {
    for written in ["1 ? 2 : 3", "x := 5; x > 3 ? \"yes\" : \"no\""] {
        let ran = eval(written);
        assert_eq!(ran.code, Some(0));
        assert!(ran.errors.contains("help: a choice is written if("), "{ran:?}");
    }
    assert_eq!(eval("1 ?foo").errors, "");
}

/// Whatever is raised is told: a List was an empty message.
#[test]
fn an_error_that_is_no_text_says_what_it_is() {
    for (raised, said) in [
        ("Exception raise(list(1, \"a\"))", "error: Exception: list(1, \"a\")\n"),
        ("Exception raise(12)", "error: Exception: 12\n"),
        ("Exception raise", "error: Exception\n"),
        ("Exception raise(Object clone do(asString := method(1 foo)))", "error: Exception: an Object\n"),
    ] {
        assert!(eval(raised).errors.starts_with(said), "{raised}: {:?}", eval(raised));
    }
}

#[test]
fn a_recursion_is_told_once_with_how_often() {
    let directory = tempdir().unwrap();
    write(directory.path(), "deep.io", "down := method(n,\n    if(n == 0, nil foo, down(n - 1) + 1)\n)\ndown(10000)\n");
    let ran = telos_in(directory.path(), &["run", "deep.io"], "");
    let stack = ran.errors.split_once("stack:\n").map(|(_, stack)| stack);
    let wanted = "    foo   deep.io:2:20
    if    deep.io:2:5   (10,000 times)
    down  deep.io:2:25  (10,000 times)
    if    deep.io:2:5
    down  deep.io:4:1
";
    assert_eq!(stack, Some(wanted), "{ran:?}");
    let program: String = (0..99).map(|n| format!("f{n} := method(f{})\n", n + 1)).collect();
    write(directory.path(), "long.io", program + "f99 := method(nil foo)\nf0\n");
    let ran = telos_in(directory.path(), &["run", "long.io"], "");
    assert!(ran.errors.ends_with("\n    … 85 more\n"), "101 messages, 16 of them shown: {}", ran.errors);
}

#[test]
fn the_library_takes_one_line_of_a_stack() {
    let ran = eval("list(1, 2) map(x, list(2, x) sortBy(block(a, b, a foo)))");
    let names: Vec<&str> = ran.errors.lines().skip_while(|line| *line != "stack:").skip(1).collect();
    let own: Vec<&str> = names.iter().filter(|line| line.contains(" eval:")).copied().collect();
    assert_eq!((own.len(), names.len()), (3, 5), "{names:#?}");
    assert!(names[1].ends_with("(library)") && names[3].ends_with("(library)"), "{names:#?}");
}

#[test]
fn a_program_that_was_stopped_says_where_and_how_to_go_on() {
    let program = "spin := method(\n    loop(nil)\n)\nspin";
    for (limits, hint) in
        [(["--fuel", "10000"], "--fuel N allows more"), (["--timeout", "200ms"], "--timeout TIME allows more")]
    {
        let ran = telos(&["eval", limits[0], limits[1], program]);
        assert!(ran.errors.contains(" --> eval:2:") && ran.errors.contains(hint), "{ran:?}");
        assert!(ran.errors.contains("    loop  eval:2:5\n    spin  eval:4:1\n"), "{ran:?}");
    }
    let memory = telos(&["eval", "--memory", "2M", "l := list()\nloop(l append(Object clone))"]);
    assert!(
        memory.errors.contains(" --> eval:2:") && memory.errors.contains("--memory SIZE allows more"),
        "{memory:?}"
    );
    let depth = telos(&["eval", "--depth", "100", "f := method(f)\nf"]);
    assert!(
        depth.errors.contains("--depth N allows more") && depth.errors.contains("f  eval:1:13  (100 times)"),
        "{depth:?}"
    );
}
/// A name of a hundred kilobytes was compared with every other, and then printed three times.
#[test]
fn what_is_huge_is_cut_in_errors() {
    let name = "n".repeat(100_000);
    let directory = tempfile::tempdir().unwrap();
    for program in [
        name.clone(),
        format!("Lobby {name}"),
        format!("N{name}"),
        format!("{name} := method(1 foo); {name}"),
        "Exception raise(\"x\" repeated(1000000))".to_string(),
        "Regex with(\"(\" repeated(1000000)) matchesIn(\"\") all".to_string(),
    ] {
        let began = std::time::Instant::now();
        let ran = crate::launch::telos_in(directory.path(), &["run", "-"], &program);
        assert_eq!(ran.code, Some(1));
        assert!(ran.errors.len() < 20_000, "{} bytes for {}", ran.errors.len(), &program[..20]);
        assert!(began.elapsed().as_secs() < 3, "{:?} for {}", began.elapsed(), &program[..20]);
    }
}
