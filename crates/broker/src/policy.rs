//! What a dream may do of the world outside, capability by capability.

use crate::call::Capability;
use crate::script::Scripted;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// The dream's own sealed process answers; such a call never gets here.
    Own,
    Blocked,
    /// By scripted or recorded answers.
    Simulated,
    /// By scripted answers or a promise; what does something is done when the dream is merged.
    Later,
    /// By the world outside, as far as the house allows.
    Redirected,
}

impl Policy {
    pub const ALL: [Policy; 5] = [Policy::Own, Policy::Blocked, Policy::Simulated, Policy::Later, Policy::Redirected];
}

/// One for each capability.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields, default)]
pub struct Policies {
    pub http: Ruling,
    pub commands: Ruling,
    pub files: Ruling,
    pub environment: Ruling,
    pub clock: Ruling,
    pub randomness: Ruling,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub struct Ruling {
    pub policy: Policy,
    /// For `Simulated` and `Later`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<Scripted>,
    /// For http: of the hosts that the house allows, only these; all if there is none here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
}

impl Ruling {
    pub fn new(policy: Policy) -> Ruling {
        Ruling { policy, answers: Vec::new(), hosts: Vec::new() }
    }
}

impl Default for Policies {
    fn default() -> Policies {
        Policies {
            http: Ruling::new(Policy::Blocked),
            commands: Ruling::new(Policy::Blocked),
            files: Ruling::new(Policy::Own),
            environment: Ruling::new(Policy::Own),
            clock: Ruling::new(Policy::Own),
            randomness: Ruling::new(Policy::Own),
        }
    }
}

impl Policies {
    pub fn policy(&self, capability: Capability) -> Policy {
        self.ruling(capability).policy
    }

    pub fn ruling(&self, capability: Capability) -> &Ruling {
        match capability {
            Capability::Http => &self.http,
            Capability::Commands => &self.commands,
            Capability::Files => &self.files,
            Capability::Environment => &self.environment,
            Capability::Clock => &self.clock,
            Capability::Randomness => &self.randomness,
        }
    }

    pub fn ruling_mut(&mut self, capability: Capability) -> &mut Ruling {
        match capability {
            Capability::Http => &mut self.http,
            Capability::Commands => &mut self.commands,
            Capability::Files => &mut self.files,
            Capability::Environment => &mut self.environment,
            Capability::Clock => &mut self.clock,
            Capability::Randomness => &mut self.randomness,
        }
    }
}
