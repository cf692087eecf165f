//! Protos that live and dreams set and add at once, merge after merge: they lead in no circle, nobody is left without, and
//! the ledger knows what the image shows. Nobody takes an object's last proto away here without giving it
//! another.

use crate::lab::*;
use crate::script::{Author, is_acyclic, reaches, set_proto};
use merge::*;
use object::change::*;
use proptest::collection::vec;
use proptest::prelude::*;

#[derive(Clone, Copy, Debug)]
enum Event {
    Live(Link),
    Fork(u8),
    Inside(u8, u8),
    Dream(u8, Link),
    Merge(u8),
    Compact,
}

/// One object gets another as a proto, or loses one of several: that of the number `to`.
#[derive(Clone, Copy, Debug)]
struct Link {
    from: u8,
    to: u8,
    how: How,
}

#[derive(Clone, Copy, Debug)]
enum How {
    Instead,
    Beside,
    Less,
}

fn any_link() -> impl Strategy<Value = Link> {
    let how = prop_oneof![4 => Just(How::Instead), 4 => Just(How::Beside), 1 => Just(How::Less)];
    (0..5u8, 0..5u8, how).prop_map(|(from, to, how)| Link { from, to, how })
}

fn any_event() -> impl Strategy<Value = Event> {
    prop_oneof![
        4 => any_link().prop_map(Event::Live),
        2 => (0..4u8).prop_map(Event::Fork),
        1 => (any::<u8>(), 0..4u8).prop_map(|(dream, policy)| Event::Inside(dream, policy)),
        6 => (any::<u8>(), any_link()).prop_map(|(dream, link)| Event::Dream(dream, link)),
        3 => any::<u8>().prop_map(Event::Merge),
        1 => Just(Event::Compact),
    ]
}

#[derive(Clone)]
struct Family {
    lab: Lab,
    objects: Vec<ObjectId>,
    authors: Vec<Author>,
    forked: u64,
    /// Whether live may make circles, which no dream does.
    may_circle: bool,
}

impl Family {
    fn new() -> Family {
        let mut lab = Lab::new();
        let root = lab.object();
        let child = |lab: &mut Lab| lab.create(Creation { protos: vec![root], ..Creation::default() });
        let objects = (0..5).map(|_| child(&mut lab)).collect();
        Family { lab, objects, authors: Vec::new(), forked: 1, may_circle: false }
    }

    /// What it takes to make the link; nothing where it would make a circle that nobody may make.
    fn linked(&self, link: Link, view: &Image, may_circle: bool) -> Vec<(ObjectId, Operation)> {
        let (from, to) = (self.objects[usize::from(link.from)], self.objects[usize::from(link.to)]);
        let count = view.length(from, Line::Protos);
        let less = || Operation::Delete { line: Line::Protos, index: u64::from(link.to) % count, count: 1 };
        match link.how {
            How::Less if count > 1 => vec![(from, less())],
            How::Less => Vec::new(),
            _ if !may_circle && reaches(view, to, from) => Vec::new(),
            How::Instead => set_proto(view, from, to),
            How::Beside => vec![(from, add_proto(to))],
        }
    }

    fn pick(&self, number: u8) -> Option<usize> {
        usize::from(number).checked_rem(self.authors.len())
    }

    fn does(&mut self, event: Event) {
        match event {
            Event::Live(link) => {
                let operations = self.linked(link, &self.lab.image, self.may_circle);
                self.lab.live_all(operations);
            }
            Event::Fork(policy) => {
                self.forked += 1;
                self.authors.push(Author::new(&mut self.lab, self.forked, Policy::ALL[usize::from(policy)]));
            }
            Event::Inside(number, policy) => {
                let Some(at) = self.pick(number) else { return };
                let outer = self.authors[at].clone();
                self.forked += 1;
                self.authors.push(outer.inside(&mut self.lab, self.forked, Policy::ALL[usize::from(policy)]));
            }
            Event::Dream(number, link) => {
                let Some(at) = self.pick(number) else { return };
                let operations = self.linked(link, &self.authors[at].view, false);
                let time = self.lab.next_time();
                self.authors[at].does_all(operations, time);
            }
            Event::Merge(number) => {
                let Some(at) = self.pick(number) else { return };
                match self.lab.try_merge(&self.authors[at].dream) {
                    Ok(_) | Err(Refusal::ParentNotMerged(..)) => {}
                    Err(refusal) => panic!("{refusal}"),
                }
            }
            Event::Compact => self.lab.ledger.compact(),
        }
    }

    fn protos(&self) -> Vec<Vec<ObjectId>> {
        self.objects.iter().map(|object| protos(&self.lab.image, *object)).collect()
    }

    /// What a dream adds at the end of what the image shows comes there.
    fn is_as_the_ledger_says(&self) -> bool {
        let mut family = self.clone();
        let last = family.lab.object();
        let mut dream = family.lab.fork(99, Policy::ForkWins);
        let mut expected = family.protos();
        for (object, protos) in family.objects.iter().zip(&mut expected) {
            let (index, run) = (protos.len() as u64, Run::items([Datum::Object(last)]));
            dream.does(*object, Operation::Insert { line: Line::Protos, index, run });
            protos.push(last);
        }
        family.lab.merge(&dream);
        family.protos() == expected
    }
}

proptest! {
    #![proptest_config(crate::cases())]

    #[test]
    fn nobody_loses_all_protos_and_none_leads_in_a_circle(events in vec(any_event(), 0..40)) {
        let mut family = Family::new();
        for event in events {
            family.does(event);
            prop_assert!(is_acyclic(&family.lab.image), "{:?}", event);
            prop_assert!(family.protos().iter().all(|protos| !protos.is_empty()), "{:?} {:?}", event, family.protos());
        }
        prop_assert!(family.is_as_the_ledger_says(), "{:?}", family.protos());
    }

    /// Live may do as it likes.
    #[test]
    fn circles_that_live_makes_stay_as_it_made_them(events in vec(any_event(), 0..40)) {
        let mut family = Family { may_circle: true, ..Family::new() };
        for event in events {
            family.does(event);
            prop_assert!(family.protos().iter().all(|protos| !protos.is_empty()), "{:?} {:?}", event, family.protos());
        }
        prop_assert!(family.is_as_the_ledger_says(), "{:?}", family.protos());
    }

    /// All that is merged at the end comes in any order.
    #[test]
    fn protos_do_not_depend_on_the_order_of_merges(events in vec(any_event(), 0..30), seed in any::<u64>()) {
        let mut family = Family::new();
        events.into_iter().for_each(|event| family.does(event));
        let receipt = family.lab.next_time();
        let results = [seed, seed.rotate_left(17), seed.rotate_left(41)].map(|seed| {
            let mut family = family.clone();
            let mut random = testkit::Random::new(seed);
            let mut left: Vec<usize> = (0..family.authors.len()).collect();
            while !left.is_empty() {
                let at = random.below(left.len());
                let dream = &family.authors[left[at]].dream;
                let merged = family.lab.ledger.merge(dream.actor, &dream.changes, receipt, &family.lab.image, &NoReconciler);
                match merged {
                    Ok(outcome) => {
                        family.lab.image.take(&outcome).expect("the image can do what a merge asks for");
                        left.remove(at);
                    }
                    Err(refusal) => assert!(matches!(refusal, Refusal::ParentNotMerged(..)), "{refusal}"),
                }
            }
            (family.protos(), family.lab.ledger.violations())
        });
        prop_assert_eq!(&results[0], &results[1]);
        prop_assert_eq!(&results[0], &results[2]);
    }
}
