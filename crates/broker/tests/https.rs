//! Requests that are encrypted: whom they trust, and that secrets go over them.

mod shared;

use broker::{Broker, Caller, House, Value, Way};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use shared::*;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;

const AUTHORITY: &str = include_str!("fixtures/authority.pem");
const SERVER: &[u8] = include_bytes!("fixtures/server.pem");

/// Answers each request with the whole of its head; gives its port.
fn server() -> u16 {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let versions = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let chain = vec![CertificateDer::from_pem_slice(SERVER).unwrap()];
    let key = PrivateKeyDer::from_pem_slice(SERVER).unwrap();
    let config = Arc::new(versions.with_no_client_auth().with_single_cert(chain, key).unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut stream = StreamOwned::new(connection, stream.unwrap());
            let (mut heard, mut chunk) = (Vec::new(), [0; 4096]);
            while !heard.ends_with(b"\r\n\r\n") {
                match stream.read(&mut chunk) {
                    Ok(count @ 1..) => heard.extend_from_slice(&chunk[..count]),
                    _ => break,
                }
            }
            // One who does not trust us has gone.
            let _ = stream.write_all(ok(&String::from_utf8_lossy(&heard)).as_bytes());
            stream.conn.send_close_notify();
            let _ = stream.flush();
        }
    });
    port
}

/// A house that allows `HOST:PORT`, with a secret for it, and trusts our authority if it is told to.
fn house_for(host: &str, trusts: bool) -> House {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("authority.pem"), AUTHORITY).unwrap();
    let authorities = if trusts { "authorities = \"authority.pem\"" } else { "" };
    let text = format!(
        "[http]\nhosts = [\"{host}\"]\nprivate = [\"{host}\"]\n{authorities}\n\
         [secrets.key]\nvalue = \"sk-very-secret\"\nhosts = [\"{host}\"]\n"
    );
    House::read(&house_file(&directory, &text)).unwrap()
}

#[test]
fn a_server_whose_authority_the_house_trusts_is_reached_and_given_secrets() {
    let port = server();
    for host in [format!("localhost:{port}"), format!("127.0.0.1:{port}")] {
        let broker = Broker::new(house_for(&host, true), None);
        let answer = get(&broker, &Caller::live(), &format!("https://{host}/x"), "X-Key: {{secret:key}}");
        assert_eq!(answer.values[0], Value::Number(200.0), "{answer:?}");
        let echoed = bytes(&answer.values[2]);
        assert!(echoed.starts_with("GET /x HTTP/1.1") && echoed.contains("{{secret:key}}"), "{echoed}");
    }
}

#[test]
fn a_server_that_nobody_vouches_for_is_refused() {
    let host = format!("localhost:{}", server());
    let answer = get(&Broker::new(house_for(&host, false), None), &Caller::live(), &format!("https://{host}/"), "");
    let why = refusal(&answer, Way::Failed);
    assert!(why.contains("certificate") && why.contains(&host), "{why}");
}

#[test]
fn authorities_without_a_certificate_are_told() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("none.pem"), "nothing").unwrap();
    let error = House::read(&house_file(&directory, "[http]\nauthorities = \"none.pem\"\n")).unwrap_err().to_string();
    assert!(error.contains("no certificate in"), "{error}");
}
