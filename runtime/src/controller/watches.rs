//! Adds event sources to a controller: watches of other kinds, listers, channels, a predicate and resync periods.

use crate::{
    cache::ObjectKey,
    informer::lister::Lister,
    kind::{Typed, kind_of},
    managed::Owner,
    predicate::Predicate,
    reconcile::change::PrimaryPredicate,
    reference::NamespacedName,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::de::DeserializeOwned;
use std::{hash::Hash, sync::Arc, time::Duration};
use {
    super::{
        Controller,
        channel::Channel,
        mapped::{Enqueue, MappedWatch},
    },
    crate::controller::lister_source::{ListedMetadata, ListerSource, ReadLister},
};

impl<O: Owner> Controller<O> {
    /// Watches objects of another kind. When one is created, changed or deleted, the primaries that [`Enqueue`] maps it to are
    /// enqueued. An object that can't be decoded as `K` is logged and enqueues no primary. The role gets the right to list and
    /// watch the kind; a node that reads an object declares `get`. Default: the controller watches the children of its tree and
    /// the objects that specs reference.
    ///
    /// ```
    /// # use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
    /// # use opgen::{Enqueue, NamespacedName, Operator, prelude::*};
    /// # #[derive(Provisioner)]
    /// # #[provisioner(serial, owner = Foreign<Namespace>)]
    /// # struct Tree {
    /// #     #[provisioner(resource)]
    /// #     settings: ConfigMap,
    /// # }
    /// # impl Tree {
    /// #     fn settings(_: &Namespace) -> ConfigMap { ConfigMap::default() }
    /// # }
    /// # let operator =
    /// Operator::new("teams").controls_with::<Foreign<Namespace>, Tree>(|c| {
    ///     // Every change of a ConfigMap enqueues its Namespace.
    ///     c.watches(Enqueue::map(|config: &ConfigMap| {
    ///         config.metadata.namespace.clone().map(|name| NamespacedName { name, namespace: None })
    ///     }))
    /// });
    /// ```
    #[must_use]
    pub fn watches<K: Typed + DeserializeOwned>(mut self, enqueue: Enqueue<K>) -> Self {
        self.settings.watches.push(MappedWatch::new(enqueue));
        self
    }

    /// Watches objects of another kind and fills a lister with the projection `keep` of each. The nodes get the lister from the
    /// options and read it without a call. When the projection of an object changes, or the object is created or deleted, the
    /// primaries that `map` names are enqueued; so a change outside the projection, such as a heartbeat, costs no pass. `map` is
    /// called with the old and with the new projection. A name without a namespace is in the namespace of the object.
    #[must_use]
    pub fn lister<K, V, X, N>(
        mut self,
        lister: &Lister<V, X>,
        keep: impl Fn(&K) -> V + Send + Sync + 'static,
        map: impl Fn(&ObjectKey, &V) -> N + Send + Sync + 'static,
    ) -> Self
    where
        K: Typed + DeserializeOwned,
        V: PartialEq + Send + Sync + 'static,
        X: Clone + Eq + Hash + Send + Sync + 'static,
        N: IntoIterator<Item = NamespacedName>,
    {
        let project = move |json: &[u8]| Ok(keep(&serde_json::from_slice::<K>(json)?));
        self.settings.listers.push(ListerSource::new(kind_of::<K>(), lister.clone(), project, map));
        self
    }

    /// Declares that the nodes read a lister that another controller of the operator [fills](Controller::lister). The workers of
    /// this controller start when the first list of the lister is complete, or when there can be none because the kind is missing
    /// or forbidden. Changes of the lister start no pass of this controller. Default: a controller waits only for the listers that it
    /// fills, and [`Lister::read`] of another lister yields `CacheNotSynced` until that is filled.
    ///
    /// ```
    /// # use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Node, ResourceQuota};
    /// # use opgen::{NamespacedName, Operator, Lister, prelude::*};
    /// # #[derive(Provisioner)]
    /// # #[provisioner(serial, owner = Foreign<Namespace>)]
    /// # struct Quotas {
    /// #     #[provisioner(resource)]
    /// #     quota: ResourceQuota,
    /// # }
    /// # impl Quotas {
    /// #     fn quota(_: &Namespace) -> ResourceQuota { ResourceQuota::default() }
    /// # }
    /// # #[derive(Provisioner)]
    /// # #[provisioner(serial, owner = Foreign<Node>)]
    /// # struct Reports {
    /// #     #[provisioner(resource)]
    /// #     report: ConfigMap,
    /// # }
    /// # impl Reports {
    /// #     fn report(_: &Node) -> ConfigMap { ConfigMap::default() }
    /// # }
    /// let nodes = Lister::<()>::default();
    /// # let operator =
    /// Operator::new("teams")
    ///     .controls_with::<Foreign<Namespace>, Quotas>(|c| {
    ///         c.metadata_lister::<Node, _, _, _>(&nodes, |_| (), |_, ()| [NamespacedName::cluster("default")])
    ///     })
    ///     .controls_with::<Foreign<Node>, Reports>(|c| c.reads(&nodes))
    /// # ;
    /// ```
    #[must_use]
    pub fn reads<V, X>(mut self, lister: &Lister<V, X>) -> Self
    where
        V: Send + Sync + 'static,
        X: Send + Sync + 'static,
    {
        self.settings.read_listers.push(ReadLister::new(lister));
        self
    }

    /// Adds a lister like [`Controller::lister`], with the projection `keep` of the metadata; `map` names the primaries that a change
    /// of the projection enqueues. The operator requests and decodes only the metadata.
    ///
    /// ```
    /// # use k8s_openapi::api::core::v1::{Namespace, Node, ResourceQuota};
    /// # use opgen::{NamespacedName, Operator, Lister, prelude::*};
    /// # #[derive(Provisioner)]
    /// # #[provisioner(serial, owner = Foreign<Namespace>)]
    /// # struct Tree {
    /// #     #[provisioner(resource)]
    /// #     quota: ResourceQuota,
    /// # }
    /// # impl Tree {
    /// #     fn quota(_: &Namespace) -> ResourceQuota { ResourceQuota::default() }
    /// # }
    /// # let operator =
    /// Operator::new("teams").controls_with::<Foreign<Namespace>, Tree>(|c| {
    ///     // Only which Nodes exist: the projection is empty.
    ///     let nodes = Lister::<()>::default();
    ///     c.metadata_lister::<Node, _, _, _>(&nodes, |_| (), |_, ()| [NamespacedName::cluster("default")])
    /// });
    /// ```
    #[must_use]
    pub fn metadata_lister<K, V, X, N>(
        mut self,
        lister: &Lister<V, X>,
        keep: impl Fn(&ObjectMeta) -> V + Send + Sync + 'static,
        map: impl Fn(&ObjectKey, &V) -> N + Send + Sync + 'static,
    ) -> Self
    where
        K: Typed,
        V: PartialEq + Send + Sync + 'static,
        X: Clone + Eq + Hash + Send + Sync + 'static,
        N: IntoIterator<Item = NamespacedName>,
    {
        let project = move |json: &[u8]| Ok(keep(&serde_json::from_slice::<ListedMetadata>(json)?.metadata));
        self.settings
            .listers
            .push(ListerSource::new(kind_of::<K>(), lister.clone(), project, map).with_metadata_only());
        self
    }

    /// Enqueues the primaries that are pushed into a channel, for events from outside Kubernetes; see [`Channel`].
    #[must_use]
    pub fn channel(mut self, channel: &Channel) -> Self {
        self.settings.channels.push(channel.subscribe());
        self
    }

    /// Decides which updates of a primary start a pass. Its creation, its deletion, its re-creation under the same name, a change
    /// of a finalizer that matters to the controller, and the annotation [`RECONCILE_ANNOTATION`](crate::controller::RECONCILE_ANNOTATION) always do. Default:
    /// [`Predicate::generation`] for a kind of your own; for a foreign kind every change outside its status.
    #[must_use]
    pub fn when(mut self, predicate: Predicate<O::Object>) -> Self {
        self.settings.predicate = Some(PrimaryPredicate::new(predicate));
        self
    }

    /// Sets a resync period like [`Controller::resync_period`], with a period for each object. For an object with `None` the
    /// period of the controller holds.
    #[must_use]
    pub fn resync_period_by(mut self, period: impl Fn(&O::Object) -> Option<Duration> + Send + Sync + 'static) -> Self {
        self.resync_period = Some(Arc::new(period));
        self
    }
}
