//! Carries what a program or a dream changed over into the real directories: `telos exec --apply`, and what is done after a merge.
//!
//! All new files of all directories are written and flushed aside first, in a directory of ours at the top of each. Then each
//! is moved into its place by one rename, so that nobody ever finds half a file; what it replaces or removes moves the other
//! way. If a step fails, or finds that somebody was there in between, all of it is moved back, in every directory.

mod images;
mod left;

pub use images::check_images;
pub use left::{left_in, sift};

use anyhow::{Context, bail};
use rustix::fs::{
    AtFlags, CWD, Gid, Mode, OFlags, RenameFlags, Uid, chmodat, chownat, fchmod, fchown, linkat, mkdirat, openat,
    renameat, renameat_with, statat, symlinkat, unlinkat,
};
use rustix::io::Errno;
use sandbox::changes::{Fingerprint, Kind, Leaf, Plan, Step, Tree};
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

/// Refuses a plan that may not be done, naming why: before anything is.
pub fn check(plan: &Plan<'_>) -> anyhow::Result<()> {
    let host = plan.snapshot.tree.host.display();
    if !plan.refused.is_empty() {
        let each: Vec<String> = plan.refused.iter().map(|(path, why)| format!("\n  {path:?}: {why}")).collect();
        bail!("nothing was applied to {host}, since not all of it may be:{}", each.concat());
    }
    let conflicts = plan.conflicts();
    if !conflicts.is_empty() {
        let each: Vec<String> = conflicts.iter().map(|path| format!("\n  {path:?}")).collect();
        bail!("nothing was applied to {host}, since this was changed there meanwhile:{}", each.concat());
    }
    // A program could have it say where a person is to put things back.
    let is_forged = |step: &&Step| left::is_kept_for_it(step.path()) && !matches!(step, Step::Remove(_));
    if let Some(step) = plan.steps.iter().find(is_forged) {
        let path = step.path();
        bail!("nothing was applied to {host}: {path:?} has a name that is kept for what a killed --apply leaves");
    }
    check_images(plan)
}

