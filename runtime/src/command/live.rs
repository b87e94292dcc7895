//! How an object fares in the cluster: its tree, with what each node is made of there.
//!
//! Everything is read with the rights of who asks, and what needs no more than metadata is not read further: the content of
//! a Secret doesn't even come over the wire.

use crate::{
    cache::{Header, Uid},
    client::{CallError, Client, Target},
    command::{
        connect::Connection,
        lookup::{ControlledKind, LiveError},
    },
    engine::{
        child::header_of,
        desired::{MANAGED_BY, NODE},
    },
    kind::Kind,
    manager::operator::Operator,
    manifest::{Controlled, Drawing, Drawn, Found, NodeState, Project, Sight},
    readiness::{Readiness, is_ready_once_there, readiness},
    shape::{Count, Edge, Node, Path, key_below},
};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Reads an object and all it is made of.
pub(crate) async fn look(
    operator: &Operator,
    project: &Project,
    (kind, name): (&str, &str),
    namespace: Option<&str>,
    connection: Connection,
) -> Result<Drawing, LiveError> {
    let place = ControlledKind::reach(project, kind, namespace, connection).await?;
    let owner = place.object(name).await?;
    drawing(place.client, operator, place.controlled, &owner).await
}

/// The tree of an object that is read, and all it is made of.
pub(crate) async fn drawing(
    client: Client,
    operator: &Operator,
    controlled: &Controlled,
    owner: &Value,
) -> Result<Drawing, LiveError> {
    let mut drawing = Drawing::of(controlled);
    let namespace = owner["metadata"]["namespace"].as_str().map(str::to_owned);
    let cluster = Cluster { client, operator: &operator.name, namespace };
    let children = cluster.children(&drawing.root, owner).await?;
    drawing.object = Some(sight(&controlled.kind, owner));
    let is_ending = !owner["metadata"]["deletionTimestamp"].is_null();
    fill(&mut drawing.root, "", Terms { is_ending, is_certain: true }, &children);
    Ok(drawing)
}

fn sight(kind: &Kind, owner: &Value) -> Sight {
    let (state, why) = state_of(kind, owner);
    let conditions = owner["status"]["conditions"].as_array().cloned().unwrap_or_default();
    let text = |name: &str| owner["metadata"][name].as_str().map(str::to_owned);
    Sight { namespace: text("namespace"), name: text("name").unwrap_or_default(), state, why, conditions }
}

pub(crate) fn state_of(kind: &Kind, object: &Value) -> (NodeState, String) {
    if !object["metadata"]["deletionTimestamp"].is_null() {
        return (NodeState::Ending, String::new());
    }
    let generation = object["metadata"]["generation"].as_i64().unwrap_or(0);
    match readiness(kind, generation, &object["spec"], &object["status"]) {
        Readiness::Ready => (NodeState::Ready, String::new()),
        Readiness::NotReady(why) => (NodeState::NotReady, why),
        Readiness::HeldUp(why) => (NodeState::HeldUp, why),
    }
}

/// The children of an owner: by the path of their node, and the kinds that can't be seen.
#[derive(Debug, Default)]
struct LiveChildren {
    by_node: BTreeMap<String, Vec<Found>>,
    unseen: BTreeMap<Kind, Unseen>,
}

#[derive(Clone, Copy, Debug)]
enum Unseen {
    Forbidden,
    NotServed,
}

struct Cluster<'a> {
    client: Client,
    operator: &'a str,
    namespace: Option<String>,
}

impl Cluster<'_> {
    async fn children(&self, root: &Drawn, owner: &Value) -> Result<LiveChildren, LiveError> {
        let uid = Uid::from(owner["metadata"]["uid"].as_str().unwrap_or_default());
        let mut children = LiveChildren::default();
        let mut kinds = BTreeSet::new();
        root.shape.walk(&mut |stop| {
            kinds.extend(stop.shape.applied());
        });
        for kind in kinds {
            let list = match self.list(&kind).await {
                Ok(list) => list,
                Err(error) if error.is_forbidden() => {
                    children.unseen.insert(kind, Unseen::Forbidden);
                    continue;
                }
                Err(error) if error.is_not_found() => {
                    children.unseen.insert(kind, Unseen::NotServed);
                    continue;
                }
                Err(error) => return Err(LiveError::Call(Box::new(error))),
            };
            list.iter().for_each(|item| children.add(&kind, item, &uid));
        }
        Ok(children)
    }

    /// The operator's objects of a kind: all, or where that is not allowed those beside the owner.
    async fn list(&self, kind: &Kind) -> Result<Vec<Value>, CallError> {
        let client = match is_ready_once_there(kind) {
            true => self.client.of_metadata(),
            false => self.client.clone(),
        };
        let labels = format!("{MANAGED_BY}={}", self.operator);
        let all = client.list(Target { kind, namespace: None, name: "" }, Some(&labels)).await;
        match (all, self.namespace.as_deref()) {
            (Err(error), Some(namespace)) if kind.namespaced && error.is_forbidden() => {
                client.list(Target { kind, namespace: Some(namespace), name: "" }, Some(&labels)).await
            }
            (all, _) => all,
        }
    }
}

