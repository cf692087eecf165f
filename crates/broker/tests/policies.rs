//! Each policy for each capability, and that no policy gets a dream more than the house allows.

mod shared;

use broker::{Broker, Call, Caller, Capability, House, Policies, Policy, Scripted, Stop, Value, Way};
use shared::*;

/// A call of each capability that the house of these tests allows.
fn calls(server: &Server, file: &std::path::Path) -> [(Capability, Call); 6] {
    [
        (Capability::Http, Call::new("Http.request", [text("GET"), text(server.url())])),
        (Capability::Commands, Call::new("System.systemOutput", [text("echo hello")])),
        (Capability::Files, Call::new("File.read", [text(file)])),
        (Capability::Environment, Call::new("Environment.get", [text("COLOUR")])),
        (Capability::Clock, Call::new("Clock.now", [])),
        (Capability::Randomness, Call::new("Randomness.bytes", [Value::Number(4.0)])),
    ]
}

struct Scene {
    server: Server,
    directory: tempfile::TempDir,
    broker: Broker,
}

impl Scene {
    fn new() -> Scene {
        let server = Server::answering(ok("hello"));
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("a.txt"), "content").unwrap();
        let path = directory.path().canonicalize().unwrap();
        let more = format!("[files]\nread = [{path:?}]\n[environment]\nCOLOUR = \"red\"\n");
        let broker = Broker::new(server.house(&more), None);
        Scene { server, directory, broker }
    }

    fn calls(&self) -> [(Capability, Call); 6] {
        calls(&self.server, &self.directory.path().canonicalize().unwrap().join("a.txt"))
    }
}

fn caller(capability: Capability, policy: Policy, call: &Call) -> Caller {
    let mut policies = Policies::default();
    let ruling = policies.ruling_mut(capability);
    ruling.policy = policy;
    ruling.answers =
        vec![Scripted { name: call.name.clone(), arguments: vec![], values: vec![text("scripted")], error: None }];
    Caller::dream("d1", policies)
}

#[test]
fn every_policy_does_what_it_says_for_every_capability() {
    use Capability::*;
    use Policy::*;
    let table = [
        (Http, Own, Way::Blocked),
        (Http, Blocked, Way::Blocked),
        (Http, Simulated, Way::Simulated),
        // It only asks.
        (Http, Later, Way::Simulated),
        (Http, Redirected, Way::Redirected),
        (Commands, Own, Way::Blocked),
        (Commands, Blocked, Way::Blocked),
        (Commands, Simulated, Way::Simulated),
        (Commands, Later, Way::Deferred),
        (Commands, Redirected, Way::Redirected),
        (Files, Own, Way::Blocked),
        (Files, Blocked, Way::Blocked),
        (Files, Simulated, Way::Simulated),
        (Files, Redirected, Way::Redirected),
        (Environment, Own, Way::Blocked),
        (Environment, Blocked, Way::Blocked),
        (Environment, Simulated, Way::Simulated),
        (Environment, Redirected, Way::Redirected),
        (Clock, Own, Way::Blocked),
        (Clock, Blocked, Way::Blocked),
        (Clock, Simulated, Way::Simulated),
        (Clock, Redirected, Way::Redirected),
        (Randomness, Own, Way::Blocked),
        (Randomness, Blocked, Way::Blocked),
        (Randomness, Simulated, Way::Simulated),
        (Randomness, Redirected, Way::Redirected),
    ];
    let scene = Scene::new();
    let calls = scene.calls();
    for (capability, policy, way) in table {
        let (_, call) = calls.iter().find(|(each, _)| *each == capability).unwrap();
        let answer = scene.broker.answer(&caller(capability, policy, call), call, &Stop::default());
        // Where this host has no sandbox, its answer is the reason.
        let no_sandbox = (capability, policy, answer.way) == (Commands, Redirected, Way::Failed)
            && bytes(&answer.values[0]).contains("was not run");
        assert!(answer.way == way || no_sandbox, "{capability:?} {policy:?}: {answer:?}");
        match way {
            Way::Blocked => {
                let why = refusal(&answer, Way::Blocked);
                assert!(why.starts_with("blocked: ") && why.contains("--net-policy"), "{why}");
                assert!(why.contains(capability.name()), "{why}");
            }
            Way::Simulated | Way::Deferred => assert_eq!(answer.values, [text("scripted")]),
            _ => assert_ne!(answer.values, [text("scripted")]),
        }
    }
    let by_world = scene.server.requests().len();
    assert_eq!(by_world, 1, "only the redirected request reached the server");
}

