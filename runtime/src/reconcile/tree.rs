//! A tree as the loop sees it.

use super::{Opened, Reconciler};
use crate::{
    cache::{Encoded, Entry, ObjectKey, ReadError, Reader},
    client::strip_nulls,
    condition::Direction,
    context::{Context, Teardown},
    error::Result,
    managed::{Managed, Owner},
    pass::{Core, Pass},
    provisioner::{Provision, Provisioner, order::guarded, shape::Shape},
    reference::Named,
};
use futures::future::{BoxFuture, FutureExt};
use parking_lot::Mutex;
use serde_json::Value;
use std::{marker::PhantomData, sync::Arc};

/// The tree `P` for objects of `O`.
pub(crate) struct Tree<O: Owner, P> {
    pub(crate) reader: Reader<O::Object>,
    pub(crate) options: Arc<O::Options>,
    pub(crate) tree: PhantomData<fn() -> P>,
}

struct Object<O: Owner, P> {
    object: Arc<O::Object>,
    options: Arc<O::Options>,
    tree: PhantomData<fn() -> P>,
}

impl<O: Owner<Item = ()>, P: Provision<O> + Provisioner<Takes = ()>> Reconciler for Tree<O, P> {
    fn open(&self, entry: &Entry<Encoded>) -> Result<Box<dyn Opened + '_>, ReadError> {
        let (object, options) = (self.reader.get(entry)?, self.options.clone());
        Ok(Box::new(Object::<O, P> { object, options, tree: PhantomData }))
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

impl<O: Owner<Item = ()>, P: Provision<O> + Provisioner<Takes = ()>> Opened for Object<O, P> {
    fn paused(&self) -> bool {
        self.object.paused()
    }

    fn status(&self) -> Value {
        self.object.status().map_or(Value::Null, plain)
    }

    fn named(&self) -> Vec<Named> {
        Named::all(O::Object::REFERENCES, &*self.object, self.object.metadata().namespace.as_deref())
    }

    fn run<'a>(&'a self, core: Core<'a>, direction: Direction) -> BoxFuture<'a, (Result<()>, Value)> {
        async move {
            let status = Mutex::new(self.object.status().cloned().unwrap_or_default());
            let pass = Pass { object: &*self.object, options: &*self.options, status, core };
            // A panic is caught where the status can still be read: what was set before it is written.
            let outcome = guarded(async {
                match direction {
                    Direction::Up => P::provision(&Context::root(&pass)).await,
                    Direction::Down => P::deprovision(&Teardown::root(&pass)).await,
                }
            })
            .await;
            (outcome, plain(&pass.status.into_inner()))
        }
        .boxed()
    }
}

/// A status as it is applied and compared.
pub(crate) fn plain(status: &impl serde::Serialize) -> Value {
    strip_nulls(serde_json::to_value(status).unwrap_or_default())
}