/// Does plans that were checked, all of them or nothing of any. Gives what was changed.
pub fn apply(plans: &[Plan<'_>]) -> anyhow::Result<Vec<PathBuf>> {
    apply_with(plans, Exchange::IfThere, None)
}

/// The same for something that is taken up again if it is killed: what lies aside then lies under this name, which only
/// whoever has the right to do it uses. See [`sift`].
pub fn apply_as(plans: &[Plan<'_>], name: &str) -> anyhow::Result<Vec<PathBuf>> {
    apply_with(plans, Exchange::IfThere, Some(name))
}

/// Whether two names can change their files in one step.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Exchange {
    IfThere,
    /// As on a file system that cannot.
    #[cfg_attr(not(test), expect(dead_code, reason = "file systems without it are rare where tests run"))]
    Never,
}

fn apply_with(plans: &[Plan<'_>], exchange: Exchange, name: Option<&str>) -> anyhow::Result<Vec<PathBuf>> {
    let is_to_do = |plan: &&Plan<'_>| !plan.steps.is_empty();
    let named = |plan: &Plan<'_>| format!("in {}", plan.snapshot.tree.host.display());
    let mut stages = Vec::new();
    let mut staged = plans.iter().filter(is_to_do).try_for_each(|plan| {
        let stage = Stage::new(plan, exchange, name)?;
        stages.push(stage);
        stages.last().map_or(Ok(()), Stage::write_aside).with_context(|| named(plan))
    });
    for stage in &mut stages {
        let plan = stage.plan;
        staged = staged.and_then(|()| stage.move_in().with_context(|| named(plan)));
    }
    // As late as can be: after this, what lies aside is gone.
    for stage in &stages {
        staged = staged.and_then(|()| stage.ensure_untouched().with_context(|| named(stage.plan)));
    }
    if let Err(error) = staged {
        stages.iter_mut().rev().for_each(Stage::move_back);
        return Err(error.context(match stages.iter().any(|stage| stage.is_kept) {
            true => "not all of it could be taken back: the warnings say what",
            false => "nothing was applied",
        }));
    }
    Ok(plans.iter().flat_map(|plan| &plan.steps).map(|step| step.path().to_path_buf()).collect())
}

/// Where new files wait, and old ones go.
struct Stage<'p> {
    plan: &'p Plan<'p>,
    tree: &'p Tree,
    aside: OwnedFd,
    aside_name: String,
    /// Something there could not be put back: it stays.
    is_kept: bool,
    exchange: Exchange,
    done: Vec<Done>,
}

/// A step that can be taken back.
enum Done {
    /// It was put where nothing was.
    Put(usize),
    /// It was put there, and what was there lies aside under its number.
    Exchanged(usize),
    /// The same without an exchange: what was there lies aside under its number and [`OLD`].
    Replaced(usize),
    Removed(usize),
    Made(usize),
    ModeSet(usize, u32),
}

/// What is behind the number of a file that was replaced.
const OLD: &str = ".old";

impl<'p> Stage<'p> {
    fn new(plan: &'p Plan<'p>, exchange: Exchange, name: Option<&str>) -> anyhow::Result<Stage<'p>> {
        let tree = &plan.snapshot.tree;
        let name = name.map_or_else(left::chance_name, |name| Ok(left::name_of(name)))?;
        let made = mkdirat(tree.root(), &name, Mode::RWXU).and_then(|()| {
            openat(tree.root(), &name, OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
        });
        let aside = made.with_context(|| format!("cannot write to {}", tree.host.display()))?;
        left::mark(&aside);
        Ok(Stage { plan, tree, aside, aside_name: name, is_kept: false, exchange, done: Vec::new() })
    }

    /// All that can run out of room happens before the first change.
    fn write_aside(&self) -> anyhow::Result<()> {
        self.write_file(left::LIST, left::list(&self.plan.steps).as_bytes(), 0o600, None).context(left::LIST)?;
        for (number, step) in self.plan.steps.iter().enumerate() {
            if let Step::Write(path, leaf) = step {
                self.write_leaf(&number.to_string(), path, leaf).with_context(|| format!("{path:?}"))?;
            }
        }
        Ok(())
    }

    fn write_leaf(&self, name: &str, path: &Path, leaf: &Leaf) -> anyhow::Result<()> {
        match leaf {
            Leaf::Link { target } => {
                symlinkat(target, &self.aside, name)?;
                if let Some((user, group)) = self.owner(path) {
                    chownat(&self.aside, name, Some(user), Some(group), AtFlags::SYMLINK_NOFOLLOW)?;
                }
            }
            Leaf::File { bytes, mode } => self.write_file(name, bytes, *mode, self.owner(path))?,
        }
        Ok(())
    }

    fn write_file(&self, name: &str, bytes: &[u8], mode: u32, owner: Option<(Uid, Gid)>) -> anyhow::Result<()> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(openat(&self.aside, name, flags, Mode::RUSR | Mode::WUSR)?);
        file.write_all(bytes)?;
        if let Some((user, group)) = owner {
            fchown(&file, Some(user), Some(group))?;
        }
        fchmod(&file, Mode::from_raw_mode(mode))?;
        Ok(file.sync_data()?)
    }

    /// Root writes for others: what replaces a file belongs to its owner, what is new to the owner of the nearest
    /// directory that was there.
    fn owner(&self, path: &Path) -> Option<(Uid, Gid)> {
        if !rustix::process::geteuid().is_root() {
            return None;
        }
        let known = path.ancestors().find_map(|each| self.plan.snapshot.before(each)).map(|print| print.owner);
        let top = || rustix::fs::fstat(self.tree.root()).ok().map(|details| (details.st_uid, details.st_gid));
        known.or_else(top).map(|(user, group)| (Uid::from_raw(user), Gid::from_raw(group)))
    }

    /// Modes come last: a directory may be one that nobody may write to.
    fn move_in(&mut self) -> anyhow::Result<()> {
        for (number, step) in self.plan.steps.iter().enumerate() {
            self.take(number, step).with_context(|| format!("{:?}", step.path()))?;
        }
        for (number, step) in self.plan.steps.iter().enumerate().rev() {
            self.set_mode(number, step).with_context(|| format!("{:?}", step.path()))?;
        }
        Ok(())
    }

    fn take(&mut self, number: usize, step: &Step) -> anyhow::Result<()> {
        let (parent, name) = self.tree.parent(step.path())?;
        let aside_name = number.to_string();
        match step {
            Step::Remove(path) => {
                rename_new(&parent, Path::new(name), &self.aside, Path::new(&aside_name))?;
                self.done.push(Done::Removed(number));
                self.ensure_expected(path, &aside_name)?;
            }
            Step::MakeDirectory(path, _) => {
                mkdirat(&parent, name, Mode::RWXU)?;
                self.done.push(Done::Made(number));
                if let Some((user, group)) = self.owner(path) {
                    chownat(&parent, name, Some(user), Some(group), AtFlags::SYMLINK_NOFOLLOW)?;
                }
            }
            Step::Write(path, _) => self.put(number, path, &parent, name.as_ref())?,
            Step::SetMode(..) => {}
        }
        Ok(())
    }

    fn set_mode(&mut self, number: usize, step: &Step) -> anyhow::Result<()> {
        if let Step::MakeDirectory(path, mode) | Step::SetMode(path, mode) = step {
            let (parent, name) = self.tree.parent(path)?;
            set_mode(&parent, name.as_ref(), *mode)?;
            let before = self.plan.snapshot.before(path).map_or(0o700, |print| print.mode);
            self.done.push(Done::ModeSet(number, before));
        }
        Ok(())
    }

    fn put(&mut self, number: usize, path: &Path, parent: &OwnedFd, name: &Path) -> anyhow::Result<()> {
        let aside_name = number.to_string();
        let was_removed =
            self.plan.steps[..number].iter().any(|step| matches!(step, Step::Remove(gone) if path.starts_with(gone)));
        if was_removed || self.plan.snapshot.before(path).is_none() {
            rename_new(&self.aside, Path::new(&aside_name), parent, name)?;
            self.done.push(Done::Put(number));
            return Ok(());
        }
        let exchanged = match self.exchange {
            Exchange::IfThere => renameat_with(&self.aside, &aside_name, parent, name, RenameFlags::EXCHANGE),
            Exchange::Never => Err(Errno::NOSYS),
        };
        match exchanged {
            Ok(()) => {
                self.done.push(Done::Exchanged(number));
                self.ensure_expected(path, &aside_name)
            }
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => self.replace(number, path, parent, name),
            Err(error) => Err(error.into()),
        }
    }

    /// Without exchange: what was there gets a second name aside, or goes there where it can have one only.
    fn replace(&mut self, number: usize, path: &Path, parent: &OwnedFd, name: &Path) -> anyhow::Result<()> {
        anyhow::ensure!(self.plan.snapshot.is_unchanged(path), "it was changed meanwhile");
        let old_name = format!("{number}{OLD}");
        if linkat(parent, name, &self.aside, &old_name, AtFlags::empty()).is_err() {
            rename_new(parent, name, &self.aside, Path::new(&old_name))?;
        }
        self.done.push(Done::Replaced(number));
        self.ensure_expected(path, &old_name)?;
        Ok(renameat(&self.aside, number.to_string(), parent, name)?)
    }

    /// What was moved aside is what the program saw, or somebody came in between.
    fn ensure_expected(&self, path: &Path, aside_name: &str) -> anyhow::Result<()> {
        let details = statat(&self.aside, aside_name, AtFlags::SYMLINK_NOFOLLOW)?;
        let now = Fingerprint::new(&details);
        let before = self.plan.snapshot.before(path);
        // What is in a directory is looked at when all has been moved.
        let is_same = before.is_some_and(|before| {
            before.kind == Kind::Directory && now.kind == Kind::Directory || before.is_moved(&now)
        });
        anyhow::ensure!(is_same, "it was changed meanwhile");
        Ok(())
    }

    /// What is in the directories that were moved aside is what the program saw, too: it is about to be removed, and the look
    /// before the first step was long ago.
    fn ensure_untouched(&self) -> anyhow::Result<()> {
        let removed =
            self.done.iter().filter_map(|done| if let Done::Removed(number) = done { Some(number) } else { None });
        for number in removed {
            let path = self.plan.steps[*number].path();
            let was_directory = self.plan.snapshot.before(path).is_some_and(|before| before.kind == Kind::Directory);
            let place = Path::new(&self.aside_name).join(number.to_string());
            if was_directory && let Some(changed) = self.plan.snapshot.changed_below_at(path, &place).first() {
                bail!("{changed:?}: it was changed meanwhile");
            }
        }
        Ok(())
    }

    /// Takes back what was done, the last first. What cannot be taken back stays aside and is named.
    fn move_back(&mut self) {
        while let Some(done) = self.done.pop() {
            let (number, aside_name) = match done {
                Done::Put(number) | Done::Exchanged(number) | Done::Removed(number) => (number, number.to_string()),
                Done::Replaced(number) => (number, format!("{number}{OLD}")),
                Done::Made(_) | Done::ModeSet(..) => {
                    self.unmake(&done);
                    continue;
                }
            };
            let path = self.plan.steps[number].path();
            let aside_name = PathBuf::from(aside_name);
            let moved = self.tree.parent(path).and_then(|(parent, name)| match done {
                Done::Put(_) => renameat(&parent, name, &self.aside, &aside_name),
                Done::Replaced(_) => renameat(&self.aside, &aside_name, &parent, name),
                Done::Exchanged(_) => renameat_with(&self.aside, &aside_name, &parent, name, RenameFlags::EXCHANGE),
                _ => rename_new(&self.aside, &aside_name, &parent, Path::new(name)),
            });
            if moved.is_err() {
                let kept = self.tree.host.join(&self.aside_name).join(&aside_name);
                crate::report::say(&format!("warning: {path:?} could not be put back; it is {}", kept.display()));
                self.is_kept = true;
            }
        }
    }

    fn unmake(&self, done: &Done) {
        let (Done::Made(number) | Done::ModeSet(number, _)) = *done else { return };
        if let Ok((parent, name)) = self.tree.parent(self.plan.steps[number].path()) {
            // A directory that somebody put something into stays.
            let _ = match done {
                Done::ModeSet(_, mode) => set_mode(&parent, name.as_ref(), *mode),
                _ => unlinkat(&parent, name, AtFlags::REMOVEDIR),
            };
        }
    }
}

