//! `TreeReconciler` runs a typed tree of provisioners for the untyped reconcile loop.

use crate::{
    cache::{Encoded, Entry, ObjectKey, ReadError, Reader},
    condition::Status,
    context::{Context, Teardown},
    engine::{
        pass::{Pass, PassCore, Planner, status_value},
        plan::Plan,
    },
    error::{Error, Result},
    managed::{Managed, Owner},
    panic::{Closure, catch},
    provisioner::{
        Provision,
        group::is_skipped,
        schedule::{catch_panic, worst_outcome},
    },
    reconcile::verdict::Direction,
    reconcile::{
        reconciler::{DecodedPrimary, Reconciler, TreeResult},
        stored_status::StoredStatus,
    },
    reference::Pointer,
    shape::{Provisioner, Shape},
    versions::FieldProblem,
};
use futures::future::{BoxFuture, FutureExt};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;
use std::{
    marker::PhantomData,
    sync::{Arc, OnceLock},
    time::Duration,
};

/// Runs the tree `P` for objects of `O`.
pub(crate) struct TreeReconciler<O: Owner, P> {
    pub(crate) reader: Reader<DecodedObject<O::Object>>,
    pub(crate) options: Arc<O::Options>,
    pub(crate) resync_period: Option<ResyncPeriodFn<O::Object>>,
    pub(crate) tree: PhantomData<fn() -> P>,
}

/// A decoded object, with its decoded conditions.
#[derive(Deserialize)]
#[serde(transparent, bound = "K: DeserializeOwned")]
pub(crate) struct DecodedObject<K> {
    object: K,
    /// The conditions and the observed generation, decoded at their first use. Passes that change nothing compare only these and
    /// not the rest of the status.
    #[serde(skip)]
    conditions: OnceLock<Status>,
}

/// A decoded primary with all that a pass of its tree needs.
struct TreePrimary<O: Owner, P> {
    decoded: Arc<DecodedObject<O::Object>>,
    options: Arc<O::Options>,
    resync_period: Option<ResyncPeriodFn<O::Object>>,
    tree: PhantomData<fn() -> P>,
}

/// The user's function for the resync period of an object (`Controller::resync_period_by`).
pub(crate) type ResyncPeriodFn<K> = Arc<dyn Fn(&K) -> Option<Duration> + Send + Sync>;

impl<O: Owner<Item = ()>, P: Provision<O> + Provisioner<Inputs = ()>> Reconciler for TreeReconciler<O, P> {
    /// Decodes an object into its Rust type, or returns the cached decoding, with the options of the controller for its tree.
    fn decode(&self, entry: &Entry<Encoded>) -> Result<Box<dyn DecodedPrimary + '_>, ReadError> {
        let (decoded, options) = (self.reader.get(entry)?, self.options.clone());
        let resync_period = self.resync_period.clone();
        Ok(Box::new(TreePrimary::<O, P> { decoded, options, resync_period, tree: PhantomData }))
    }

    fn forget(&self, key: &ObjectKey) {
        self.reader.forget(key);
    }

    fn conversion_problems(&self, object: &Value) -> Vec<FieldProblem> {
        O::Object::VERSIONS.map(|versions| versions().problems(object)).unwrap_or_default()
    }

    fn shape(&self) -> &'static Shape {
        &P::SHAPE
    }

    fn owns_status(&self) -> bool {
        O::Object::DEFINITION.is_some()
    }
}

impl<O: Owner, P> StoredStatus for TreePrimary<O, P> {
    fn status(&self) -> Value {
        self.decoded.object.status().map_or(Value::Null, status_value)
    }

    /// Returns the stored conditions and observed generation, decoded at the first call; empty if they can't be decoded.
    fn conditions(&self) -> &Status {
        // The user defines the type of the status, so the status is encoded as JSON, from which only the conditions are decoded.
        let decode = || serde_json::from_slice(&serde_json::to_vec(self.decoded.object.status()?).ok()?).ok();
        self.decoded.conditions.get_or_init(|| decode().unwrap_or_default())
    }
}

impl<O: Owner<Item = ()>, P: Provision<O> + Provisioner<Inputs = ()>> DecodedPrimary for TreePrimary<O, P> {
    fn paused(&self) -> bool {
        self.decoded.object.paused()
    }

    /// Returns the result of the user's function for the resync period of this object; `None` if there is no such function.
    fn resync_period(&self) -> Result<Option<Duration>> {
        let Some(resync_period) = &self.resync_period else { return Ok(None) };
        catch(Closure::ResyncPeriod, || resync_period(&self.decoded.object)).map_err(Error::unexpected)
    }

    fn references(&self) -> Vec<Pointer> {
        let object = &self.decoded.object;
        Pointer::all(O::Object::REFERENCES, object, object.metadata().namespace.as_deref())
    }

    /// Provisions or deprovisions the tree, then deletes the objects whose deletion the nodes have deferred and restores lost labels.
    /// Returns the worst outcome of these steps, the changed status and the side effects.
    fn run_tree<'a>(&'a self, mut core: PassCore<'a>, direction: Direction) -> BoxFuture<'a, TreeResult> {
        // In a teardown no node wants an object, so there is nothing to plan.
        if direction == Direction::Up {
            core.planner = Some(self);
        }
        async move {
            let pass = Pass::new(&self.decoded.object, &*self.options, core);
            // The panic is caught here, where the status is accessible, so that the fields set before it are written.
            let outcome = catch_panic(async {
                match direction {
                    Direction::Up => P::provision(&Context::root(&pass)).await,
                    Direction::Down => P::deprovision(&Teardown::root(&pass)).await,
                }
            })
            .await;
            let deferred = pass.core.delete_deferred(&outcome).await;
            let restored = pass.core.restore_labels().await;
            TreeResult {
                outcome: worst_outcome([outcome, deferred, restored]),
                status: pass.changed_status(),
                side_effects: pass.core.into_side_effects(),
            }
        }
        .boxed()
    }
}

impl<O: Owner<Item = ()>, P: Provision<O> + Provisioner<Inputs = ()>> Planner for TreePrimary<O, P> {
    fn shape(&self) -> &'static Shape {
        &P::SHAPE
    }

    fn path(&self) -> String {
        String::new()
    }

    /// Runs the build functions of the tree in a pass that makes no calls, and returns which objects the nodes want (claim). The plan is
    /// complete if all build functions succeed.
    fn plan<'p>(&'p self, core: PassCore<'p>) -> BoxFuture<'p, Plan> {
        async move {
            let pass = Pass::new(&self.decoded.object, &*self.options, core);
            let outcome = match is_skipped::<P>(&pass.core) {
                true => Ok(()),
                false => catch_panic(P::provision(&Context::root(&pass))).await,
            };
            if let Err(error) = &outcome {
                tracing::debug!(%error, "the plan of the tree is not complete");
            }
            let claims = std::mem::take(&mut *pass.core.claims.lock());
            Plan { claims, complete: outcome.is_ok(), reads_listers: false }
        }
        .boxed()
    }
}