impl LiveChildren {
    fn add(&mut self, kind: &Kind, object: &Value, owner: &Uid) {
        let Ok(header) = header_of(object.to_string().as_bytes()) else { return };
        if !header.owners.iter().any(|own| own.uid == *owner) {
            return;
        }
        let (state, why) = state_of(kind, object);
        let found = found(kind, &header, state, why);
        self.by_node.entry(header.annotations.get(NODE).unwrap_or_default().to_owned()).or_default().push(found);
    }

    /// The keys of the items of a node below `each`.
    fn keys(&self, node: &str) -> BTreeSet<String> {
        self.by_node.keys().filter_map(|path| key_below(node, path)).collect()
    }
}

fn found(kind: &Kind, header: &Header, state: NodeState, why: String) -> Found {
    let (namespace, name) = (header.key.namespace().map(str::to_owned), header.key.name().to_owned());
    Found { kind: kind.clone(), namespace, name, state, why }
}

/// What is known of a node's being wanted.
#[derive(Clone, Copy)]
struct Terms {
    is_ending: bool,
    /// No predicate on the way from the root.
    is_certain: bool,
}

/// Fills in the state of a node at its path in the cluster, which has the keys of items, and of all below it.
fn fill(node: &mut Drawn, path: &str, terms: Terms, children: &LiveChildren) {
    match node.shape.node {
        Node::Custom => {}
        Node::Resource | Node::Manifest(_) => fill_resource(node, path, terms, children),
        Node::Group { .. } => {
            let below = std::mem::take(&mut node.children);
            for child in below {
                node.children.extend(filled(child, path, terms, children));
            }
            // A group whose nodes are all by hand has no state to show; one that lacks something is not itself missing.
            let gravest = node.children.iter().filter_map(|child| child.state).max();
            node.state = gravest.map(|state| if state == NodeState::Missing { NodeState::NotReady } else { state });
        }
    }
}

/// A child, or one for each item that something is there of.
fn filled(mut child: Drawn, path: &str, terms: Terms, children: &LiveChildren) -> Vec<Drawn> {
    let edge = child.edge;
    let path = if path.is_empty() { child.name.clone() } else { format!("{path}/{}", child.name) };
    let has = |asked: fn(&Edge) -> &str| edge.is_some_and(|edge| !asked(edge).is_empty());
    let terms = Terms { is_certain: terms.is_certain && !has(|edge| edge.when), ..terms };
    if !has(|edge| edge.each) {
        fill(&mut child, &path, terms, children);
        return vec![child];
    }
    let keys = children.keys(&path);
    if keys.is_empty() {
        child.state = Some(NodeState::Absent);
        child.children.clear();
        return vec![child];
    }
    let of_key = |key: &String| {
        let mut item = child.clone();
        item.name = format!("{}[{key}]", child.name);
        fill(&mut item, &Path::ROOT.child(&path).keyed(key).to_string(), terms, children);
        item
    };
    keys.iter().map(of_key).collect()
}

fn fill_resource(node: &mut Drawn, path: &str, terms: Terms, children: &LiveChildren) {
    node.objects = children.by_node.get(path).cloned().unwrap_or_default();
    node.objects.sort_by(|one, other| (&one.namespace, &one.name).cmp(&(&other.namespace, &other.name)));
    let worst = node.objects.iter().map(|object| object.state).max();
    let unseen = node.shape.applied().iter().find_map(|kind| children.unseen.get(kind));
    let options = node.edge.map(|edge| (edge.resource, edge.count));
    let may_lack = options.is_some_and(|(options, count)| options.retired || count != Count::One);
    let if_api = options.is_some_and(|(options, _)| options.if_api);
    let (state, why) = match (worst, unseen) {
        (Some(worst), _) => (worst, ""),
        (None, Some(Unseen::Forbidden)) => (NodeState::Unknown, "you may not list them"),
        (None, Some(Unseen::NotServed)) if if_api => (NodeState::Absent, "its API is not there"),
        (None, Some(Unseen::NotServed)) => (NodeState::Missing, "its API is not there"),
        (None, None) if terms.is_ending || may_lack || !terms.is_certain => (NodeState::Absent, ""),
        (None, None) => (NodeState::Missing, ""),
    };
    (node.state, node.why) = (Some(state), why.to_owned());
}

#[cfg(test)]
mod tests;
