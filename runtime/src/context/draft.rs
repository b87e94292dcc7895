//! Defines `Draft`, the argument of build functions, which tracks whether the result of the function may be reused in a later pass.

use crate::{context::unversioned_reads::UnversionedReads, engine::pass::PassCore, managed::Owner};
use std::{fmt, ops::Deref};

/// The argument of a build function. It derefs to the object, or below an `each` to the item.
///
/// # When a build function is skipped
/// A pass doesn't call the build function of a resource if its inputs are those of an earlier pass: the version of the owner, the
/// key of the item, and the versions of the objects that `from` names. Options have no version, since they may give access to
/// state that changes, such as a [`Lister`](crate::Lister). So a build function that calls [`Draft::options`] runs in every pass. The
/// same holds for one that reads the value of a hand-written node, or an item that was computed from such an input.
///
/// Nothing else is an input: a build function that reads a clock or a `static` does not run when these change.
///
/// # Example
///
/// ```
/// # use k8s_openapi::api::core::v1::{Namespace, Secret};
/// # use opgen::prelude::*;
/// # #[derive(Provisioner)]
/// # #[provisioner(serial, owner = Foreign<Namespace>)]
/// # struct Tree {
/// #     #[provisioner(resource(once))]
/// #     password: Secret,
/// # }
/// impl Tree {
///     fn password(namespace: &Draft<'_, Foreign<Namespace>>) -> Secret {
///         let text = namespace.random_text(22);
///         Secret { string_data: Some([("password".into(), text)].into()), ..Secret::default() }
///     }
/// }
/// ```
pub struct Draft<'a, O: Owner> {
    /// The object that the tree is for.
    pub owner: &'a O::Object,
    options: &'a O::Options,
    item: &'a O::Item,
    core: &'a PassCore<'a>,
    unversioned: &'a UnversionedReads,
}

impl<'a, O: Owner> Draft<'a, O> {
    /// Creates the argument of a build function for an owner and, below an `each`, an item. `unversioned` records the function's reads of
    /// inputs without a version.
    pub(super) fn new(
        (owner, item): (&'a O::Object, &'a O::Item),
        options: &'a O::Options,
        core: &'a PassCore<'a>,
        unversioned: &'a UnversionedReads,
    ) -> Self {
        Self { owner, options, item, core, unversioned }
    }

    /// Returns the URL of the API server of the cluster that the node is in, if it is below a remote node: for a service there that can't
    /// use the address within the cluster, such as the network. `None` in the operator's cluster, in a test of the tree, and if the
    /// kubeconfig impersonates another user or gets its credentials from a program. The URL stays the same as long as the cluster exists.
    pub fn server(&self) -> Option<http::Uri> {
        self.core.remote_cluster()?.credentials().ok()?.server.parse().ok()
    }

    /// Returns the options of the controller. A build function that reads them runs in every pass.
    pub fn options(&self) -> &'a O::Options {
        self.unversioned.record();
        self.options
    }

    /// Returns the hash of all inputs of a build function that has run; `inputs_digest` is the hash of the inputs that were known before it
    /// ran. `None` if the function has read an input without a version, so that its result can't be reused in a later pass.
    ///
    /// The pattern names every field, so that a new field is a compile error until it is treated here.
    pub(crate) fn inputs_digest(&self, inputs_digest: Option<u64>) -> Option<u64> {
        let Self {
            // The version of the owner and the key of the item are in `inputs_digest`.
            owner: _,
            item: _,
            // A read of the options is recorded in `unversioned`.
            options: _,
            unversioned,
            // The source of random text, for objects that are created once. The server is the same for all passes in a cluster.
            core: _,
        } = self;
        unversioned.filter(inputs_digest)
    }

    /// Returns random letters and digits, such as for a password. Use it only in the build function of a `resource(once)`: others
    /// would build another object in every pass. There are 62 characters; a text of 22 has 130 bits.
    pub fn random_text(&self, length: usize) -> String {
        const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
        // The greatest multiple of 62. Numbers from there on are dropped, since their remainders would make some letters more likely.
        let limit = u64::MAX - u64::MAX % LETTERS.len() as u64;
        let number = || std::iter::repeat_with(|| self.core.shared.environment.random()).find(|number| *number < limit);
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
