//! What agents say, and what they are told: every line has its answer, and nobody can make us keep more than we want to.

use dream::agent::{AgentBounds, AgentSession, Dreaming, Fault, Question, code};
use serde_json::{Value, json};

/// Says what it was asked.
struct Echo;

impl Dreaming for Echo {
    fn answer(&mut self, question: Question) -> Result<Value, Fault> {
        match question {
            Question::Eval { source, .. } if source == "fail" => Err(Fault::new(code::FAILED, "no")),
            question => Ok(json!(format!("{question:?}"))),
        }
    }
}

fn replies(session: &mut AgentSession, text: &[u8]) -> Vec<Value> {
    let mut replies = Vec::new();
    session.take(text, &mut Echo, &mut |line| {
        assert_eq!(line.iter().filter(|&&byte| byte == b'\n').count(), 1, "a reply is a line");
        replies.push(serde_json::from_slice(line).expect("a reply is JSON"));
    });
    replies
}

/// What one line is answered.
fn answered(line: &str) -> Value {
    let all = replies(&mut AgentSession::new(AgentBounds::default()), format!("{line}\n").as_bytes());
    assert!(all.len() <= 1);
    all.into_iter().next().unwrap_or_default()
}

#[test]
fn every_method_is_understood() {
    let result = |line: &str| answered(line)["result"].clone();
    assert_eq!(
        result(r#"{"jsonrpc":"2.0","id":1,"method":"eval","params":{"source":"1","fuel":5,"timeout_ms":7}}"#),
        r#"Eval { source: "1", fuel: Some(5), timeout_ms: Some(7) }"#
    );
    assert_eq!(
        result(r#"{"jsonrpc":"2.0","id":1,"method":"set","params":{"path":"Account  tax","source":"2"}}"#),
        r#"Set { path: ["Account", "tax"], source: "2" }"#
    );
    assert_eq!(result(r#"{"jsonrpc":"2.0","id":1,"method":"get","params":{"path":"x"}}"#), r#"Get { path: ["x"] }"#);
    assert_eq!(result(r#"{"jsonrpc":"2.0","id":1,"method":"list"}"#), "List { path: [] }");
    assert_eq!(result(r#"{"jsonrpc":"2.0","id":1,"method":"tests","params":null}"#), "Tests");
    assert_eq!(result(r#"{"jsonrpc":"2.0","id":1,"method":"log","params":{"text":"hi"}}"#), true);
    assert_eq!(result(r#"{"jsonrpc":"2.0","id":1,"method":"done"}"#), true);
}

#[test]
fn what_is_no_request_is_answered_with_the_code_that_says_so() {
    let deep = "[".repeat(500_000);
    let in_parameters = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"eval","params":{{"source":{}1{}}}}}"#,
        "[".repeat(300_000),
        "]".repeat(300_000)
    );
    for (line, code) in [
        ("hello", -32700),
        ("{\"jsonrpc\":\"2.0\",", -32700),
        (r#"{"jsonrpc":"2.0","id":1,"method":"eval","params":{"source":"1"}} extra"#, -32700),
        (&deep, -32700),
        ("7", -32600),
        ("[]", -32600),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"tests"}]"#, -32600),
        ("{}", -32600),
        (r#"{"id":1,"method":"tests"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":{},"method":"tests"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"tests"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"shutdown"}"#, -32601),
        (r#"{"jsonrpc":"2.0","id":1,"method":"eval"}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"eval","params":["1"]}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"eval","params":{"source":1}}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"eval","params":{"source":"1","feul":1}}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"eval","params":{"source":"1","fuel":-1}}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"get","params":{"path":"  "}}"#, -32602),
        (&in_parameters, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"eval","params":{"source":"fail"}}"#, -32000),
    ] {
        assert_eq!(answered(line)["error"]["code"], code, "{:.80}", line);
    }
}

#[test]
fn ids_come_back_as_they_were_written_and_nobody_answers_a_notification() {
    let bounds = AgentBounds::default();
    for id in ["1", "-0.50", "123456789012345678901234567890", "null", "\"a\\u0020b\"", "\"\\ud800\""] {
        let line = format!("{{\"jsonrpc\":\"2.0\",\"id\": {id} ,\"method\":\"tests\"}}\n");
        let mut written = Vec::new();
        AgentSession::new(bounds).take(line.as_bytes(), &mut Echo, &mut |line| {
            written.extend_from_slice(line);
        });
        let written = String::from_utf8(written).unwrap();
        assert!(written.contains(&format!("\"id\":{id},")), "{written}");
    }
    assert_eq!(answered(r#"{"jsonrpc":"2.0","method":"tests"}"#), Value::Null);
    assert_eq!(answered(r#"{"jsonrpc":"2.0","method":"nonsense"}"#), Value::Null);
    assert_eq!(answered("  \r"), Value::Null);
}

#[test]
fn an_agent_is_bounded_in_lines_requests_and_words() {
    let bounds = AgentBounds { line_bytes: 100, requests: 10, log_bytes: 20, summary_bytes: 5 };
    let mut session = AgentSession::new(bounds);
    for _ in 0..1000 {
        session.take(&[b'x'; 1000], &mut Echo, &mut |_| ());
        assert!(session.held_bytes() <= 100);
    }
    assert_eq!(session.counts().requests, 1, "a line without an end is one line");
    let told = replies(&mut session, b"\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tests\"}\n");
    assert_eq!(told[0]["result"], "Tests");
    let log = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"log\",\"params\":{\"text\":\"0123456789\"}}\n";
    let told = replies(&mut session, log.repeat(2).as_bytes());
    assert_eq!((&told[0]["result"], &told[1]["error"]["code"]), (&json!(true), &json!(code::USED_UP)));
    assert_eq!(session.log(), ["0123456789"]);
    let long = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"done\",\"params\":{\"summary\":\"0123456789\"}}\n";
    assert_eq!(replies(&mut session, long.as_bytes())[0]["error"]["code"], code::WRONG_PARAMETERS);
    assert_eq!(replies(&mut session, &b"{}\n".repeat(1000)).len(), 5, "after the tenth nothing is looked at");
    assert!(session.is_over() && session.summary().is_none());
    assert_eq!((session.counts().requests, session.counts().faults), (10, 8));
}

#[test]
fn after_done_nothing_is_heard() {
    let mut session = AgentSession::new(AgentBounds::default());
    let text = "{\"jsonrpc\":\"2.0\",\"method\":\"done\",\"params\":{\"summary\":\"mended\"}}\n{}\n{}\n";
    assert_eq!(replies(&mut session, text.as_bytes()), Vec::<Value>::new());
    assert_eq!((session.summary(), session.counts().requests), (Some("mended"), 1));
}
