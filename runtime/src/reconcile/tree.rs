//! A tree as the loop sees it.

use crate::{
    cache::{Encoded, Entry, ObjectKey, ReadError, Reader},
    condition::{Direction, Status},
    context::{Context, Teardown},
    engine::{
        claimed::Plan,
        pass::{Core, Pass, Planner, plain},
    },
    error::{Error, Result},
    managed::{Managed, Owner},
    panic::{Closure, catch},
    provisioner::{
        Provision,
        group::is_left_out,
        schedule::{gravest, guarded},
    },
    reconcile::{
        reconciler::{Opened, Reconciler},
        stored_status::Stored,
    },
    reference::Pointer,
    shape::{Provisioner, Shape},
};
use futures::future::{BoxFuture, FutureExt};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;
use std::{
    marker::PhantomData,
    sync::{Arc, OnceLock},
    time::Duration,
};

/// The tree `P` for objects of `O`.
pub(crate) struct Tree<O: Owner, P> {
    pub(crate) reader: Reader<Read<O::Object>>,
    pub(crate) options: Arc<O::Options>,
    pub(crate) period: Option<Period<O::Object>>,
    pub(crate) tree: PhantomData<fn() -> P>,
}

/// An object as it is decoded.
#[derive(Deserialize)]
#[serde(transparent, bound = "K: DeserializeOwned")]
pub(crate) struct Read<K> {
    object: K,
    /// What its status says, once that was asked for: it is the same as long as the object is, and no pass that changes nothing
    /// has to look at the rest of the status.
    #[serde(skip)]
    said: OnceLock<Status>,
}

struct TreeObject<O: Owner, P> {
    read: Arc<Read<O::Object>>,
    options: Arc<O::Options>,
    period: Option<Period<O::Object>>,
    tree: PhantomData<fn() -> P>,
}

/// How soon an object is looked at again although all is well.
pub(crate) type Period<K> = Arc<dyn Fn(&K) -> Option<Duration> + Send + Sync>;

impl<O: Owner<Item = ()>, P: Provision<O> + Provisioner<Takes = ()>> Reconciler for Tree<O, P> {
    fn open(&self, entry: &Entry<Encoded>) -> Result<Box<dyn Opened + '_>, ReadError> {
        let (read, options, period) = (self.reader.get(entry)?, self.options.clone(), self.period.clone());
        Ok(Box::new(TreeObject::<O, P> { read, options, period, tree: PhantomData }))
    }

    fn forget(&self, key: &ObjectKey) {
        self.reader.forget(key);
    }

    fn shape(&self) -> &'static Shape {
        &P::SHAPE
    }

    fn owns_status(&self) -> bool {
        O::Object::DEFINITION.is_some()
    }
}

impl<O: Owner, P> Stored for TreeObject<O, P> {
    fn status(&self) -> Value {
        self.read.object.status().map_or(Value::Null, plain)
    }

    fn said(&self) -> &Status {
        // Of any status, whatever else it has, by way of text: nothing of the rest is kept or copied then.
        let read = || serde_json::from_slice(&serde_json::to_vec(self.read.object.status()?).ok()?).ok();
        self.read.said.get_or_init(|| read().unwrap_or_default())
    }
}

impl<O: Owner<Item = ()>, P: Provision<O> + Provisioner<Takes = ()>> Opened for TreeObject<O, P> {
    fn paused(&self) -> bool {
        self.read.object.paused()
    }

    fn period(&self) -> Result<Option<Duration>> {
        let Some(period) = &self.period else { return Ok(None) };
        catch(Closure::PollBy, || period(&self.read.object)).map_err(Error::unexpected)
    }

    fn named(&self) -> Vec<Pointer> {
        let object = &self.read.object;
        Pointer::all(O::Object::REFERENCES, object, object.metadata().namespace.as_deref())
    }

    fn run<'a>(&'a self, mut core: Core<'a>, direction: Direction) -> BoxFuture<'a, (Result<()>, Option<Value>)> {
        if direction == Direction::Up {
            core.planner = Some(self);
        }
        async move {
            let pass = Pass::new(&self.read.object, &*self.options, core);
            // A panic is caught where the status can still be read: what was set before it is written.
            let outcome = guarded(async {
                match direction {
                    Direction::Up => P::provision(&Context::root(&pass)).await,
                    Direction::Down => P::deprovision(&Teardown::root(&pass)).await,
                }
            })
            .await;
            let deferred = pass.core.delete_deferred(&outcome).await;
            (gravest([outcome, deferred]), pass.left_status())
        }
        .boxed()
    }
}

impl<O: Owner<Item = ()>, P: Provision<O> + Provisioner<Takes = ()>> Planner for TreeObject<O, P> {
    fn shape(&self) -> &'static Shape {
        &P::SHAPE
    }

    fn plan<'p>(&'p self, core: Core<'p>) -> BoxFuture<'p, Plan> {
        async move {
            let pass = Pass::new(&self.read.object, &*self.options, core);
            let outcome = match is_left_out::<P>(&pass.core) {
                true => Ok(()),
                false => guarded(P::provision(&Context::root(&pass))).await,
            };
            if let Err(error) = &outcome {
                tracing::debug!(%error, "the plan of the tree is not complete");
            }
            let claims = std::mem::take(&mut *pass.core.claims.lock());
            Plan { claims, complete: outcome.is_ok() }
        }
        .boxed()
    }
}
