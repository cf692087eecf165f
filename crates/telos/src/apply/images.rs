//! What is applied never touches an image: neither the one whose dream it is, nor any other.

use crate::images::{MARKS, holds_image};
use anyhow::bail;
use sandbox::changes::{Plan, Step};
use std::path::Path;

/// Refuses a plan that would write, remove or replace anything in a directory that holds an image, or such a directory.
pub fn check_images(plan: &Plan<'_>) -> anyhow::Result<()> {
    if plan.steps.is_empty() {
        return Ok(());
    }
    let tree = &plan.snapshot.tree;
    let around = tree.host.ancestors().find(|directory| holds_image(directory)).map(Path::to_path_buf);
    let touched = || plan.steps.iter().find_map(|step| touched_by(plan, step)).map(|inside| tree.host.join(inside));
    match around.or_else(touched) {
        Some(place) => bail!("an image lies in {}, and nothing is applied there", place.display()),
        None => Ok(()),
    }
}

/// The directory of an image, from the top of the tree, that this step would change.
fn touched_by<'p>(plan: &'p Plan<'_>, step: &'p Step) -> Option<&'p Path> {
    let holds_one = |directory: &&Path| {
        MARKS.iter().any(|mark| matches!(plan.snapshot.tree.look(&directory.join(mark)), Ok(Some(_))))
    };
    let is_mark = |path: &&Path| path.file_name().is_some_and(|name| MARKS.iter().any(|mark| name == *mark));
    // What somebody put below it since is a conflict before it comes to this.
    let below = || match step {
        Step::Remove(path) => plan.snapshot.below(path).map(|(path, _)| path.as_path()).skip(1).find(is_mark)?.parent(),
        _ => None,
    };
    step.path().ancestors().find(holds_one).or_else(below)
}
