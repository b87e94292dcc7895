//! Children known at run time: one for each item, found again by its key.

use crate::{
    context::{Cause, Context, Teardown},
    error::{Error, Result},
    managed::{Each, Owner},
    provisioner::{
        Keyed,
        group::{Hands, is_left_out},
        schedule::{gravest, guarded},
    },
    shape::Provisioner,
};
use futures::{FutureExt, future::BoxFuture};
use std::{
    borrow::Borrow,
    collections::BTreeSet,
    hash::{DefaultHasher, Hash, Hasher},
};

/// Keys of items.
pub type Keys = BTreeSet<String>;

/// Every item with its key.
pub fn keyed<C, I, O, L>(items: L, key: impl Fn(&I) -> String) -> Vec<(String, L::Item)>
where
    C: Keyed<Each<O, I>>,
    I: Send + Sync + 'static,
    L: IntoIterator<Item: Borrow<I>>,
    O: Owner,
{
    items.into_iter().map(|item| (key(item.borrow()), item)).collect()
}

/// The text of a key.
pub fn text(key: impl ToString) -> String {
    key.to_string()
}

/// Provisions the child of every item at once, and deprovisions those whose key is gone.
pub fn up_each<'c, C, I, T, O, P, H>(
    cx: &'c Context<'_, O, P>,
    name: &'static str,
    handed: H,
    inputs: Option<u64>,
    items: Vec<(String, T)>,
) -> BoxFuture<'c, Result<()>>
where
    C: Keyed<Each<O, I>>,
    I: Send + Sync + 'static,
    T: Borrow<I> + Send + Sync + 'c,
    O: Owner,
    P: Provisioner,
    H: Hands<C::Takes>,
{
    let taken = handed.handed();
    async move {
        let mut gone = match cx.core().is_plan {
            true => BTreeSet::new(),
            false => known::<C, I, O, P>(&cx.turned(Cause::KeyGone), name).await?,
        };
        let mut seen = BTreeSet::new();
        for (key, _) in &items {
            if !seen.insert(key) {
                let message = format!("{} has two items with the key {key:?}", cx.path().child(name));
                return Err(Error::user_action("KeyGivenTwice", message));
            }
            gone.remove(key);
        }
        if is_left_out::<C>(cx.core()) {
            return Ok(());
        }
        let (taken, inputs) = (&taken, cx.inputs_of_items(inputs));
        let children = items.iter().map(|(key, item)| {
            guarded(
                async move { C::provision(&cx.of_item((name, key), item.borrow(), taken, of_key(inputs, key))).await },
            )
            .boxed()
        });
        let turned = cx.turned(Cause::KeyGone);
        let removed = gone.iter().map(|key| one_down::<C, I, O, P>(&turned, name, key));
        gravest(futures::future::join_all(children.chain(removed).collect::<Vec<_>>()).await)
    }
    .boxed()
}

/// Deprovisions the child of every key that something is left of.
pub fn down_each<'c, C, I, O, P>(cx: &'c Teardown<'_, O, P>, name: &'static str) -> BoxFuture<'c, Result<()>>
where
    C: Keyed<Each<O, I>>,
    I: Send + Sync + 'static,
    O: Owner,
    P: Provisioner,
{
    async move {
        // A plan doesn't ask what is there: nobody wants it, and what it asks for are claims.
        if cx.core().is_plan {
            return Ok(());
        }
        let keys = known::<C, I, O, P>(cx, name).await?;
        gravest(futures::future::join_all(keys.iter().map(|key| one_down::<C, I, O, P>(cx, name, key))).await)
    }
    .boxed()
}

fn one_down<'c, C, I, O, P>(cx: &'c Teardown<'_, O, P>, name: &'static str, key: &'c str) -> BoxFuture<'c, Result<()>>
where
    C: Keyed<Each<O, I>>,
    I: Send + Sync + 'static,
    O: Owner,
{
    guarded(async move { C::deprovision(&cx.of_item(name, Some(key), cx.cause())).await }).boxed()
}

async fn known<C, I, O, P>(cx: &Teardown<'_, O, P>, name: &'static str) -> Result<BTreeSet<String>>
where
    C: Keyed<Each<O, I>>,
    I: Send + Sync + 'static,
    O: Owner,
    P: Provisioner,
{
    C::keys(&cx.of_item(name, None, cx.cause())).await
}

/// The keys for which the objects of a group are there.
///
/// # Errors
/// A yield if they can't be known yet.
pub fn keys_of_objects<O: Owner, P: Provisioner>(cx: &Teardown<'_, O, P>) -> Result<BTreeSet<String>> {
    cx.core().keys_of(&cx.path().to_string(), &P::SHAPE)
}

/// The keys that a child of a keyed group knows.
pub fn keys_below<'c, C: Keyed<O>, O: Owner, P>(
    cx: &'c Teardown<'_, O, P>,
    name: &'static str,
) -> BoxFuture<'c, Result<BTreeSet<String>>> {
    async move { C::keys(&cx.below(name)).await }.boxed()
}

/// Items differ by their key, and by nothing else that the inputs don't tell.
fn of_key(inputs: Option<u64>, key: &str) -> Option<u64> {
    let mut hasher = DefaultHasher::new();
    (inputs?, key).hash(&mut hasher);
    Some(hasher.finish())
}
