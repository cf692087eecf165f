//! What other threads see of a resident: `telos status`, and the switch that stops a program.

use crate::cambrian::Step;
use crate::chronicle;
use image::Image;
use keeper::{Listen, Watch};
use language::Interrupt;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::Duration;
use store::{Progress, Store};

pub struct Glance {
    interrupt: Mutex<Interrupt>,
    /// Who is told of programs that take long.
    listen: OnceLock<Listen>,
    /// Not kept open by whoever looks.
    store: Weak<Store>,
    /// How far a check is that is under way.
    checking: Mutex<Option<Progress>>,
    /// How it woke up.
    waking: [(&'static str, serde_json::Value); 2],
    /// Why the scheduler takes no turns.
    stalled: Mutex<Option<String>>,
    pub requests: AtomicU64,
    pub turns: AtomicU64,
    pub locks: AtomicU64,
    pub memory_bytes: AtomicU64,
    pub pauses: Pauses,
    /// What is to be done after merges, and what could not be.
    pub waiting_deliveries: AtomicU64,
    pub failed_deliveries: AtomicU64,
}

/// How long the machine stood still for dreams to be begun.
#[derive(Default)]
pub struct Pauses {
    dreams: AtomicU64,
    last_us: AtomicU64,
    longest_us: AtomicU64,
}

impl Pauses {
    pub fn note(&self, pause: Duration) {
        let microseconds = pause.as_micros() as u64;
        self.dreams.fetch_add(1, Ordering::Relaxed);
        self.last_us.store(microseconds, Ordering::Relaxed);
        self.longest_us.fetch_max(microseconds, Ordering::Relaxed);
    }

    /// Nothing of an image that never dreamt.
    fn facts(&self) -> Option<serde_json::Value> {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let begun = count(&self.dreams);
        let (last, longest) = (count(&self.last_us), count(&self.longest_us));
        (begun > 0).then(|| json!({ "begun": begun, "last_pause_us": last, "longest_pause_us": longest }))
    }
}

impl Glance {
    pub fn of(image: &Image, waking: [(&'static str, serde_json::Value); 2]) -> Glance {
        Glance {
            interrupt: Mutex::new(image.vm().interrupt()),
            listen: OnceLock::new(),
            store: Arc::downgrade(image.store()),
            checking: Mutex::new(None),
            waking,
            stalled: Mutex::new(None),
            requests: AtomicU64::new(0),
            turns: AtomicU64::new(0),
            locks: AtomicU64::new(0),
            memory_bytes: AtomicU64::new(0),
            pauses: Pauses::default(),
            waiting_deliveries: AtomicU64::new(0),
            failed_deliveries: AtomicU64::new(0),
        }
    }

    /// Another machine goes on, which is stopped in another way.
    pub fn set_interrupt(&self, interrupt: Interrupt) {
        self.listen.get().into_iter().for_each(|listen| tell_when_long(&interrupt, listen));
        *self.interrupt.lock().unwrap_or_else(PoisonError::into_inner) = interrupt;
    }

    fn current(&self) -> Interrupt {
        self.interrupt.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set_checking(&self, progress: Option<Progress>) {
        *self.checking.lock().unwrap_or_else(PoisonError::into_inner) = progress;
    }

    pub fn set_stalled(&self, reason: Option<String>) {
        *self.stalled.lock().unwrap_or_else(PoisonError::into_inner) = reason;
    }

    pub fn stalled(&self) -> Option<String> {
        self.stalled.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn check(&self, store: &Store) -> Result<String, String> {
        let found = chronicle::check(store, &mut |progress| self.set_checking(Some(progress)));
        self.set_checking(None);
        found
    }
}

fn tell_when_long(interrupt: &Interrupt, listen: &Listen) {
    let listen = listen.clone();
    interrupt.when_long(move || listen());
}

impl Watch for Glance {
    fn interrupt(&self) {
        self.current().set();
    }

    fn calm(&self) {
        self.current().calm();
    }

    fn when_long(&self, listen: Listen) {
        tell_when_long(&self.current(), self.listen.get_or_init(|| listen));
    }

    fn status(&self) -> BTreeMap<String, serde_json::Value> {
        let count = |counter: &AtomicU64| json!(counter.load(Ordering::Relaxed));
        let mut rows = vec![
            ("requests", count(&self.requests)),
            ("turns", count(&self.turns)),
            ("locks", count(&self.locks)),
            ("memory_bytes", count(&self.memory_bytes)),
        ];
        let outbox = [&self.waiting_deliveries, &self.failed_deliveries].map(|count| count.load(Ordering::Relaxed));
        if let [waiting, failed] = outbox
            && waiting + failed > 0
        {
            rows.push(("outbox", json!({ "waiting": waiting, "failed": failed })));
        }
        rows.extend(self.waking.clone());
        rows.extend(self.pauses.facts().map(|facts| ("dreams", facts)));
        rows.extend(self.stalled().map(|reason| ("scheduler", json!(format!("takes no turns: {reason}")))));
        let checking = *self.checking.lock().unwrap_or_else(PoisonError::into_inner);
        rows.extend(checking.map(|Progress { stage, done, total }| {
            ("checking", json!({ "stage": stage, "done": done, "total": total }))
        }));
        rows.extend(self.store.upgrade().iter().flat_map(|store| chronicle::store_facts(store)));
        rows.into_iter().map(|(name, value)| (name.to_string(), value)).collect()
    }
}

/// What `telos status` says about the waking.
pub fn waking_facts(steps: &[Step], failure: Option<&str>, is_asleep: bool) -> [(&'static str, serde_json::Value); 2] {
    let told = steps.iter().map(|step| {
        let detail = if step.told.is_empty() { String::new() } else { format!(" ({})", step.told) };
        let words = format!("{:.1} ms{detail}", step.took.as_secs_f64() * 1e3);
        (step.name.to_string(), json!(words))
    });
    let awake = if is_asleep { "no: it was started with --asleep, and takes no turns" } else { "yes" };
    [("waking", serde_json::Value::Object(told.collect())), ("awake", json!(failure.unwrap_or(awake)))]
}
