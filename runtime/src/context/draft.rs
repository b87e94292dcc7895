//! `Draft`: the owner, item and options that a build function reads, and whether its result may be reused.

use crate::{environment::Environment, managed::Owner};
use std::{
    fmt,
    ops::Deref,
    sync::atomic::{AtomicBool, Ordering},
};

/// What a build function sees; derefs to the object, below `each` to the item.
///
/// # When a build function is skipped
/// A pass doesn't call the build function of a resource again while its inputs are those of an earlier pass: the version of the
/// owner, the key of the item, and the versions of the objects that `from` names. Options have no version, as they may show
/// something that changes, such as a [`View`](crate::View): a build function that calls [`Draft::options`] is called in every
/// pass, and so is one that reads the value of a hand-written node, or an item that was made from such an input.
///
/// Nothing else is an input: a build function that reads a clock or a `static` is not called when that changes.
pub struct Draft<'a, O: Owner> {
    /// The object that the tree is for.
    pub owner: &'a O::Object,
    options: &'a O::Options,
    item: &'a O::Item,
    environment: &'a Environment,
    unversioned: &'a Unversioned,
}

/// Whether something without a version was read: then nobody can say whether the same would be built again.
#[derive(Debug, Default)]
pub(crate) struct Unversioned(AtomicBool);

impl Unversioned {
    fn note(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_read(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// The inputs as a number, unless one without a version was read.
    pub(crate) fn limit(&self, inputs: Option<u64>) -> Option<u64> {
        inputs.filter(|_| !self.is_read())
    }
}

impl<'a, O: Owner> Draft<'a, O> {
    pub(super) fn new(
        (owner, item): (&'a O::Object, &'a O::Item),
        options: &'a O::Options,
        environment: &'a Environment,
        unversioned: &'a Unversioned,
    ) -> Self {
        Self { owner, options, item, environment, unversioned }
    }

    /// The options of the controller. A build function that reads them is called in every pass.
    pub fn options(&self) -> &'a O::Options {
        self.unversioned.note();
        self.options
    }

    /// What the build function depended on, as a number; `inputs` are those that were known before it ran.
    ///
    /// Every field is named here, so that a new one doesn't compile before it is decided how it counts.
    pub(crate) fn inputs(&self, inputs: Option<u64>) -> Option<u64> {
        let Self {
            // The version of the owner and the key of the item are in `inputs`.
            owner: _,
            item: _,
            // Noted when they are read.
            options: _,
            unversioned,
            // Nothing but random text, which is for what is made once.
            environment: _,
        } = self;
        unversioned.limit(inputs)
    }

    /// Letters and digits by chance, for what is generated once: a build function that asks for them belongs to a
    /// `resource(once)`, or every pass would build something else. 62 characters; 22 of them are 130 bits.
    pub fn random_text(&self, length: usize) -> String {
        const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
        // The last numbers that would favour some letters are thrown away.
        let fair = u64::MAX - u64::MAX % LETTERS.len() as u64;
        let number = || std::iter::repeat_with(|| self.environment.random()).find(|number| *number < fair);
        let letter = || LETTERS[number().map_or(0, |number| (number % LETTERS.len() as u64) as usize)];
        (0..length).map(|_| char::from(letter())).collect()
    }
}

impl<O: Owner> Deref for Draft<'_, O> {
    type Target = O::Subject;
    fn deref(&self) -> &O::Subject {
        O::subject(self.owner, self.item)
    }
}

impl<O: Owner> fmt::Debug for Draft<'_, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Draft").finish_non_exhaustive()
    }
}
