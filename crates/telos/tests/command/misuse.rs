//! `eval`, `fmt`, `repl`, `completions`, `demo language`, and what `--help` says.

use crate::launch::{eval, telos, telos_in, write};
use tempfile::tempdir;

#[test]
fn eval_prints_the_value_unless_the_program_printed() {
    assert_eq!(eval("1 + 2").ok(), "3\n");
    assert_eq!(eval("\"hello\" asUppercase println").ok(), "HELLO\n");
    assert_eq!(eval("nil").ok(), "");
    assert_eq!(telos(&["eval", "x := 20", "x * 2 + 2"]).ok(), "42\n");
    assert_eq!(eval("list(1, \"a\")").ok(), "list(1, \"a\")\n");
}

#[test]
fn eval_speaks_json() {
    let value = telos(&["eval", "--json", "write(\"hi\"); list(1, 1.5, \"a\\n\", nil, true, Map with(\"k\", 2))"]).ok();
    assert_eq!(value, "{\"value\":[1,1.5,\"a\\n\",null,true,{\"k\":2}],\"type\":\"List\",\"output\":\"hi\"}\n");
    let error = telos(&["eval", "--json", "write(\"hi\"); list appendd"]);
    assert_eq!(error.code, Some(1));
    let json: serde_json::Value = serde_json::from_str(&error.output).unwrap();
    assert_eq!(json["output"], "hi");
    assert_eq!(json["error"]["hint"], "did you mean 'append'?");
    assert_eq!(json["error"]["stack"][0]["column"], 19);
    let halted = telos(&["eval", "--json", "--fuel", "1000", "loop(nil)"]);
    assert_eq!(halted.code, Some(122));
    let json: serde_json::Value = serde_json::from_str(&halted.output).unwrap();
    let outermost = json["error"]["stack"].as_array().and_then(|stack| stack.last()).unwrap();
    assert_eq!((&json["error"]["type"], &outermost["message"]), (&"halted".into(), &"loop".into()));
    // A program that ends itself has no value, and did not fail.
    let ended = telos(&["eval", "--json", "write(\"hi\"); System exit(3)"]);
    assert_eq!((ended.code, ended.output.as_str()), (Some(3), "{\"exit\":3,\"output\":\"hi\"}\n"));
    let unhandled = telos(&["eval", "--json", "coroDo(1 foo); 2"]);
    assert_eq!(unhandled.code, Some(1));
    let json: serde_json::Value = serde_json::from_str(&unhandled.output).unwrap();
    assert_eq!((&json["value"], &json["unhandled"][0]["stack"][0]["column"]), (&2.into(), &10.into()), "{json}");
    // A list that contains itself is cut, not followed.
    let cyclic = telos(&["eval", "--json", "l := list(); l append(l, l); l"]).ok();
    assert!(cyclic.contains("\"List\""));
}

#[test]
fn fmt_prints_checks_and_writes() {
    let directory = tempdir().unwrap();
    write(directory.path(), "a.io", "x:=1;\nfoo( a,b )\n");
    let run = |arguments: &[&str]| telos_in(directory.path(), arguments, "");
    let tidied = run(&["fmt", "a.io"]).ok();
    assert_eq!(tidied, "x := 1\nfoo(a, b)\n");
    let check = run(&["fmt", "--check", "a.io"]);
    assert_eq!((check.code, check.output.as_str()), (Some(1), "a.io\n"));
    assert_eq!(run(&["fmt", "--write", "a.io"]).ok(), "");
    assert_eq!(run(&["fmt", "--check", "a.io"]).code, Some(0));
    assert_eq!(telos_in(directory.path(), &["fmt", "-"], "a  +b").ok(), "a + b\n");
    write(directory.path(), "bad.io", "foo(");
    let bad = run(&["fmt", "bad.io"]);
    assert_eq!(bad.code, Some(1));
    assert!(bad.errors.contains("bad.io:1:4"), "{bad:?}");
}

