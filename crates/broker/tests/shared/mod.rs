//! What the tests of the broker share: houses and policies from text, a server of their own, and short ways to ask.
#![allow(dead_code, reason = "each test uses a part of it")]

use broker::{Answer, Broker, Call, Caller, Capability, House, Policies, Policy, Stop, Value, Way};
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::{Arc, Mutex};
use tempfile::TempDir;

pub fn house(text: &str) -> House {
    let directory = tempfile::tempdir().unwrap();
    House::read(&house_file(&directory, text)).unwrap_or_else(|error| panic!("{error}"))
}

pub fn house_file(directory: &TempDir, text: &str) -> std::path::PathBuf {
    let file = directory.path().join("broker.toml");
    fs::write(&file, text).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    file
}

pub fn policies(text: &str) -> Policies {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("policy.toml");
    fs::write(&file, text).unwrap();
    Policies::read(&file).unwrap_or_else(|error| panic!("{error}"))
}

/// A dream for which all is redirected.
pub fn redirected() -> Caller {
    let mut policies = Policies::default();
    Capability::ALL.into_iter().for_each(|each| policies.ruling_mut(each).policy = Policy::Redirected);
    Caller::dream("d1", policies)
}

pub fn text(text: impl AsRef<Path>) -> Value {
    Value::text(text.as_ref().to_str().unwrap())
}

pub fn ask(broker: &Broker, caller: &Caller, name: &str, arguments: &[Value]) -> Answer {
    broker.answer(caller, &Call::new(name, arguments.iter().cloned()), &Stop::default())
}

pub fn get(broker: &Broker, caller: &Caller, url: &str, headers: &str) -> Answer {
    ask(broker, caller, "Http.request", &[text("GET"), text(url), text(headers)])
}

/// The one text of an answer that is none.
pub fn refusal(answer: &Answer, way: Way) -> &str {
    assert_eq!(answer.way, way, "{answer:?}");
    match &answer.values[..] {
        [Value::Text(text)] => text,
        other => panic!("{other:?}"),
    }
}

pub fn bytes(value: &Value) -> String {
    String::from_utf8_lossy(value.as_bytes().unwrap_or_else(|| panic!("{value:?}"))).into_owned()
}

/// A server on loopback that gives each connection to `serve` with the request that came, head and body.
pub struct Server {
    pub port: u16,
    pub heard: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub fn start(serve: impl Fn(&str, &mut TcpStream) + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let heard: Arc<Mutex<Vec<String>>> = Arc::default();
        let (keeping, serve) = (Arc::clone(&heard), Arc::new(serve));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (mut stream, serve, keeping) = (stream.unwrap(), Arc::clone(&serve), Arc::clone(&keeping));
                std::thread::spawn(move || {
                    let request = request(&mut stream);
                    keeping.lock().unwrap().push(request.clone());
                    serve(&request, &mut stream);
                });
            }
        });
        Server { port, heard }
    }

    pub fn answering(answer: impl Into<Vec<u8>>) -> Server {
        let answer = answer.into();
        Server::start(move |_, stream| stream.write_all(&answer).unwrap_or(()))
    }

    pub fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    pub fn url(&self) -> String {
        format!("http://{}/", self.host())
    }

    /// A house that allows this server, with more of its file.
    pub fn house(&self, more: &str) -> House {
        let host = self.host();
        house(&format!("[http]\nhosts = [\"{host}\"]\nprivate = [\"{host}\"]\n{more}"))
    }

    pub fn requests(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }
}

fn request(stream: &mut TcpStream) -> String {
    let mut heard = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&heard).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length =
                head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
            if body.len() >= length.unwrap_or(0) {
                return text;
            }
        }
        match stream.read(&mut chunk) {
            Ok(count @ 1..) => heard.extend_from_slice(&chunk[..count]),
            _ => return String::from_utf8_lossy(&heard).into_owned(),
        }
    }
}

pub fn ok(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}
