//! Pairs of expected and actual states after an edit, an upgrade, or a deletion by somebody else.

use super::{Reference, judge::both_wait};
use crate::{course::Course, life::Lived, prepared::Prepared, state::State};

/// Pairs of an expected and a found state, each with the message for a difference.
pub(super) fn compared(
    prepared: &Prepared,
    older: Option<&Prepared>,
    reference: &Reference,
    course: &Course,
    lived: &Lived,
) -> Vec<(&'static str, State, State)> {
    let name = &prepared.name;
    let wanted = || reference.made.wanted(name);
    let mut ends = Vec::new();
    match (course.edit, &lived.edited, &lived.mended) {
        (Some(variant), Some(Ok(edited)), mended) => {
            let fresh = reference.fresh(prepared, variant).and_then(|fresh| fresh.made.as_ref());
            if let Some(made) = fresh.filter(|fresh| !both_wait(prepared, fresh, edited)) {
                ends.push(("an edit leads elsewhere than a new object", made.wanted(name), edited.wanted(name)));
            }
            if let Some(mended) = mended {
                ends.push(("an edit that is undone leaves a trace", wanted(), mended.wanted(name)));
            }
        }
        (Some(_), None, Some(mended)) => {
            ends.push(("an edit that is undone leaves a trace", wanted(), mended.wanted(name)));
        }
        (None, edited, Some(mended)) if course.upgrade => {
            if let Some(Ok(edited)) = edited {
                ends.push(("after the upgrade it is another than if it were new", wanted(), edited.wanted(name)));
            }
            if let (Some(expected), Some(older)) = (&reference.older, older) {
                // A release does not know what only a later one makes, and the later one may have another name.
                let (expected, mut found) = (expected.wanted(&older.name), mended.wanted(&older.name));
                found.objects.retain(|key, _| expected.objects.contains_key(key));
                ends.push(("after the downgrade it is another than before", expected, found));
            }
        }
        (None, _, Some(mended)) if course.again.is_some() => {
            ends.push((
                "an object that is created again under its name is another than a new one",
                wanted(),
                mended.wanted(name),
            ));
        }
        (None, _, Some(mended)) if course.beside.is_none() => {
            ends.push(("what somebody deleted is not made again", wanted(), mended.wanted(name)));
        }
        _ => {}
    }
    ends
}
