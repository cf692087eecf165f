//! The languages of `telos exec`: each that is installed runs a file, code and a pipe. Those that are not are named in the
//! test's output; nothing is passed over in silence.

use crate::launch::exec::Bench;
use crate::launch::write;

/// Prints its two arguments, then what it read.
const PROGRAMS: &[(&str, &str)] = &[
    ("awk", "BEGIN { print ARGV[1], ARGV[2]; getline line < \"-\"; print line }"),
    ("bash", "[[ 1 ]] && echo \"$1\" \"$2\"; read line; echo \"$line\""),
    (
        "c",
        "#include <stdio.h>\nint main(int n, char **a) { char l[99]; printf(\"%s %s\\n\", a[1], a[2]); fgets(l, 99, stdin); \
         printf(\"%s\", l); return 0; }",
    ),
    (
        "c++",
        "#include <iostream>\n#include <string>\nint main(int n, char **a) { std::string l; std::getline(std::cin, l); \
         std::cout << a[1] << \" \" << a[2] << \"\\n\" << l << \"\\n\"; }",
    ),
    (
        "go",
        "package main\nimport (\"bufio\"; \"fmt\"; \"os\")\nfunc main() { line, _ := bufio.NewReader(os.Stdin).ReadString('\\n')\n\
         fmt.Print(os.Args[1], \" \", os.Args[2], \"\\n\", line) }",
    ),
    ("io", "(System args at(1) .. \" \" .. System args at(2)) println; File standardInput readLine println"),
    (
        "java",
        "import java.util.*; public class Anything { public static void main(String[] a) { System.out.println(a[0] + \" \" \
         + a[1]); System.out.println(new Scanner(System.in).nextLine()); } }",
    ),
    ("lua", "print(arg[1] .. ' ' .. arg[2]); print(io.read())"),
    (
        "node",
        "console.log(process.argv[2], process.argv[3]); process.stdout.write(require('fs').readFileSync(0, 'utf8'))",
    ),
    ("perl", "print \"$ARGV[0] $ARGV[1]\\n\"; print scalar <STDIN>;"),
    ("php", "<?php echo \"$argv[1] $argv[2]\\n\", fgets(STDIN);"),
    ("python", "import sys\nprint(sys.argv[1], sys.argv[2])\nprint(input())"),
    ("ruby", "puts ARGV.join(' '); puts STDIN.gets"),
    (
        "rust",
        "use std::env; fn main() { let mut l = String::new(); std::io::stdin().read_line(&mut l).unwrap(); \
         println!(\"{} {}\", env::args().nth(1).unwrap(), env::args().nth(2).unwrap()); print!(\"{l}\"); }",
    ),
    ("sh", "echo \"$1\" \"$2\"; read line; echo \"$line\""),
];

fn listed(bench: &Bench) -> Vec<serde_json::Value> {
    let list: serde_json::Value = serde_json::from_str(&bench.telos(&["exec", "--list", "--json"]).ok()).unwrap();
    list.as_array().unwrap().clone()
}

#[test]
fn every_language_that_is_installed_runs() {
    let bench = Bench::new();
    let languages = listed(&bench);
    assert_eq!(languages.len(), PROGRAMS.len(), "a language has no program here: {languages:?}");
    let mut ran_count = 0;
    for language in languages {
        let name = language["name"].as_str().unwrap();
        if language["found"].is_null() {
            println!("NOT INSTALLED: {name}");
            continue;
        }
        let (_, program) = PROGRAMS.iter().find(|(each, _)| *each == name).expect("a program in it");
        // Compilers are big and this may be a small machine; what is limited is tested elsewhere.
        let limits = ["--timeout", "5m", "--cpu", "5m", "--memory", "3G", "--disk", "1G"];
        let words = ["--lang", name, "-e", program, "--", "a b", "c"];
        let ran = bench.exec_with(&[&limits[..], &words].concat(), "line\n");
        assert_eq!((ran.code, ran.output.as_str()), (Some(0), "a b c\nline\n"), "{name}: {ran:?}");
        assert_eq!(bench.last_run()["language"], name);
        println!("ran: {name}");
        ran_count += 1;
    }
    assert!(ran_count >= 2, "not even a shell");
}

