//! Provisions the children of an `each`: one for each item, identified by the item's key.

use crate::{
    context::{Cause, Context, Teardown},
    error::{Error, Result},
    managed::{Each, Owner},
    provisioner::{
        Keyed,
        group::{IntoInputs, is_skipped},
        schedule::{catch_panic, worst_outcome},
    },
    shape::Provisioner,
};
use futures::{FutureExt, future::BoxFuture};
use std::{
    borrow::Borrow,
    collections::BTreeSet,
    hash::{DefaultHasher, Hash, Hasher},
};

/// The keys of the items of an `each`.
pub type Keys = BTreeSet<String>;

/// Pairs each item of an `each` with the key that the function `key` returns for it.
pub fn keyed<C, I, O, L>(items: L, key: impl Fn(&I) -> String) -> Vec<(String, L::Item)>
where
    C: Keyed<Each<O, I>>,
    I: Send + Sync + 'static,
    L: IntoIterator<Item: Borrow<I>>,
    O: Owner,
{
    items.into_iter().map(|item| (key(item.borrow()), item)).collect()
}

/// Returns the text of a key.
pub fn text(key: impl ToString) -> String {
    key.to_string()
}

/// Provisions the child of each item concurrently. Concurrently with them, it deprovisions the children of keys for which objects exist and
/// no item.
///
/// # Errors
/// The worst outcome of the children. If two items have the same key, a user has to resolve that, and no child runs.
pub fn up_each<'c, C, I, T, O, P, H>(
    cx: &'c Context<'_, O, P>,
    name: &'static str,
    inputs: H,
    inputs_digest: Option<u64>,
    items: Vec<(String, T)>,
) -> BoxFuture<'c, Result<()>>
where
    C: Keyed<Each<O, I>>,
    I: Send + Sync + 'static,
    T: Borrow<I> + Send + Sync + 'c,
    O: Owner,
    P: Provisioner,
    H: IntoInputs<C::Inputs>,
{
    let inputs = inputs.into_inputs();
    async move {
        // A plan only computes which objects the nodes want, and a child that is removed wants none.
        let mut removed_keys = match cx.core().is_plan {
            true => BTreeSet::new(),
            false => find_keys::<C, I, O, P>(&cx.to_teardown(Cause::KeyGone), name).await?,
        };
        let mut item_keys = BTreeSet::new();
        for (key, _) in &items {
            if !item_keys.insert(key) {
                let message = format!("{} has two items with the key {key:?}", cx.path().child(name));
                return Err(Error::user_action("KeyGivenTwice", message));
            }
            removed_keys.remove(key);
        }
        if is_skipped::<C>(cx.core()) {
            return Ok(());
        }
        let (inputs, inputs_digest) = (&inputs, cx.items_inputs_digest(inputs_digest));
        let children = items.iter().map(|(key, item)| {
            catch_panic(async move {
                C::provision(&cx.for_item((name, key), item.borrow(), inputs, with_key(inputs_digest, key))).await
            })
            .boxed()
        });
        let teardown = cx.to_teardown(Cause::KeyGone);
        let removed = removed_keys.iter().map(|key| deprovision_item::<C, I, O, P>(&teardown, name, key));
        worst_outcome(futures::future::join_all(children.chain(removed).collect::<Vec<_>>()).await)
    }
    .boxed()
}

/// Deprovisions the children of all keys for which objects exist, concurrently.
///
/// # Errors
/// The worst outcome of the children.
pub fn down_each<'c, C, I, O, P>(cx: &'c Teardown<'_, O, P>, name: &'static str) -> BoxFuture<'c, Result<()>>
where
    C: Keyed<Each<O, I>>,
    I: Send + Sync + 'static,
    O: Owner,
    P: Provisioner,
{
    async move {
        // A plan only computes which objects the nodes want, and a child that is removed wants none.
        if cx.core().is_plan {
            return Ok(());
        }
        let keys = find_keys::<C, I, O, P>(cx, name).await?;
        worst_outcome(
            futures::future::join_all(keys.iter().map(|key| deprovision_item::<C, I, O, P>(cx, name, key))).await,
        )
    }
    .boxed()
}

/// Deprovisions the child with the key `key`. Its panic becomes an error, so that the other children continue.
fn deprovision_item<'c, C, I, O, P>(
    cx: &'c Teardown<'_, O, P>,
    name: &'static str,
    key: &'c str,
) -> BoxFuture<'c, Result<()>>
where
    C: Keyed<Each<O, I>>,
    I: Send + Sync + 'static,
    O: Owner,
{
    catch_panic(async move { C::deprovision(&cx.for_item(name, Some(key), cx.cause())).await }).boxed()
}

/// Returns the keys for which the child type `C` finds objects in the cluster.
async fn find_keys<C, I, O, P>(cx: &Teardown<'_, O, P>, name: &'static str) -> Result<BTreeSet<String>>
where
    C: Keyed<Each<O, I>>,
    I: Send + Sync + 'static,
    O: Owner,
    P: Provisioner,
{
    C::keys(&cx.for_item(name, None, cx.cause())).await
}

/// Returns the keys below an `each` for which objects of the group `P` exist in the cache.
///
/// # Errors
/// A yield if a cache is not synced yet.
pub fn keys_of_objects<O: Owner, P: Provisioner>(cx: &Teardown<'_, O, P>) -> Result<BTreeSet<String>> {
    cx.core().existing_keys(&cx.path().to_string(), &P::SHAPE)
}

/// Returns the keys for which the child `name` of a group below an `each` finds objects.
pub fn keys_below<'c, C: Keyed<O>, O: Owner, P>(
    cx: &'c Teardown<'_, O, P>,
    name: &'static str,
) -> BoxFuture<'c, Result<BTreeSet<String>>> {
    async move { C::keys(&cx.for_child(name)).await }.boxed()
}

/// Returns the hash of the inputs of one item's child: the hash of the inputs that all items share, combined with the key of the item.
/// `None` without a shared hash.
fn with_key(inputs_digest: Option<u64>, key: &str) -> Option<u64> {
    let mut hasher = DefaultHasher::new();
    (inputs_digest?, key).hash(&mut hasher);
    Some(hasher.finish())
}
