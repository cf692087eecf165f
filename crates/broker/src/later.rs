//! Calls that a dream promises: it goes on with an answer that stands for the real one, and the call is made when the dream
//! becomes a part of the live image. Only what does something can be promised: what only asks is answered by the script.
//!
//! **A journal is the dreamer's word.** So what may be promised is written down when a dream is begun, and whoever merges it
//! asks here once more whether a call in its journal is such a one.

use crate::call::{Answer, Call, Capability, Way};
use crate::error::Refusal;
use crate::http;
use crate::policy::{Policies, Policy};
use crate::value::Value;
use serde::{Deserialize, Serialize};

/// Requests that only ask.
const ASKING: &[&str] = &["GET", "HEAD", "OPTIONS"];
/// What a request is answered that was taken and not done yet.
const ACCEPTED: f64 = 202.0;

/// What a dream may promise.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Promises {
    /// Requests; to these hosts, or to all that the house allows if none is named.
    pub http: Option<Vec<String>>,
    pub commands: bool,
}

impl Promises {
    /// None if there is nothing that it may.
    pub fn of(policies: &Policies) -> Option<Promises> {
        let is_later = |capability| policies.policy(capability) == Policy::Later;
        let http = is_later(Capability::Http).then(|| policies.http.hosts.clone());
        let promises = Promises { http, commands: is_later(Capability::Commands) };
        (promises != Promises::default()).then_some(promises)
    }

    /// Whether a call could have been promised; if not, why.
    pub fn check(&self, call: &Call) -> Result<(), String> {
        let no = |why: &str| Err(format!("`{}` cannot be made later: {why}", call.name));
        match Capability::of(&call.name) {
            Some(Capability::Http) => match &self.http {
                Some(_) if !is_effect(call) => no("it only asks"),
                Some(hosts) if hosts.is_empty() => Ok(()),
                Some(hosts) => match http::goal_of(call) {
                    Ok((host, port)) if crate::house::granted(hosts, &host, port) => Ok(()),
                    Ok((host, port)) => no(&format!("{host}:{port} is not among the hosts of the dream's policy")),
                    Err(Refusal::Blocked(why) | Refusal::Failed(why)) => no(&why),
                },
                None => no("the dream's policy for http is not `later`"),
            },
            Some(Capability::Commands) if self.commands => Ok(()),
            Some(capability) => no(&format!("the dream's policy for {} is not `later`", capability.name())),
            None => no("there is no such call"),
        }
    }
}

/// Whether policies can say `later` of it.
pub fn can_be_later(capability: Capability) -> bool {
    matches!(capability, Capability::Http | Capability::Commands)
}

/// Whether a call does something, and does not only ask.
pub fn is_effect(call: &Call) -> bool {
    match Capability::of(&call.name) {
        Some(Capability::Http) => !call.text(0, "a method").is_ok_and(|verb| ASKING.contains(&verb)),
        Some(Capability::Commands) => true,
        _ => false,
    }
}

/// What a dream is answered in the place of the world, if no script says otherwise: taken, and nothing to tell yet.
pub fn promise(capability: Capability) -> Answer {
    let nothing = || Value::Bytes(Vec::new());
    let values = match capability {
        Capability::Http => vec![Value::Number(ACCEPTED), Value::text(""), nothing()],
        _ => vec![Value::Number(0.0), nothing(), nothing()],
    };
    Answer { way: Way::Deferred, values }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(verb: &str, url: &str) -> Call {
        Call::new("Http.request", [Value::text(verb), Value::text(url)])
    }

    #[test]
    fn only_what_does_something_is_promised_and_only_to_hosts_that_were_named() {
        let promises = Promises { http: Some(vec!["api.example:8443".into()]), commands: false };
        assert_eq!(promises.check(&request("POST", "https://api.example:8443/v1")), Ok(()));
        for (call, why) in [
            (request("GET", "https://api.example:8443/v1"), "only asks"),
            (request("POST", "https://api.example/v1"), "not among the hosts"),
            (request("POST", "no url"), "url"),
            (Call::new("System.system", [Value::text("true")]), "not `later`"),
            (Call::new("File.write", [Value::text("/x"), Value::text("y")]), "not `later`"),
            (Call::new("Files.apply", []), "no such call"),
        ] {
            let refused = promises.check(&call).expect_err("it cannot be promised");
            assert!(refused.contains(why), "{refused}");
        }
    }

    #[test]
    fn a_dream_without_promises_has_none() {
        assert_eq!(Promises::of(&Policies::default()), None);
        let mut policies = Policies::default();
        policies.commands.policy = Policy::Later;
        assert_eq!(Promises::of(&policies), Some(Promises { http: None, commands: true }));
    }
}