/// The row of the language with the most names was out of line.
#[test]
fn the_list_of_languages_is_a_table() {
    let text = Bench::new().telos(&["exec", "--list"]).ok();
    let rows: Vec<&str> = text.lines().take_while(|line| !line.is_empty()).collect();
    let places: std::collections::BTreeSet<_> = rows.iter().map(|row| row.rfind("  ")).collect();
    assert!(rows.len() > 10 && places.len() == 1, "{text}");
}

#[test]
fn a_file_is_run_by_its_extension_or_its_first_line() {
    let bench = Bench::new();
    write(bench.path(), "a.sh", "echo $0 $1");
    write(bench.path(), "tool", "#!/usr/bin/env bash\necho ${BASH_VERSION:+bash}");
    assert_eq!(bench.exec(&["a.sh", "--", "x"]).ok(), "/code/a.sh x\n");
    assert_eq!(bench.exec(&["tool"]).ok(), "bash\n");
    assert_eq!(bench.exec_with(&["--lang", "sh"], "echo piped").ok(), "piped\n");
    assert_eq!(bench.exec_with(&["--lang", "sh", "-", "--", "x"], "echo $1").ok(), "x\n");
}

#[test]
fn code_that_does_not_compile_fails_with_the_words_of_the_compiler() {
    let bench = Bench::new();
    if listed(&bench).iter().any(|language| language["name"] == "c" && language["found"].is_null()) {
        println!("NOT INSTALLED: c");
        return;
    }
    let ran = bench.exec(&["--lang", "c", "-e", "int main( { }"]);
    assert!(ran.code == Some(1) && ran.errors.contains("/code/main.c:1"), "{ran:?}");
}

#[test]
fn a_user_adds_a_language_with_a_few_lines() {
    let bench = Bench::new();
    let file = bench.configuration.path().join("telos/languages.toml");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(
        &file,
        "[upper]\nextensions = [\"up\"]\nfind = [\"tr\"]\nrun = [\"sh\", \"-c\", \"{found} a-z A-Z < {code}\"]\n",
    )
    .unwrap();
    write(bench.path(), "a.up", "hello");
    assert_eq!(bench.exec(&["a.up"]).ok(), "HELLO");
    assert!(bench.telos(&["exec", "--list"]).ok().contains("upper"));
    std::fs::write(&file, "[upper]\nfind = [\"tr\"]\nrun = [\"tr\"]\nextension = \"up\"\n").unwrap();
    let ran = bench.exec(&["a.up"]);
    assert!(
        ran.code == Some(125) && ran.errors.contains("languages.toml") && ran.errors.contains("extension"),
        "{ran:?}"
    );
}

/// A version manager looks into the directory that it is called in: a file there chose what was run outside of the sandbox, and
/// what was let in.
#[test]
fn a_file_in_the_directory_does_not_choose_where_a_language_is() {
    let bench = Bench::new();
    let tools = tempfile::tempdir().unwrap();
    let places = ["right", "hostile"].map(|name| {
        let place = tools.path().join(name);
        std::fs::create_dir_all(place.join("bin")).unwrap();
        write_program(&place.join("bin/garden"), &format!("echo {name}"));
        place
    });
    let shim = format!("if [ -f choice ]; then touch ran; cat choice; else echo {}; fi", places[0].display());
    write_program(&tools.path().join("garden-where"), &shim);
    std::fs::create_dir(bench.configuration.path().join("telos")).unwrap();
    let languages = "[garden]\nfind = [\"garden\"]\nask = [\"garden-where\"]\nrun = [\"{found}\", \"{code}\"]\n";
    write(bench.configuration.path(), "telos/languages.toml", languages);
    write(bench.path(), "choice", places[1].display().to_string());
    let path = format!("{}:/usr/bin:/bin", tools.path().display());
    let ran = bench.command(&["exec", "--lang", "garden", "-e", "x"]).env("PATH", path).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&ran.stdout), "right\n", "{ran:?}");
    assert!(!bench.path().join("ran").exists());
}

fn write_program(path: &std::path::Path, script: &str) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::write(path, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}
