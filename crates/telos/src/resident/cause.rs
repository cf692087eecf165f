//! Who wants a commit, and why, as the history has it; and whether a person allows it.

use super::persons::ALLOWED;
use crate::chronicle;
use image::Cause;
use keeper::protocol::{Durability, Request};

/// That of a request, for `what` if it does not say.
pub fn cause_of(request: &Request, what: &str) -> Cause {
    let durability = match request.durability {
        Durability::Flush => store::Durability::Flush,
        Durability::Os => store::Durability::Os,
    };
    let cause = chronicle::shortened(request.cause.as_deref().unwrap_or(what));
    let allowed = if request.is_allowed { ALLOWED } else { "" };
    let author = chronicle::shortened(request.author.as_deref().unwrap_or_default());
    Cause { author, cause: cause + allowed, durability, is_allowed: request.is_allowed }
}
