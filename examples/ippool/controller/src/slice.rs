//! The controller of networks: divides the range of a network among the nodes.

mod config;
mod division;
mod slots;

use ippool_api::{NetworkAttachmentDefinition, NodeSlicePool, NodeSlicePoolSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::api::ObjectMeta;
use opgen::{Lister, NamespacedName, ObjectKey, patch::Snapshot, prelude::*};
use serde_json::json;

use crate::World;
use config::{Config, Wanted};
use slots::arrange;

pub(crate) use config::{Network, network};

/// Creates and updates the NodeSlicePool of a network.
#[derive(Debug, Provisioner)]
#[provisioner(access(NodeSlicePool: get, create, patch; NodeSlicePool/status: update))]
pub struct SliceKeeper;

type Cx<'a> = Context<'a, For<Foreign<NetworkAttachmentDefinition>, World>, SliceKeeper>;

impl Provision<For<Foreign<NetworkAttachmentDefinition>, World>> for SliceKeeper {
    async fn provision(cx: &Cx<'_>) -> Result<()> {
        let (nad, world) = (&cx.object().0, cx.options());
        world.metrics.passed_network();
        let wanted = match network(nad).config {
            Config::Elsewhere => return Ok(()),
            Config::Malformed(why) => return Err(Error::user_action("InvalidConfig", why)),
            Config::Wanted(wanted) => wanted,
        };
        let slices = division::slices(&wanted.range, &wanted.slice_size);
        let slices = slices.map_err(|why| Error::user_action("InvalidRange", why))?;
        is_agreed(world, nad, &wanted)?;
        let mut nodes: Vec<String> =
            world.nodes.read(|nodes| nodes.iter().map(|(_, name, ())| name.to_owned()).collect())?;
        nodes.sort_unstable();
        let namespace = nad.metadata.namespace.as_deref().unwrap_or_default();
        let seen = world.slices.read(|pools| pools.get(namespace, &wanted.pool).cloned())?;
        let settled = seen.is_some_and(|seen| {
            let mut same = seen.clone();
            arrange(&mut same, &wanted, &slices, &nodes, cx.now());
            is_owned(&seen, nad) && same == seen
        });
        if settled { Ok(()) } else { write(cx, &wanted, &slices, &nodes).await }
    }

    async fn deprovision(_: &Teardown<'_, For<Foreign<NetworkAttachmentDefinition>, World>, Self>) -> Result<()> {
        Ok(())
    }
}

/// Updates the pool after a live read, since the lister may be older.
async fn write(cx: &Cx<'_>, wanted: &Wanted, slices: &[String], nodes: &[String]) -> Result<()> {
    let nad = &cx.object().0;
    let (before, created) = match cx.find::<NodeSlicePool>(&wanted.pool).await? {
        Some(pool) => (own(cx, pool, nad).await?, false),
        None => (create(cx, wanted, nad).await?, true),
    };
    let snapshot = Snapshot::of(&before)?;
    let mut pool = before.clone();
    let change = arrange(&mut pool, wanted, slices, nodes, cx.now());
    if created {
        change.is_created(&mut pool, cx.now());
    }
    cx.write(snapshot, &pool).await?;
    if change.spec {
        cx.event(
            EventType::Normal,
            "SpecUpdated",
            &format!("NodeSlicePool {} has another range or slice size", wanted.pool),
        );
    }
    for node in &change.without_slice {
        let message = format!("NodeSlicePool {} has no free slice for node {node}", wanted.pool);
        cx.event(EventType::Warning, "PoolFull", &message);
    }
    Ok(())
}

async fn create(cx: &Cx<'_>, wanted: &Wanted, nad: &NetworkAttachmentDefinition) -> Result<NodeSlicePool> {
    let spec = NodeSlicePoolSpec { range: wanted.range.clone(), slice_size: wanted.slice_size.clone() };
    let mut pool = NodeSlicePool::new(&wanted.pool, spec);
    let owner = OwnerReference { controller: Some(true), block_owner_deletion: Some(true), ..reference_to(nad) };
    pool.metadata = ObjectMeta { owner_references: Some(vec![owner]), ..pool.metadata };
    let pool = cx.create(&pool).await?;
    cx.event(EventType::Normal, "Created", &format!("NodeSlicePool {} was created", wanted.pool));
    Ok(pool)
}

/// Adds this network to the owners, so that the pool is deleted with the last of them.
async fn own(cx: &Cx<'_>, pool: NodeSlicePool, nad: &NetworkAttachmentDefinition) -> Result<NodeSlicePool> {
    if is_owned(&pool, nad) {
        return Ok(pool);
    }
    let metadata = &pool.metadata;
    let guard = json!({"op": "test", "path": "/metadata/resourceVersion", "value": metadata.resource_version});
    let owner = reference_to(nad);
    let add = match metadata.owner_references.as_deref() {
        None | Some([]) => json!({"op": "add", "path": "/metadata/ownerReferences", "value": [owner]}),
        Some(_) => json!({"op": "add", "path": "/metadata/ownerReferences/-", "value": owner}),
    };
    cx.patch_json(metadata.name.as_deref().unwrap_or_default(), json!([guard, add])).await
}

fn is_owned(pool: &NodeSlicePool, nad: &NetworkAttachmentDefinition) -> bool {
    let owners = pool.metadata.owner_references.as_deref().unwrap_or_default();
    owners.iter().any(|owner| Some(&owner.uid) == nad.metadata.uid.as_ref())
}

fn reference_to(nad: &NetworkAttachmentDefinition) -> OwnerReference {
    OwnerReference {
        api_version: "k8s.cni.cncf.io/v1".to_owned(),
        kind: "NetworkAttachmentDefinition".to_owned(),
        name: nad.metadata.name.clone().unwrap_or_default(),
        uid: nad.metadata.uid.clone().unwrap_or_default(),
        ..OwnerReference::default()
    }
}

/// Checks that all networks of this name in the namespace have the same range and slice size.
fn is_agreed(world: &World, nad: &NetworkAttachmentDefinition, wanted: &Wanted) -> Result<()> {
    let home = nad.metadata.namespace.as_deref().unwrap_or_default();
    let other = world.networks.read(|networks| {
        let mut same = networks.find(&wanted.pool).filter(|(namespace, ..)| *namespace == home);
        let differs = |network: &Network| {
            let other = network.wanted();
            Some(&network.uid) != nad.metadata.uid.as_ref() && other.is_some_and(|other| !other.agrees_with(wanted))
        };
        same.find(|(.., network)| differs(network)).map(|(namespace, name, _)| format!("{namespace}/{name}"))
    })?;
    let Some(other) = other else { return Ok(()) };
    let sentence = format!("{other} has another range or slice size for network {}", wanted.pool);
    Err(Error::blocked("NetworkNameTaken", sentence))
}

/// The networks of the same NodeSlicePool, including this one.
pub(crate) fn networks_beside(
    networks: &Lister<Network, String>,
    key: &ObjectKey,
    network: &Network,
) -> Vec<NamespacedName> {
    let (Some(pool), Some(home)) = (network.pool_name(), key.namespace()) else { return Vec::new() };
    let beside = networks.read(|all| {
        let here = all.find(&pool).filter(|(namespace, ..)| *namespace == home);
        here.map(|(namespace, name, _)| named(namespace, name)).collect()
    });
    beside.unwrap_or_default()
}

/// All networks, or none before the first list: each network gets a first pass anyway.
pub(crate) fn all_networks(networks: &Lister<Network, String>) -> Vec<NamespacedName> {
    networks.read(|all| all.iter().map(|(namespace, name, _)| named(namespace, name)).collect()).unwrap_or_default()
}

/// The networks that own a pool.
pub(crate) fn networks_of(pool: &NodeSlicePool) -> Vec<NamespacedName> {
    let owners = pool.metadata.owner_references.iter().flatten();
    let networks = owners.filter(|owner| owner.kind == "NetworkAttachmentDefinition");
    networks.map(|owner| NamespacedName { name: owner.name.clone(), namespace: None }).collect()
}

fn named(namespace: &str, name: &str) -> NamespacedName {
    NamespacedName { name: name.to_owned(), namespace: Some(namespace.to_owned()) }
}
