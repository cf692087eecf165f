//! A place that holds one value: the versions written since the oldest open fork, over the one at rest.

use crate::stamp::{Inner, Stamp, View};
use object::change::{ActorId, ChangeId};
use smallvec::SmallVec;

/// Heads, of which there are rarely more than a few.
pub(crate) type Heads<'v, T> = SmallVec<[&'v Version<T>; 4]>;

#[derive(Clone, Debug)]
pub(crate) struct Register<T> {
    /// The value before the first version.
    pub rest: T,
    /// What the image shows now.
    pub live: T,
    /// In order of admission. Mostly one of live's and one of a dream's.
    pub versions: SmallVec<[Version<T>; 2]>,
}

#[derive(Clone, Debug)]
pub(crate) struct Version<T> {
    pub stamp: Stamp,
    pub value: T,
    pub replaces: Replaced,
    /// Whether it replaces all that its author saw there.
    saw_all: bool,
    /// How many versions replace this one. A head has none.
    replaced_by: u32,
}

/// What a version replaces.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Replaced {
    Rest,
    One(ChangeId),
    Many(Box<[ChangeId]>),
}

impl Replaced {
    pub fn ids(&self) -> &[ChangeId] {
        match self {
            Replaced::Rest => &[],
            Replaced::One(id) => std::slice::from_ref(id),
            Replaced::Many(ids) => ids,
        }
    }

    pub fn from_ids(ids: Vec<ChangeId>) -> Replaced {
        match ids[..] {
            [] => Replaced::Rest,
            [id] => Replaced::One(id),
            _ => Replaced::Many(ids.into()),
        }
    }
}

impl<T: Clone + PartialEq> Register<T> {
    pub fn new(rest: T) -> Register<T> {
        Register { live: rest.clone(), rest, versions: SmallVec::new() }
    }

    /// Replaces all that the author sees. What it wrote just before, and nobody saw, leaves no trace.
    pub fn write(&mut self, stamp: Stamp, value: T, view: &View, inner: &Inner) {
        if let Some(last) = self.versions.last_mut()
            && (last.saw_all && inner.cannot_tell(&last.stamp, &stamp))
        {
            (last.stamp, last.value) = (stamp, value);
            return;
        }
        let replaces = self.seen(view);
        self.push(stamp, value, replaces, true);
    }

    /// Replaces these and no others.
    pub fn write_over(&mut self, stamp: Stamp, value: T, replaces: Replaced) {
        self.push(stamp, value, replaces, false);
    }

    fn push(&mut self, stamp: Stamp, value: T, replaces: Replaced, saw_all: bool) {
        self.count_replaced(&replaces, 1);
        self.versions.push(Version { stamp, value, replaces, saw_all, replaced_by: 0 });
    }

    /// Takes back what was pushed under this order.
    pub fn take_back(&mut self, order: u64) {
        while self.versions.last().is_some_and(|version| version.stamp.order == order) {
            let last = self.versions.pop().expect("there is a last one");
            self.count_replaced(&last.replaces, u32::MAX);
        }
    }

    fn count_replaced(&mut self, replaces: &Replaced, add: u32) {
        for id in replaces.ids() {
            if let Some(version) = self.versions.iter_mut().find(|version| version.stamp.id == *id) {
                version.replaced_by = version.replaced_by.wrapping_add(add);
            }
        }
    }