impl Drop for Stage<'_> {
    /// With what was replaced, and what was not moved in.
    fn drop(&mut self) {
        if !self.is_kept {
            let top = format!("/proc/self/fd/{}", self.tree.root().as_raw_fd());
            let _ = std::fs::remove_dir_all(Path::new(&top).join(&self.aside_name));
        }
    }
}

/// Never over something; where the file system cannot promise that, it was looked at just before.
fn rename_new(from: &OwnedFd, name: &Path, to: &OwnedFd, new_name: &Path) -> Result<(), Errno> {
    match renameat_with(from, name, to, new_name, RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => match statat(to, new_name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => renameat(from, name, to, new_name),
            Ok(_) => Err(Errno::EXIST),
            Err(error) => Err(error),
        },
        renamed => renamed,
    }
}

/// Of a directory, never through a link.
fn set_mode(parent: &OwnedFd, name: &Path, mode: u32) -> Result<(), Errno> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::PATH | OFlags::CLOEXEC;
    let directory = openat(parent, name, flags, Mode::empty())?;
    // A descriptor that was opened as a path only is named through /proc.
    chmodat(CWD, format!("/proc/self/fd/{}", directory.as_raw_fd()), Mode::from_raw_mode(mode), AtFlags::empty())
}

#[cfg(test)]
mod tests;
