//! A verifier cannot be fooled by the dream that it judges: each of these ends in rejection, and live is as it was.

use crate::launch::Ran;
use crate::launch::person::Guarded;
use crate::launch::up::Up;

/// An account with a test that passes, and that any other tax makes fail.
const ACCOUNT: &str = "Account := Object clone do(balance := 10; tax := method(balance * 0.2))
AccountTest := UnitTest clone do(testTax := method(assertEquals(2, Account tax)))
nil";

fn tried(up: &Up, source: &str) -> Ran {
    let directory = up.directory.to_str().expect("temporary files have plain names");
    crate::launch::telos(&["dream", "run", "--merge", "--image", directory, "-e", source])
}

/// What is tried, and a word of the reason that it is refused for.
const ATTEMPTS: &[(&str, &str, &str)] = &[
    ("an assertion redefined", "UnitTest assertEquals = method(nil); Account tax = method(7)", "protected"),
    ("an assertion taken away", "UnitTest removeSlot(\"assertEquals\"); nil", "protected"),
    ("UnitTest replaced", "Lobby UnitTest := Object clone; Account tax = method(7)", "Core"),
    ("UnitTest given other protos", "UnitTest protos = list(Object clone); nil", "protected"),
    ("the test removed", "AccountTest removeSlot(\"testTax\"); Account tax = method(7)", "was removed"),
    ("the test case removed", "Lobby removeSlot(\"AccountTest\"); Account tax = method(7)", "was removed"),
    ("the test emptied", "AccountTest testTax = method(nil); Account tax = method(7)", "weakened"),
    (
        "the test made to pass",
        "AccountTest testTax = method(assertEquals(7, Account tax)); Account tax = method(7)",
        "weakened",
    ),
    (
        "setUp that returns early",
        "AccountTest setUp := method(AccountTest testTax = method(nil)); Account tax = method(7)",
        "",
    ),
    ("an assertion of its own", "AccountTest assertEquals := method(nil); Account tax = method(7)", "weakened"),
    (
        "a test whose messages do not do what they say",
        "AccountTest getSlot(\"testTax\") message setCachedResult(1); Account tax = method(7)",
        "weakened",
    ),
    (
        "the same, deeper",
        "AccountTest getSlot(\"testTax\") message argAt(0) setCachedResult(7); Account tax = method(7)",
        "weakened",
    ),
    ("what live does when it wakes up", "Telos awake := method(1)", "protected"),
    ("how dreams begin", "Telos dream := method(why, body, body call)", "protected"),
    ("what live says of its failures", "Telos failures := list()", "protected"),
    ("who answers for unknown names", "Lobby forward := method(1)", "protected"),
    ("who is asked for them", "Importer importers append(Object clone); nil", "protected"),
    (
        "a file of the host, by a way round",
        "try(File with(\"/tmp/../etc/passwd\") contents); Account rate := 2",
        "not granted",
    ),
    ("a file of the host removed", "File with(\"/etc/nobodys\") remove; Account rate := 2", "not granted"),
    ("a directory of the host", "Directory with(\"/var/mine\") create; Account rate := 2", "not granted"),
    ("an exit", "Account tax = method(System exit(0))", "ended the program"),
    ("an endless loop", "Account tax = method(loop(nil))", "fuel"),
    ("endless memory", "Account tax = method(l := list(1); loop(l appendSeq(l clone)))", "memory"),
    ("endless recursion that is caught", "Account tax = method(try(Account tax); 7)", "testTax"),
    ("an assertion redefined while it runs", "Account tax = method(UnitTest assertEquals = method(nil); 7)", "testTax"),
    (
        "the same, and put back",
        "Account tax = method(old := UnitTest getSlot(\"assertEquals\"); UnitTest assertEquals := method(UnitTest setSlot(\"assertEquals\", getSlot(\"old\"))); 7)",
        "testTax",
    ),
    (
        "number comparison redefined while it runs",
        "Account tax = method(Number setSlot(\"!=\", method(other, false)); 7)",
        "testTax",
    ),
    ("the rules taken away", "Verification safetyRules empty; Account tax = method(7)", "protected"),
    ("the checks taken away", "Verification checks empty; Account tax = method(7)", "protected"),
    (
        "another Verification",
        "Telos verification = Verification clone do(checks := list()); Account tax = method(7)",
        "protected",
    ),
    ("the weights", "Verification weights atPut(\"rel\", 0); Account tax = method(7)", "protected"),
    ("Object polluted", "Object == := method(other, true); Account tax = method(7)", "protected"),
    ("Object polluted by a new slot", "Object evil := method(7); Account tax = method(7)", "protected"),
    ("exceptions that are none", "Exception raise = method(nil); Account tax = method(7)", "protected"),
    ("Sequence polluted", "Sequence parseJson = method(Map clone); Account tax = method(7)", "protected"),
    (
        "a coroutine that waits",
        "Account evil := coroDo(yield; Account tax = method(7)); Account tax = method(7)",
        "testTax",
    ),
    // Tests may write to these while they run: the machine does.
    (
        "the coroutine that it runs in",
        "Account tax = method(Coroutine currentCoroutine do(exception := nil; result := 2; parentCoroutine := nil; raiseException := method(e, nil); wakeTime := 0; handlerStack := list()); 7)",
        "testTax",
    ),
    ("waiting for ever", "Account tax = method(Coroutine currentCoroutine pause; 2)", "testTax"),
    (
        "who runs, asked while an assertion fails",
        "Account tax = method(Coroutine currentCoroutine := method(coroDoLater(nil); Coroutine clone); 7)",
        "testTax",
    ),
    (
        "an assertion redefined by another coroutine",
        "Account tax = method(coroDoLater(UnitTest assertEquals = method(nil)); yield; wait(0.01); 7)",
        "testTax",
    ),
    ("a test that is flaky", "Account tax = method(if(Random value < 0.5, 2, 2.5))", "testTax"),
    ("a file of the host", "try(File with(\"/srv/secret\") contents); Account rate := 1", "not granted"),
    ("a command of the host", "try(System runCommand(\"id\")); Account rate := 1", "not granted"),
    ("a flood", "20000 repeat(i, Account setSlot(\"slot\" .. i, i)); nil", "have several dreams do it"),
    ("a class", "Shape := Object clone do(class := Object clone; superclass := nil); nil", "0001"),
    // Its kind is that of the locals of a stack, which are the machine's: it was merged, and nobody was told.
    ("Locals polluted", "Locals assertEquals := method(nil); Account tax = method(7)", "protected"),
    (
        "Locals given another proto",
        "Locals prependProto(Object clone do(assertEquals := method(nil))); nil",
        "protected",
    ),
    // The old one and the new one in its slot are both called Account; only one of them was looked at.
    ("an object hidden behind its name", "Account class := Object clone; Lobby Account := Account clone; nil", "0001"),
    ("reflection that lies", "Account slotNames := method(list()); Account tax = method(7)", "true"),
];

