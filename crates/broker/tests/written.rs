//! What people write: policy files and house files, good and hostile. No message repeats a secret.

mod shared;

use broker::{BrokerError, Capability, House, Policies, Policy, Value};
use shared::*;
use std::fs;
use std::os::unix::fs::PermissionsExt;

fn read_policy(text: &str) -> Result<Policies, BrokerError> {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("policy.toml");
    fs::write(&file, text).unwrap();
    Policies::read(&file)
}

fn read_house(text: &str) -> Result<House, BrokerError> {
    let directory = tempfile::tempdir().unwrap();
    House::read(&house_file(&directory, text))
}

#[test]
fn the_policy_file_of_the_documentation_is_read() {
    let policies = policies(
        r#"
        [http]
        policy = "simulated"
        hosts = ["api.example.com"]
        [[http.answer]]
        call = "Http.request"
        arguments = ["GET", "https://api.example.com/v1"]
        values = [200, "content-type: text/plain", "hello"]
        [[http.answer]]
        call = "Http.request"
        arguments = ["POST", { starts = "https://" }, { any = true }, { nil = true }]
        values = [0.5, { bytes = "\u0000ÿ" }, { nil = true }]
        [[http.answer]]
        call = "Http.request"
        error = "no network"
        [commands]
        policy = "redirected"
        "#,
    );
    assert_eq!(policies.policy(Capability::Http), Policy::Simulated);
    assert_eq!(policies.policy(Capability::Commands), Policy::Redirected);
    assert_eq!(policies.policy(Capability::Environment), Policy::Own);
    assert_eq!(policies.policy(Capability::Files), Policy::Own);
    assert_eq!(policies.http.answers.len(), 3);
    assert_eq!(policies.http.answers[1].values, [Value::Number(0.5), Value::Bytes(vec![0, 255]), Value::Nil]);
    assert_eq!(policies.http.answers[2].error.as_deref(), Some("no network"));
}

#[test]
fn a_policy_file_with_a_mistake_is_refused_with_its_place() {
    let deep = format!("http = {}{}", "[".repeat(10_000), "]".repeat(10_000));
    for (text, word) in [
        ("[http]\npolicy = \"open\"", "blocked"),
        ("[http]\npolicy = 1", "line 2"),
        ("[http]", "policy"),
        ("[https]\npolicy = \"own\"", "https"),
        ("[http]\npolicy = \"own\"\npolicies = 1", "policies"),
        ("[http]\npolicy = \"own\"\nhosts = [\"http://a\"]", "hosts"),
        ("[http]\npolicy = \"own\"\nhosts = [\"*.com\"]", "too wide"),
        ("[files]\npolicy = \"own\"\nhosts = [\"a.org\"]", "only [http]"),
        ("[http]\npolicy = \"own\"\n[[http.answer]]\ncall = \"File.read\"", "no call of http"),
        ("[http]\npolicy = \"own\"\n[[http.answer]]\narguments = []", "call"),
        (
            "[http]\npolicy = \"own\"\n[[http.answer]]\ncall = \"Http.request\"\narguments = [{ any = true, x = 1 }]",
            "any",
        ),
        ("[http]\npolicy = \"own\"\n[[http.answer]]\ncall = \"Http.request\"\nvalues = [true]", "line 5"),
        ("[http]\npolicy = \"own\"\n[[http.answer]]\ncall = \"Http.request\"\nvalues = [1979-05-27]", "line 5"),
        ("[http]\npolicy = \"own\"\n[[http.answer]]\ncall = \"Http.request\"\nvalues = [{ bytes = \"Ā\" }]", "U+00FF"),
        ("[http]\npolicy = \"simulated\"\nrecording = \"none.jsonl\"", "none.jsonl"),
        ("[http]\npolicy = \"own\"\n[http]\npolicy = \"own\"", "line 3"),
        ("\u{0}", "line 1"),
        (&deep, "policy.toml"),
    ] {
        let error = read_policy(text).expect_err(text).to_string();
        let file = if word == "none.jsonl" { word } else { "policy.toml" };
        assert!(error.contains(word) && error.contains(file), "{text:.80}: {error}");
    }
}

#[test]
fn files_that_are_too_big_or_no_files_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let (policy, recording) = (directory.path().join("policy.toml"), directory.path().join("calls.jsonl"));
    fs::write(&policy, format!("# {}", "x".repeat(4 << 20))).unwrap();
    assert!(matches!(Policies::read(&policy), Err(BrokerError::TooBig { .. })));
    fs::write(&policy, "[clock]\npolicy = \"simulated\"\nrecording = \"calls.jsonl\"\n").unwrap();
    let line =
        r#"{"time_ms":1,"caller":"live","call":{"name":"Clock.now"},"answer":{"way":"redirected","values":[1]}}"#;
    fs::write(&recording, format!("{line}\n").repeat((4 << 20) / line.len())).unwrap();
    assert!(matches!(Policies::read(&policy), Err(BrokerError::TooManyAnswers { .. })));
    fs::write(&recording, format!("{line}\n\n{line}\n{{\"time_ms\":1}}\n")).unwrap();
    let error = Policies::read(&policy).unwrap_err().to_string();
    assert!(error.contains("calls.jsonl, line 4"), "{error}");
    fs::write(&recording, format!("{line}\n{line}")).unwrap();
    assert_eq!(Policies::read(&policy).unwrap().clock.answers.len(), 2);
    fs::write(&policy, [0xff, 0xfe]).unwrap();
    assert!(matches!(Policies::read(&policy), Err(BrokerError::Content { .. })));
    assert!(matches!(Policies::read(directory.path()), Err(BrokerError::NotAFile { .. })));
    assert!(matches!(House::read(directory.path()), Err(BrokerError::NotAFile { .. })));
    assert!(matches!(House::read(&directory.path().join("none")), Err(BrokerError::Read { .. })));
}

