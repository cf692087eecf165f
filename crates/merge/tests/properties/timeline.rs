//! Long lives: live and dreams take turns, dreams merge and close while others are open, and in between the ledger is
//! compacted, or not, which nobody may notice.

use crate::lab::Lab;
use crate::script::*;
use merge::*;
use object::change::ActorId;
use proptest::collection::vec;
use proptest::prelude::*;

#[derive(Clone, Copy, Debug)]
pub enum Event {
    Live(Step),
    Fork(u8),
    Inside(u8, u8),
    Undo(u8),
    Dream(u8, Step),
    Merge(u8),
    Close(u8),
    Compact,
}

fn any_event() -> impl Strategy<Value = Event> {
    prop_oneof![
        4 => any_step().prop_map(Event::Live),
        2 => (0..4u8).prop_map(Event::Fork),
        1 => (any::<u8>(), 0..4u8).prop_map(|(dream, policy)| Event::Inside(dream, policy)),
        1 => any::<u8>().prop_map(Event::Undo),
        5 => (any::<u8>(), any_step()).prop_map(|(dream, step)| Event::Dream(dream, step)),
        2 => any::<u8>().prop_map(Event::Merge),
        1 => any::<u8>().prop_map(Event::Close),
        2 => Just(Event::Compact),
    ]
}

struct Timeline {
    lab: Lab,
    cast: Cast,
    authors: Vec<Author>,
    forked: u64,
    outcomes: Vec<Outcome>,
}

impl Timeline {
    fn new() -> Timeline {
        let mut lab = Lab::new();
        let cast = cast(&mut lab);
        Timeline { lab, cast, authors: Vec::new(), forked: 0, outcomes: Vec::new() }
    }

    fn pick(&self, number: u8) -> Option<usize> {
        usize::from(number).checked_rem(self.authors.len())
    }

    fn does(&mut self, event: Event, compacts: bool) {
        match event {
            Event::Live(step) => live_does(&mut self.lab, step, &self.cast),
            Event::Fork(policy) => {
                self.forked += 1;
                let policy = Policy::ALL[usize::from(policy)];
                self.authors.push(Author::new(&mut self.lab, self.forked + 1, policy));
            }
            Event::Inside(number, policy) => {
                if let Some(at) = self.pick(number) {
                    self.forked += 1;
                    let author = self.authors[at].clone();
                    let policy = Policy::ALL[usize::from(policy)];
                    self.authors.push(author.inside(&mut self.lab, self.forked + 1, policy));
                }
            }
            Event::Undo(number) => {
                if let Some(at) = self.pick(number) {
                    self.undo(at);
                }
            }
            Event::Dream(number, step) => {
                if let Some(at) = self.pick(number) {
                    self.authors[at].does(step, &self.cast);
                }
            }
            Event::Merge(number) => {
                if let Some(at) = self.pick(number) {
                    let dream = self.authors[at].dream.clone();
                    match self.lab.try_merge(&dream) {
                        Ok(outcome) => self.outcomes.push(Outcome { conflicts: Vec::new(), ..outcome }),
                        Err(refusal) => assert!(matches!(refusal, Refusal::ParentNotMerged(..)), "{refusal}"),
                    }
                }
            }
            Event::Close(number) => {
                if let Some(at) = self.pick(number) {
                    let author = self.authors.remove(at);
                    self.lab.ledger.close(author.dream.actor);
                }
            }
            Event::Compact if compacts => self.lab.ledger.compact(),
            Event::Compact => {}
        }
    }
}

impl Timeline {
    /// Takes back what has been merged of a dream.
    fn undo(&mut self, at: usize) {
        let dream = &self.authors[at].dream;
        let merged = &dream.changes[..self.lab.ledger.admitted(dream.actor) as usize];
        self.forked += 1;
        let (actor, time) = (ActorId(self.forked + 1), self.lab.next_time());
        self.lab.ledger.fork_for_undo(actor, time, Policy::ForkWins).expect("the actor is new");
        let undo = self.lab.ledger.undo(merged, &[], actor, time);
        let outcome = self.lab.merge_with(actor, &undo, &NoReconciler).expect("an undo keeps to the rules");
        self.outcomes.push(Outcome { conflicts: Vec::new(), ..outcome });
        self.lab.ledger.close(actor);
    }
}

proptest! {
    #![proptest_config(crate::cases())]

    #[test]
    fn compaction_is_invisible(events in vec(any_event(), 0..40)) {
        let (mut one, mut other) = (Timeline::new(), Timeline::new());
        for event in events {
            one.does(event, true);
            other.does(event, false);
            prop_assert_eq!(one.lab.image.objects(), other.lab.image.objects(), "{:?}", event);
            prop_assert_eq!(one.outcomes.last(), other.outcomes.last());
        }
    }

    #[test]
    fn the_ledger_is_empty_when_all_is_merged(events in vec(any_event(), 0..40)) {
        let mut timeline = Timeline::new();
        events.iter().for_each(|event| timeline.does(*event, true));
        while !timeline.authors.is_empty() {
            timeline.does(Event::Merge(0), true);
            timeline.does(Event::Close(0), true);
        }
        timeline.lab.ledger.compact();
        prop_assert!(timeline.lab.ledger.is_empty());
    }
}