#[test]
fn the_dialogue_works_through_a_pipe() {
    let repl = |input: &str| telos_in(".".as_ref(), &["repl"], input);
    assert_eq!(repl("1 + 2\n\nx := 5\nx * 2\n").ok(), "==> 3\n==> 5\n==> 10\n");
    assert_eq!(repl("list(1,\n2,\n3)\n").ok(), "==> list(1, 2, 3)\n");
    let failing = repl("1 foo\n2\nexit\n3\n");
    assert!(failing.errors.contains("input 1:1:3"), "{failing:?}");
    assert_eq!((failing.code, failing.output.as_str()), (Some(1), "==> 2\n"));
    assert_eq!(
        repl("\"1\"\n1\n\"a\\\"b\"\nMap with(\"k\", \"v\")\n").ok(),
        "==> \"1\"\n==> 1\n==> \"a\\\"b\"\n==> Map with(\"k\", \"v\")\n"
    );
    assert_eq!(repl("System exit(3)\n").code, Some(3));
    assert!(repl("help\n").ok().contains("Prototypes:"));
    assert!(repl("help List\n").ok().contains("List "));
    assert!(repl("help Date today\n").ok().contains("Sets the receiver to the start of the current day"));
}

#[test]
fn the_dialogue_is_left_and_asked_as_elsewhere() {
    let repl = |input: &str| telos_in(".".as_ref(), &["repl"], input);
    for leave in ["exit", "quit", "exit()", "quit()", ":q", ":quit", ":exit"] {
        assert_eq!(repl(&format!("1\n{leave}\n2\n")).ok(), "==> 1\n", "{leave}");
    }
    assert_eq!(repl("exit(3)\n").code, Some(3));
    for ask in ["help()", ":help"] {
        assert_eq!(repl(&format!("{ask}\n")).ok(), repl("help\n").ok(), "{ask}");
    }
    for ask in ["help(List)", ":help List"] {
        assert_eq!(repl(&format!("{ask}\n")).ok(), repl("help List\n").ok(), "{ask}");
    }
    let unhandled = repl("coroDo(1 foo); 2\n3\n");
    assert_eq!((unhandled.code, unhandled.output.as_str()), (Some(1), "==> 2\n==> 3\n"));
    assert!(unhandled.errors.contains("in a coroutine: Exception"), "{unhandled:?}");
}

/// Each line had all that came before it parsed anew: twenty thousand took minutes.
#[test]
fn a_long_input_is_read_line_by_line() {
    let began = std::time::Instant::now();
    let lines: String = (0..100_000).map(|each| format!("  {each}, // )\n")).collect();
    let ran = telos_in(".".as_ref(), &["repl"], &format!("list(\n{lines}0) size\n"));
    assert_eq!(ran.ok(), "==> 100001\n");
    assert!(began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
}

#[test]
fn wrong_usage_says_what_was_meant() {
    for (arguments, tip) in [
        (&["hello.io"][..], "tip: to run a file: telos run hello.io\n"),
        (&["1 + 2"], "tip: to evaluate an expression: telos eval '1 + 2'\n"),
        (&["\"it's\" println"], "telos eval '\"it'\\''s\" println'\n"),
        (&["rnu"], "tip: did you mean 'telos run'?\n"),
        (&["evla", "1"], "tip: did you mean 'telos eval'?\n"),
        (&["eval", "-1 + 2"], "tip: an expression that begins with - stands behind --: telos eval -- '-1 + 2'\n"),
    ] {
        let ran = telos(arguments);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.errors.contains(tip) && ran.errors.matches("tip:").count() == 1, "{ran:?}");
    }
    assert!(!telos(&["xyzzy"]).errors.contains("tip:"));
}

#[test]
fn limits_of_a_dialogue_hold_for_each_input() {
    let ran = telos_in(".".as_ref(), &["repl", "--fuel", "20000"], "loop(nil)\n1 + 1\nloop(nil)\n2 + 2\n");
    assert_eq!(ran.output, "==> 2\n==> 4\n");
    assert_eq!(ran.errors.matches("out of fuel").count(), 2);
    assert_eq!(ran.code, Some(122));
}