#[test]
fn a_house_file_with_a_mistake_is_refused_and_no_message_repeats_a_secret() {
    let secret = |text: &str| format!("[secrets.key]\n{text}\n");
    let hosts = "hosts = [\"a.org\"]";
    for (text, word) in [
        ("[http]\nhosts = [\"10.0.0.1:80\"]".to_string(), "private = [\"10.0.0.1:80\"]"),
        ("[http]\nhosts = [\"a.org\"]\nprivate = [\"b.org:80\"]".into(), "not among `hosts`"),
        ("[http]\nhosts = [\"*.a.org:80\"]\nprivate = [\"*.a.org:80\"]".into(), "private"),
        ("[http]\nhosts = [\"a.org\"]\nprivate = [\"a.org\"]".into(), "port"),
        ("[http]\nhost = []".into(), "host"),
        ("[files]\nread = [\"relative\"]".into(), "must begin with /"),
        ("[files]\nwrite = [\"/a/../b\"]".into(), "`..`"),
        ("[environment]\nA = 1".into(), "line 2"),
        ("secrets = \"sk-hidden-1\"".into(), "[secrets.NAME]"),
        ("[secrets]\nkey = \"sk-hidden-1\"".into(), "it is a table"),
        (secret("value = \"sk-hidden-1\""), "`hosts` is missing"),
        (secret(&format!("value = 123456789\n{hosts}")), "quotes"),
        (secret(&format!("value = [\"sk-hidden-1\"]\n{hosts}")), "quotes"),
        (secret(&format!("vale = \"sk-hidden-1\"\n{hosts}")), "no `vale`"),
        (secret(&format!("value = \"sk-hidden-1\"\nfile = \"x\"\n{hosts}")), "exactly one"),
        (secret(hosts), "exactly one"),
        (secret(&format!("value = \"hidden\"\n{hosts}")), "8 to"),
        (secret(&format!("value = \"sk-hidden-1\\nX: y\"\n{hosts}")), "one line"),
        (secret("value = \"sk-hidden-1\"\nhosts = \"sk-hidden-1\""), "list"),
        (secret("value = \"sk-hidden-1\"\nhosts = [\"a b\"]"), "hosts"),
        (secret("value = \"sk-hidden-1"), "line 2"),
        (secret("value = sk-hidden-1"), "line 2"),
        (secret("value = \"sk-hidden-1\"\nvalue = \"sk-hidden-2\""), "line"),
        ("[secrets.\"a b\"]\nvalue = \"sk-hidden-1\"".into(), "letters"),
        ("[secret.key]\nvalue = \"sk-hidden-1\"".into(), "secret"),
    ] {
        let error = read_house(&text).expect_err(&text);
        let shown = format!("{error} {error:?}");
        assert!(error.to_string().contains(word), "{text}: {error}");
        assert!(!shown.contains("hidden") && !shown.contains("123456789"), "{text}: {shown}");
    }
}

#[test]
fn a_file_with_secrets_that_others_may_read_is_refused_with_the_command_to_type() {
    let directory = tempfile::tempdir().unwrap();
    let file = house_file(&directory, "[secrets.key]\nvalue = \"sk-hidden-1\"\nhosts = [\"a.org\"]\n");
    for mode in [0o640, 0o604, 0o666, 0o620] {
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        let error = House::read(&file).unwrap_err().to_string();
        assert!(error.contains("chmod 600 ") && error.contains("broker.toml"), "{mode:o}: {error}");
    }
    fs::set_permissions(&file, fs::Permissions::from_mode(0o400)).unwrap();
    let house = House::read(&file).unwrap();
    assert!(!format!("{house:?} {house:#?}").contains("hidden"));
    // Without a secret everybody may read it.
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    fs::write(&file, "[http]\nhosts = [\"a.org\", \"*.b.org:8443\"]\n").unwrap();
    assert!(House::read(&file).is_ok());
}

#[test]
fn a_secret_of_a_file_is_its_line_and_that_file_is_nobody_elses() {
    let directory = tempfile::tempdir().unwrap();
    let file = house_file(&directory, "[secrets.key]\nfile = \"key\"\nhosts = [\"a.org\"]\n");
    let key = directory.path().join("key");
    fs::write(&key, "sk-hidden-1\n").unwrap();
    fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
    let error = House::read(&file).unwrap_err().to_string();
    assert!(error.contains("chmod 600") && error.contains("key"), "{error}");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    assert!(!format!("{:?}", House::read(&file).unwrap()).contains("hidden"));
    fs::write(&key, "one\ntwo\n").unwrap();
    assert!(House::read(&file).is_err());
}
