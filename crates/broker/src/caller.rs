//! Who asks.

use crate::policy::Policies;
use crate::script::Script;
use sandbox::network::Destination;

/// The live image, or one dream, with its policies and where in its script it is.
pub struct Caller(pub(crate) Kind);

pub(crate) enum Kind {
    Live,
    Dream(Box<Dream>),
}

pub(crate) struct Dream {
    name: String,
    pub policies: Policies,
    /// The hosts that its policy names; none if it names none, which leaves all that the house allows.
    pub hosts: Option<Vec<Destination>>,
    pub script: Script,
}

impl Caller {
    pub fn live() -> Caller {
        Caller(Kind::Live)
    }

    pub fn dream(name: &str, policies: Policies) -> Caller {
        // A host that cannot be read narrows all the same: it only allows nothing.
        let named = &policies.http.hosts;
        let hosts = named.iter().flat_map(|text| crate::house::destinations(text).unwrap_or_default());
        let hosts = (!named.is_empty()).then(|| hosts.collect());
        Caller(Kind::Dream(Box::new(Dream { name: name.into(), hosts, policies, script: Script::default() })))
    }

    pub fn is_live(&self) -> bool {
        matches!(self.0, Kind::Live)
    }

    /// For messages and recordings.
    pub fn name(&self) -> String {
        match &self.0 {
            Kind::Live => "live".into(),
            Kind::Dream(dream) => format!("dream {}", dream.name),
        }
    }

    pub(crate) fn as_dream(&self) -> Option<&Dream> {
        match &self.0 {
            Kind::Live => None,
            Kind::Dream(dream) => Some(dream),
        }
    }
}