#[test]
fn every_shell_has_its_script() {
    for shell in ["bash", "zsh", "fish"] {
        assert!(telos(&["completions", shell]).ok().contains("telos"));
    }
}

#[test]
fn the_tour_of_the_language_ends_well_and_is_plain_in_a_pipe() {
    let ran = telos(&["demo", "language"]);
    assert!(!ran.output.contains('\x1b'));
    assert!(ran.output.contains("out of fuel") && ran.output.contains("→ 42"), "{}", ran.output);
    assert!(!ran.output.contains("Exception:"), "{}", ran.output);
    assert_eq!(ran.errors, "");
    assert!(telos(&["--color", "always", "demo", "language"]).ok().contains('\x1b'));
}

#[test]
fn help_teaches() {
    let help = telos(&["--help"]).ok();
    assert!(help.contains("Examples:") && help.contains("Exit codes:"));
    assert!(telos(&["eval", "--help"]).ok().contains("--fuel"));
    assert!(telos(&["run", "--help"]).ok().contains("Options of telos stand before the file"));
    for command in [
        "",
        "run",
        "eval",
        "repl",
        "up",
        "send",
        "status",
        "log",
        "show",
        "revert",
        "image",
        "fmt",
        "completions",
        "demo",
        "exec",
        "doctor",
        "runs",
        "dream",
        "dream run",
        "dream merge",
        "dream verify",
        "dream new",
        "dream eval",
        "dream list",
        "dream show",
        "dream diff",
        "dream resume",
        "dream discard",
        "conflicts",
        "history",
        "why",
        "undo",
        "rejections",
    ] {
        let arguments: Vec<&str> = command.split_whitespace().chain(["--help"]).collect();
        let help = |columns: &str| {
            let ended = crate::launch::command(".".as_ref(), &arguments).env("COLUMNS", columns).output().unwrap();
            String::from_utf8_lossy(&ended.stdout).into_owned()
        };
        let narrow = help("80");
        assert!(narrow.lines().all(|line| line.chars().count() <= 80), "{narrow}");
        // Examples and tables are laid out by hand: they must fit as they are.
        let examples = |help: &str| help.split_once("\nExamples:").map(|(_, examples)| examples.to_string());
        assert_eq!(examples(&narrow), examples(&help("200")), "{command}");
    }
}

/// What scripts look for: each of the commands that they are made of says how it ends.
#[test]
fn help_says_how_a_command_ends() {
    for command in ["up", "send", "exec", "doctor", "demo", "conflicts", "history", "why", "undo", "rejections"] {
        assert!(telos(&[command, "--help"]).ok().contains("\nExit codes:\n"), "{command}");
    }
    for command in ["send", "conflicts", "revert", "lock", "unlock"] {
        let help = telos(&[command, "--help"]).ok();
        assert!(help.contains("\nExit codes:\n") && help.contains("    3   refused"), "{command}");
    }
    for command in ["run", "merge", "verify"] {
        let help = telos(&["dream", command, "--help"]).ok();
        assert!(help.contains("\nExit codes:\n") && help.contains("    3   "), "{command}");
    }
}

/// Whoever reads only the first line ends the command, and that is no failure worth words.
#[test]
fn a_reader_that_goes_away_ends_a_command_quietly() {
    let directory = tempfile::tempdir().unwrap();
    crate::launch::write(directory.path(), "big.io", "a := list(1, 2, 3) map(x, x + 1)\n".repeat(20_000));
    for arguments in
        [&["demo", "language"][..], &["--help"], &["run", "--help"], &["completions", "bash"], &["fmt", "big.io"]]
    {
        let mut command = crate::launch::command(directory.path(), arguments);
        let mut child =
            command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let ended = child.wait_with_output().unwrap();
        let errors = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(errors, "", "{arguments:?}");
        assert!(matches!(ended.status.code(), Some(0 | 141)), "{arguments:?}: {:?}", ended.status);
    }
}
