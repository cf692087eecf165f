//! A program in a dream cannot tell that it is a candidate, because a candidate is a dream: whatever it asks for, it is answered
//! the same in both. For each capability there is a probe, a test that fails with what it found out. It is run in an ordinary
//! dream, by its source, and on the candidate, before and after the change is laid on.

use crate::launch::up::Up;
use serde_json::Value;
use std::collections::BTreeMap;

/// What is asked, and how: each source is an expression that comes to a text.
const PROBES: &[(&str, &str)] = &[
    (
        "File",
        "list(try(File with(\"/etc/passwd\") contents) error, try(File with(\"/nowhere\") contents) error) asString",
    ),
    // What one run left behind would be seen by the next.
    (
        "FileLeftBehind",
        "f := File with(\"/tmp/probe\"); seen := f exists; f openForAppending write(\"1\") close; list(seen, f contents size) asString",
    ),
    ("FileTemporary", "f := File temporaryFile; f write(\"x\"); f position asString"),
    ("Directory", "list(Directory with(\"/etc\") exists, Directory with(\"/tmp\") items size) asString"),
    (
        "DirectoryCurrent",
        "here := Directory currentWorkingDirectory; Directory setCurrentWorkingDirectory(\"/tmp\"); here",
    ),
    (
        "System",
        "list(System args, System launchScript, System launchPath, System platform, System platformVersion, System activeCpus, System version, System installPrefix) asString",
    ),
    ("SystemProcess", "System thisProcessPid asString"),
    (
        "Environment",
        "seen := System getEnvironmentVariable(\"PROBE\"); System setEnvironmentVariable(\"PROBE\", \"1\"); list(seen, System getEnvironmentVariable(\"PATH\"), System getEnvironmentVariable(\"HOME\"), System getEnvironmentVariable(\"TELOS_IMAGE\")) asString",
    ),
    ("Random", "list(Random isAvailable, Random value type, Random clone setSeed(7) value) asString"),
    ("RandomSeed", "was := Random slotNames sort asString; Random setSeed(7); list(was, Random value) asString"),
    ("Date", "list(Date now type, Date now year, Date clock type, Date now isPast type) asString"),
    ("Sleep", "System sleep(0.001); \"slept\""),
    ("Http", "try(Http get(\"http://127.0.0.1:9/\")) error"),
    ("HttpAvailable", "Http isAvailable asString"),
    (
        "Commands",
        "list(try(System system(\"id\")) error, try(System systemOutput(\"id\")) error, try(File clone popen(\"id\")) error) asString",
    ),
    (
        "StandardOutput",
        "\"x\" print; File standardOutput write(\"y\"); list(File standardOutput isOpen, File standardError isOpen) asString",
    ),
    (
        "StandardInput",
        "line := nil; raised := try(line = File standardInput readLine); list(line, if(raised, raised error, nil)) asString",
    ),
    (
        "Dream",
        "d := Telos dream(\"m\", block(1)); list(Dream isAvailable, d status, d isOver, d journal, d log, try(d merge) error) asString",
    ),
    // All that may be asked for in one transaction, each time.
    ("DreamMany", "255 repeat(Telos dream(\"m\", block(1))); \"all\""),
    ("DreamOthers", "list(Dream pageOf(\"d1\"), try(Dream pageOf(\"nonsense\")) error) asString"),
    ("Telos", "list(Telos name, Telos wakings, Telos failures) asString .. Telos slotNames sort join(\" \")"),
    (
        "TelosRecords",
        "list(Telos merges size, Telos rejections size, Telos conflicts size, Telos violations size, Telos outbox size, Telos archive size) asString",
    ),
    (
        "Lobby",
        "list(Lobby slotNames sort join(\" \"), Protos slotNames sort join(\" \"), Core slotNames sort join(\" \")) join(\" / \")",
    ),
    (
        "Coroutine",
        "list(Coroutine currentCoroutine type, Scheduler slotNames sort join(\" \"), Scheduler yieldingCoros size, Scheduler currentCoroutine isNil) join(\" \")",
    ),
    (
        "CoroutineParent",
        "c := Coroutine currentCoroutine; list(c parentCoroutine isNil, c slotNames sort, c result) asString",
    ),
    ("Yield", "n := 0; c := coroDo(n = n + 1; yield; n = n + 1); yield; yield; n asString"),
    ("Depth", "n := 0; deep := block(n = n + 1; deep call); e := try(deep call); list(n, e error) asString"),
    (
        "Stack",
        "c := call; list(call sender type, call target type, call message name, Coroutine currentCoroutine backTraceString) asString",
    ),
    ("Places", "list(Object uniqueId < 100000, Object clone uniqueId < 100000, Lobby uniqueId < 100000) asString"),
    ("Order", "list(Object clone, Object clone) sort size asString"),
    (
        "Verification",
        "list(Verification slotNames sort join(\" \"), Verification archiveMax, Telos verification isIdenticalTo(Verification)) join(\" \")",
    ),
];