#[test]
fn no_dream_fools_its_judge() {
    let up = Up::start(&[]);
    up.send(ACCOUNT).ok();
    let mut wrong = Vec::new();
    for (name, source, reason) in ATTEMPTS {
        let ran = tried(&up, source);
        let live = up.send("list(Account tax, Account slotNames size, AccountTest slotNames size)").output;
        if ran.code != Some(3) || !ran.output.contains(reason) || live != "list(2, 3, 2)\n" {
            wrong.push(format!("{name}: {:?}, live {live}{}{}", ran.code, ran.output, ran.errors));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Of a journal so many changes are told to the rules. Of one that had more they saw the beginning, and that was all that was counted:
/// an image whose person had raised the maxima merged what no rule had seen.
#[test]
fn what_no_rule_is_told_of_is_refused_whatever_the_maxima_are() {
    let guarded = Guarded::start();
    let raised = "maxima := Verification safetyRules detect(name == \"size\") maxima; \
                  list(\"changes\", \"objects\", \"bytes\") foreach(name, maxima atPut(name, 100000000)); nil";
    guarded.allowed(&["send", raised]).ok();
    let dream = guarded.dreamt("20001 repeat(i, Account setSlot(\"slot\" .. i, i)); nil");
    let ran = guarded.run(&["dream", "merge", &dream]);
    assert!(
        ran.code == Some(3)
            && ran.output.contains("more than the 20000 that are looked at in one merge; have several dreams do it"),
        "{}",
        ran.output
    );
    let wide = guarded.dreamt("Lobby heap := list(); 5001 repeat(heap append(Object clone)); nil");
    let ran = guarded.run(&["dream", "merge", &wide]);
    assert!(ran.code == Some(3) && ran.output.contains("touches more than the 5000 objects"), "{}", ran.output);
}

/// With each change the store was asked for the whole object again, by who shows what a dream did and by who judges it: all other dreams
/// waited for more than a minute.
#[test]
fn a_flood_into_an_object_that_is_large_already_is_refused_and_others_go_on() {
    let up = Up::start(&[]);
    up.send("Shelf := Object clone; 9000 repeat(i, Shelf setSlot(\"slot\" .. i, i)); nil").ok();
    let ran = tried(&up, "30000 repeat(i, Shelf setSlot(\"slot\" .. i, -1 - i)); nil");
    assert!(ran.code == Some(3) && ran.output.contains("changes, more than the 20000"), "{}", ran.output);
    let other = tried(&up, "Shelf label := \"books\"; nil");
    assert_eq!(other.code, Some(0), "{}", other.output);
}

/// The rule of protection is one of the image's, and a person may take it away. What is protected stays so.
#[test]
fn what_is_protected_is_refused_without_the_rule_too() {
    let guarded = Guarded::start();
    let without = "Verification safetyRules removeAt(Verification safetyRules map(name) indexOf(\"protection\")); nil";
    guarded.allowed(&["send", without]).ok();
    for source in ["Object evil := method(7); nil", "Verification safetyRules empty; nil", "Locals evil := 1; nil"] {
        let dream = guarded.dreamt(source);
        let ran = guarded.run(&["dream", "merge", &dream]);
        assert!(ran.code == Some(3) && ran.output.contains("protected"), "{source}: {ran:?}");
    }
    let dream = guarded.dreamt("Object fine := method(7); nil");
    assert_eq!(guarded.allowed(&["dream", "merge", &dream]).code, Some(0), "a person still may");
}

/// It was told as a file of the host: relative paths were taken from the root.
#[test]
fn a_missing_file_of_its_own_is_no_attempt() {
    let up = Up::start(&[]);
    up.send(ACCOUNT).ok();
    let ran =
        tried(&up, "try(File with(\"none\") contents); try(File with(\"/tmp/none\") contents); Account rate := 2");
    assert_eq!(ran.code, Some(0), "{ran:?}");
}