    /// The versions that none replaces, the strongest first.
    pub fn heads(&self) -> Heads<'_, T> {
        let mut heads: Heads<'_, T> = self.versions.iter().filter(|version| version.replaced_by == 0).collect();
        heads.sort_by_key(|version| std::cmp::Reverse(version.stamp.strength()));
        heads
    }

    /// The value of the strongest head.
    pub fn shown(&self) -> &T {
        strongest(self.versions.iter().filter(|version| version.replaced_by == 0)).unwrap_or(&self.rest)
    }

    pub fn shown_in(&self, view: &View) -> &T {
        strongest(self.heads_in(view).into_iter()).unwrap_or(&self.rest)
    }

    /// What an author with this view replaces.
    fn seen(&self, view: &View) -> Replaced {
        let own = self.versions.iter().rfind(|version| version.stamp.id.actor == view.actor);
        if let Some(own) = own.filter(|own| own.saw_all) {
            return Replaced::One(own.stamp.id);
        }
        let heads = self.heads_in(view);
        match heads[..] {
            [] => Replaced::Rest,
            [head] => Replaced::One(head.stamp.id),
            _ => Replaced::Many(heads.iter().map(|version| version.stamp.id).collect()),
        }
    }

    /// What the place would show had these versions not been, nor what was written over them.
    pub fn shown_without(&self, is_undone: impl Fn(&Stamp) -> bool) -> &T {
        let mut undone: Vec<ChangeId> = Vec::new();
        for version in &self.versions {
            if is_undone(&version.stamp) || version.replaces.ids().iter().any(|id| undone.contains(id)) {
                undone.push(version.stamp.id);
            }
        }
        strongest(self.heads_of(|version| !undone.contains(&version.stamp.id)).into_iter()).unwrap_or(&self.rest)
    }

    /// The place had these versions never been: what was written over them was written over what they replaced.
    pub fn had_not_been(&self, is_gone: impl Fn(&Stamp) -> bool) -> Register<T> {
        let mut register = self.clone();
        while let Some(at) = register.versions.iter().position(|version| is_gone(&version.stamp)) {
            let dropped = register.versions.remove(at);
            register.versions.iter_mut().for_each(|other| other.relink(&dropped));
        }
        register.recount();
        register
    }

    /// The heads of a part of the versions.
    fn heads_of(&self, is_part: impl Fn(&Version<T>) -> bool) -> Heads<'_, T> {
        let mut part: Heads<'_, T> = self.versions.iter().filter(|version| is_part(version)).collect();
        if part.iter().any(|version| version.replaced_by > 0) {
            let mut replaced: Vec<ChangeId> = part.iter().flat_map(|version| version.replaces.ids()).copied().collect();
            replaced.sort_unstable();
            part.retain(|version| version.replaced_by == 0 || replaced.binary_search(&version.stamp.id).is_err());
        }
        part
    }

    /// The latest value that all heads go back to.
    pub fn base(&self, heads: &[&Version<T>]) -> &T {
        let mut common: Option<Vec<ChangeId>> = None;
        for head in heads {
            let ancestors = self.ancestors(head);
            common = Some(match common {
                None => ancestors,
                Some(before) => before.into_iter().filter(|id| ancestors.contains(id)).collect(),
            });
        }
        let common = common.unwrap_or_default();
        strongest(self.heads_of(|version| common.contains(&version.stamp.id)).into_iter()).unwrap_or(&self.rest)
    }

    fn ancestors(&self, version: &Version<T>) -> Vec<ChangeId> {
        let mut found: Vec<ChangeId> = version.replaces.ids().to_vec();
        let mut next = 0;
        while let Some(id) = found.get(next).copied() {
            next += 1;
            let version = self.versions.iter().find(|version| version.stamp.id == id);
            for id in version.map_or(&[][..], |version| version.replaces.ids()) {
                if !found.contains(id) {
                    found.push(*id);
                }
            }
        }
        found
    }

    pub fn find(&self, id: ChangeId) -> Option<&Version<T>> {
        self.versions.iter().find(|version| version.stamp.id == id)
    }

    pub fn heads_in(&self, view: &View) -> Heads<'_, T> {
        self.heads_of(|version| view.sees(&version.stamp))
    }

    /// Drops what the live image wrote after the newest fork and has replaced since: nobody saw it. What it replaced
    /// together with others stays, as the record of a conflict.
    pub fn prune_unseen(&mut self, live: ActorId, newest: u64) {
        self.prune(|version, versions| {
            let mut later = versions.iter().filter(|other| other.replaces.ids().contains(&version.stamp.id));
            let is_sibling = later.any(|other| other.replaces.ids().len() > 1);
            is_sibling || version.stamp.id.actor != live || version.stamp.order <= newest
        });
    }

    /// Drops what no open fork, of which these are the views, sees as it was. What a merge newer than the oldest of them
    /// replaced stays, and what stood beside it: should the merge be taken back, it is shown again.
    pub fn prune_replaced(&mut self, live: ActorId, oldest: u64, views: &[View]) {
        self.prune(|version, versions| {
            let later = || versions.iter().filter(|other| other.replaces.ids().contains(&version.stamp.id));
            let is_replaced_in = |view: &View| later().any(|other| view.sees(&other.stamp));
            let is_merged = |other: &Version<T>| other.stamp.id.actor != live && other.stamp.order > oldest;
            let beside = |other: &Version<T>| {
                let siblings = versions.iter().filter(|it| other.replaces.ids().contains(&it.stamp.id));
                siblings.into_iter().any(|sibling| sibling.stamp.id != version.stamp.id && is_merged(sibling))
            };
            views.iter().any(|view| view.sees(&version.stamp) && !is_replaced_in(view))
                || later().any(|other| is_merged(other) || beside(other))
        });
    }

    pub fn is_newer_than(&self, order: u64) -> bool {
        self.versions.iter().any(|version| version.stamp.order > order)
    }

    /// Drops what was replaced and is seen as it was by no open fork: `is_needed` says of a version whether some open
    /// fork sees it and not what replaced it. What replaced a dropped version replaces what that one did.
    fn prune(&mut self, is_needed: impl Fn(&Version<T>, &[Version<T>]) -> bool) {
        let mut index = 0;
        while index < self.versions.len() {
            let version = &self.versions[index];
            if version.replaced_by == 0 || is_needed(version, &self.versions) {
                index += 1;
                continue;
            }
            let dropped = self.versions.remove(index);
            for other in &mut self.versions {
                other.relink(&dropped);
            }
            self.recount();
        }
    }

    fn recount(&mut self) {
        for version in &mut self.versions {
            version.replaced_by = 0;
        }
        let links: Vec<Replaced> = self.versions.iter().map(|version| version.replaces.clone()).collect();
        links.iter().for_each(|replaces| self.count_replaced(replaces, 1));
    }
}

impl<T> Version<T> {
    fn relink(&mut self, dropped: &Version<T>) {
        if !self.replaces.ids().contains(&dropped.stamp.id) {
            return;
        }
        let mut ids: Vec<ChangeId> = self.replaces.ids().to_vec();
        ids.retain(|id| *id != dropped.stamp.id);
        for id in dropped.replaces.ids() {
            if !ids.contains(id) {
                ids.push(*id);
            }
        }
        self.replaces = Replaced::from_ids(ids);
    }
}

fn strongest<'v, T: 'v>(versions: impl Iterator<Item = &'v Version<T>>) -> Option<&'v T> {
    versions.max_by_key(|version| version.stamp.strength()).map(|version| &version.value)
}
