//! What all who serve one run's network share: the way out, the calls there were, and what may still be used.

use super::bounds::Bounds;
use super::call::Calls;
use super::outside::Outside;
use super::relay::Budget;
use std::sync::Arc;

#[derive(Clone)]
pub struct Exchange {
    pub outside: Arc<Outside>,
    pub calls: Arc<Calls>,
    pub budget: Arc<Budget>,
    pub bounds: Bounds,
}

impl Exchange {
    pub fn new(outside: Outside, bounds: Bounds) -> Exchange {
        Exchange {
            outside: Arc::new(outside),
            calls: Arc::new(Calls::new(bounds.calls)),
            budget: Arc::new(Budget::new(bounds.bytes)),
            bounds,
        }
    }
}