#[test]
fn what_is_redirected_is_what_the_world_says() {
    let scene = Scene::new();
    let answers = scene.calls().map(|(capability, call)| {
        let caller = caller(capability, Policy::Redirected, &call);
        (capability, scene.broker.answer(&caller, &call, &Stop::default()).values)
    });
    for (capability, values) in answers {
        match capability {
            Capability::Http => assert_eq!((&values[0], bytes(&values[2])), (&Value::Number(200.0), "hello".into())),
            Capability::Commands if values.len() == 1 => assert!(bytes(&values[0]).contains("was not run")),
            Capability::Commands => {
                assert_eq!((&values[0], bytes(&values[1])), (&Value::Number(0.0), "hello\n".into()));
            }
            Capability::Files => assert_eq!(values, [Value::Bytes(b"content".to_vec())]),
            Capability::Environment => assert_eq!(values, [text("red")]),
            Capability::Clock => assert!(matches!(values[0], Value::Number(now) if now > 1.7e9), "{values:?}"),
            Capability::Randomness => assert_eq!(values[0].as_bytes().unwrap().len(), 4),
        }
    }
}

#[test]
fn without_a_policy_file_nothing_outside_is_reached() {
    let policies = Policies::default();
    let outside = [Capability::Http, Capability::Commands];
    for capability in Capability::ALL {
        let expected = if outside.contains(&capability) { Policy::Blocked } else { Policy::Own };
        assert_eq!(policies.policy(capability), expected, "{capability:?}");
    }
}

#[test]
fn an_empty_house_gives_a_dream_nothing_that_it_is_redirected_to() {
    let scene = Scene::new();
    let broker = Broker::new(House::default(), None);
    let dream = redirected();
    for (capability, call) in scene.calls() {
        let answer = broker.answer(&dream, &call, &Stop::default());
        match capability {
            Capability::Http | Capability::Files => {
                assert!(refusal(&answer, Way::Blocked).contains("broker.toml"), "{answer:?}");
            }
            Capability::Environment => assert_eq!(answer.values, [Value::Nil]),
            _ => {}
        }
    }
    assert_eq!(scene.server.requests().len(), 0);
}

#[test]
fn a_call_that_does_not_exist_or_has_wrong_arguments_fails_with_what_to_do() {
    let broker = Broker::new(House::default(), None);
    for caller in [Caller::live(), redirected()] {
        let ask = |name: &str, arguments: &[Value]| ask(&broker, &caller, name, arguments);
        assert!(refusal(&ask("Http.fetch\u{1b}", &[]), Way::Failed).contains("Http.request"));
        for (name, arguments) in [
            ("Randomness.bytes", vec![Value::Number(65_537.0)]),
            ("Randomness.bytes", vec![Value::Number(-1.0)]),
            ("Randomness.bytes", vec![Value::Number(0.5)]),
            ("Randomness.bytes", vec![Value::Number(f64::NAN)]),
            ("Randomness.bytes", vec![text("4")]),
            ("Clock.now", vec![Value::Nil]),
            ("Environment.get", vec![]),
            ("File.read", vec![]),
            ("File.read", vec![text("")]),
            ("File.read", vec![text("a\0b")]),
            ("System.system", vec![text("a\0b")]),
            ("System.system", vec![Value::Number(1.0)]),
            ("Http.request", vec![text("GET")]),
        ] {
            let answer = ask(name, &arguments);
            assert_eq!(answer.way, Way::Failed, "{name} {arguments:?}: {answer:?}");
        }
    }
    let most = ask(&broker, &Caller::live(), "Randomness.bytes", &[Value::Number(65_536.0)]);
    assert_eq!(most.values[0].as_bytes().unwrap().len(), 65_536);
}

#[test]
fn what_is_stopped_before_it_began_is_not_begun() {
    let scene = Scene::new();
    let stop = Stop::default();
    stop.stop();
    for (_, call) in scene.calls() {
        let answer = scene.broker.answer(&Caller::live(), &call, &stop);
        assert!(refusal(&answer, Way::Failed).contains("stopped"));
    }
    assert_eq!(scene.server.requests().len(), 0);
}