/// What differs, for a candidate is a process of its own whose memory was made anew: who asks for that is unsure when judged.
const UNSURE: &[(&str, &str)] = &[
    // It looks what each of them is, /proc among them.
    ("DirectoryRoot", "Directory with(\"/\") items map(name) sort join(\" \")"),
    ("Descriptor", "File with(\"/tmp/number\") openForUpdating descriptor asString"),
    ("Process", "File with(\"/proc/self/status\") contents"),
    ("ProcessThreads", "Directory with(\"/tmp/../proc/self/task\") items size asString"),
    ("ProcessExists", "File exists(\"/proc/self/task/2\") asString"),
    ("ProcessEntered", "Directory setCurrentWorkingDirectory(\"/proc/self\"); Directory with(\"fd\") size asString"),
    ("ProcessBelow", "Directory with(\"/\") at(\"proc/self/task/2\") isNil asString"),
    ("Memory", "Collector objectCount asString"),
    ("Collections", "Collector collections asString"),
    ("Symbols", "System symbols size asString"),
];

const ACCOUNT: &str = "Account := Object clone do(rate := 1); nil";

/// An image with all probes as tests.
fn with_probes() -> Up {
    let up = Up::start(&[]);
    up.send(ACCOUNT).ok();
    let tests: String = PROBES
        .iter()
        .chain(UNSURE)
        .map(|(name, source)| format!("    test{name} := method(fail(({source})))\n"))
        .collect();
    up.send(&format!("ProbeTest := UnitTest clone do(\n{tests})\nnil")).ok();
    up
}

/// What a probe says in a dream.
fn in_a_dream(up: &Up, name: &str) -> String {
    let source = format!("Telos verification runTest(\"ProbeTest test{name}\")");
    let ran = up.telos(&["dream", "run", "--json", "-e", &source]);
    let told: Value = serde_json::from_str(&ran.output).unwrap_or_else(|_| panic!("no report: {ran:?}"));
    told["answer"]["error"]["message"].as_str().unwrap_or_else(|| panic!("{name}: {told}")).replace('\n', " ")
}

/// What all say on a candidate, before the change is laid on and after.
fn on_a_candidate(up: &Up) -> BTreeMap<String, [String; 2]> {
    let ran = up.telos(&["dream", "run", "--keep", "--json", "-e", "Account rate = 5"]);
    let told: Value = serde_json::from_str(&ran.output).expect("it is JSON");
    let dream = told["dream"].as_str().expect("it has a name");
    let judged = up.telos(&["dream", "verify", "--json", dream]);
    let told: Value = serde_json::from_str(&judged.output).unwrap_or_else(|_| panic!("no report: {judged:?}"));
    let tests = told["verdict"]["tests"].as_array().cloned().unwrap_or_default();
    assert_eq!(tests.len(), PROBES.len() + UNSURE.len(), "{told}");
    let said = |test: &Value, when: &str| test[when].as_str().unwrap_or_default().to_string();
    tests
        .iter()
        .map(|test| {
            let name = said(test, "name").replace("ProbeTest test", "");
            (name, ["before", "after"].map(|when| said(test, when)))
        })
        .collect()
}

#[test]
fn no_capability_tells_a_program_that_it_is_judged() {
    let up = with_probes();
    let judged = on_a_candidate(&up);
    let mut wrong = Vec::new();
    for (name, _) in PROBES {
        let ordinary = format!("failed: {}", in_a_dream(&up, name));
        let found = &judged[*name];
        if found.iter().any(|found| *found != ordinary) {
            wrong.push(format!(
                "{name}:\n  in a dream   {ordinary}\n  before       {}\n  after        {}",
                found[0], found[1]
            ));
        }
    }
    for (name, _) in UNSURE {
        if judged[*name].iter().any(|found| !found.starts_with("unsure: it looks at the machine")) {
            wrong.push(format!("{name}: {:?}", judged[*name]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
