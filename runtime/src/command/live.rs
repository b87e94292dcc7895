//! Reads the children of an owner from the cluster, and fills their state into a diagram of the owner's tree.
//!
//! It reads with the rights of the user, and reads only metadata where that is enough: it never transfers the content of a
//! Secret.

use crate::{
    cache::{Header, Uid},
    client::{CallError, Client, Target},
    command::{
        connect::ObjectConnection,
        lookup::{ControlledKind, LookupError},
    },
    engine::{
        child::child_header,
        desired::{MANAGED_BY_LABEL, NODE_ANNOTATION},
    },
    kind::Kind,
    manager::operator::Operator,
    manifest::{Diagram, DiagramNode, DiagramObject, DiagramOwner, KindDescription, NodeState, Project},
    readiness::{Readiness, is_ready_once_created, readiness},
    shape::{Cardinality, Edge, Node, Path, key_below},
};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Reads the object of a kind and a name with its children, and returns the diagram of its tree with the state of each node.
pub(crate) async fn read_diagram(
    operator: &Operator,
    project: &Project,
    (kind, name): (&str, &str),
    namespace: Option<&str>,
    connection: &ObjectConnection,
) -> Result<Diagram, LookupError> {
    let target = ControlledKind::connect(operator, project, kind, namespace, connection).await?;
    let owner = target.object(name).await?;
    live_diagram(target.client, operator, target.controlled, &owner).await
}

/// Lists the children of `owner`, which the caller has read, and returns the diagram of its tree with the state of each node.
pub(crate) async fn live_diagram(
    client: Client,
    operator: &Operator,
    controlled: &KindDescription,
    owner: &Value,
) -> Result<Diagram, LookupError> {
    let mut diagram = Diagram::of(controlled);
    let namespace = owner["metadata"]["namespace"].as_str().map(str::to_owned);
    let reader = ChildReader { client, operator: &operator.name, namespace };
    let children = reader.children(&diagram.root, owner).await?;
    diagram.object = Some(diagram_owner(&controlled.kind, owner));
    let is_being_deleted = !owner["metadata"]["deletionTimestamp"].is_null();
    fill_state(&mut diagram.root, "", Expectation { is_being_deleted, is_unconditional: true }, &children);
    Ok(diagram)
}

/// Returns the name, the state and the conditions of the owner.
fn diagram_owner(kind: &Kind, owner: &Value) -> DiagramOwner {
    let (state, why) = state_of(kind, owner);
    let conditions = owner["status"]["conditions"].as_array().cloned().unwrap_or_default();
    let text = |name: &str| owner["metadata"][name].as_str().map(str::to_owned);
    DiagramOwner {
        namespace: text("namespace"),
        name: text("name").unwrap_or_default(),
        state,
        message: why,
        conditions,
    }
}

/// Returns the state of an object, and the reason if it is not ready.
pub(crate) fn state_of(kind: &Kind, object: &Value) -> (NodeState, String) {
    if !object["metadata"]["deletionTimestamp"].is_null() {
        return (NodeState::Deleting, String::new());
    }
    let generation = object["metadata"]["generation"].as_i64().unwrap_or(0);
    match readiness(kind, generation, &object["spec"], &object["status"]) {
        Readiness::Ready => (NodeState::Ready, String::new()),
        Readiness::NotReady(why) => (NodeState::NotReady, why),
        Readiness::HeldUp(why) => (NodeState::HeldUp, why),
    }
}

/// The children of an owner by the path of their node, and the kinds that can't be listed.
#[derive(Debug, Default)]
struct LiveChildren {
    by_node: BTreeMap<String, Vec<DiagramObject>>,
    list_failures: BTreeMap<Kind, ListFailure>,
}

/// The reason why a kind can't be listed.
#[derive(Clone, Copy, Debug)]
enum ListFailure {
    Forbidden,
    NotServed,
}

/// Lists the operator's children for one owner.
struct ChildReader<'a> {
    client: Client,
    operator: &'a str,
    namespace: Option<String>,
}

impl ChildReader<'_> {
    /// Lists the children of `owner` in the operator's cluster, of all kinds that the nodes of its tree apply. If the user may not list a
    /// kind, or the API server does not serve it, the result has a list failure for the kind.
    async fn children(&self, root: &DiagramNode, owner: &Value) -> Result<LiveChildren, LookupError> {
        let uid = Uid::from(owner["metadata"]["uid"].as_str().unwrap_or_default());
        let mut children = LiveChildren::default();
        let mut kinds = BTreeSet::new();
        root.shape.walk(&mut |visit| {
            kinds.extend(visit.local_kinds());
        });
        for kind in kinds {
            let list = match self.list(&kind).await {
                Ok(list) => list,
                Err(error) if error.is_forbidden() => {
                    children.list_failures.insert(kind, ListFailure::Forbidden);
                    continue;
                }
                Err(error) if error.is_not_found() => {
                    children.list_failures.insert(kind, ListFailure::NotServed);
                    continue;
                }
                Err(error) => return Err(LookupError::Call(Box::new(error))),
            };
            list.iter().for_each(|item| children.add(&kind, item, &uid));
        }
        Ok(children)
    }

    /// Lists the operator's objects of a kind: in all namespaces, or in the owner's namespace if the user may not list all.
    async fn list(&self, kind: &Kind) -> Result<Vec<Value>, CallError> {
        // The metadata is enough for objects that are ready once they exist, such as Secrets.
        let client = match is_ready_once_created(kind) {
            true => self.client.metadata_client(),
            false => self.client.clone(),
        };
        let labels = format!("{MANAGED_BY_LABEL}={}", self.operator);
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
    /// Adds an object under the path of its node, which an annotation of the object names. Skips an object whose owner references
    /// and annotations do not name `owner`, or whose metadata can't be parsed.
    fn add(&mut self, kind: &Kind, object: &Value, owner: &Uid) {
        let Ok(header) = child_header(object.to_string().as_bytes()) else { return };
        if !header.owners.iter().any(|reference| reference.uid == *owner) {
            return;
        }
        let (state, why) = state_of(kind, object);
        let object = diagram_object(kind, &header, state, why);
        self.by_node
            .entry(header.annotations.get(NODE_ANNOTATION).unwrap_or_default().to_owned())
            .or_default()
            .push(object);
    }

    /// Returns the keys of the items that have objects, of a node with `each` (one child for each item of a list).
    fn keys(&self, node: &str) -> BTreeSet<String> {
        self.by_node.keys().filter_map(|path| key_below(node, path)).collect()
    }
}

/// Describes a child object for the diagram; `why` is the reason if it is not ready.
fn diagram_object(kind: &Kind, header: &Header, state: NodeState, why: String) -> DiagramObject {
    let (namespace, name) = (header.key.namespace().map(str::to_owned), header.key.name().to_owned());
    DiagramObject { kind: kind.clone(), namespace, name, state, message: why }
}

/// The facts that decide whether the objects of a node are required.
#[derive(Clone, Copy)]
struct Expectation {
    is_being_deleted: bool,
    /// Whether no node on the path from the root has a `when`.
    is_unconditional: bool,
}

/// Fills in the state of a node and of all nodes below it. `path` is the path of the node, with the keys of items: `pools[blue]/service`.
/// A group has the most severe state of its children.
fn fill_state(node: &mut DiagramNode, path: &str, expectation: Expectation, children: &LiveChildren) {
    match node.shape.node {
        Node::External(_) | Node::Custom => {}
        Node::Resource | Node::Manifest(_) | Node::Application(_) => {
            fill_resource_state(node, path, expectation, children)
        }
        Node::Group { .. } => {
            let children_without_state = std::mem::take(&mut node.children);
            for child in children_without_state {
                node.children.extend(expand_child(child, path, expectation, children));
            }
            // A group of custom nodes has no state to show. A group with a missing child is not ready, but not missing itself.
            let most_severe = node.children.iter().filter_map(|child| child.state).max();
            node.state = most_severe.map(|state| if state == NodeState::Missing { NodeState::NotReady } else { state });
        }
    }
}

/// Fills in the state of a child of a group, and returns the nodes that replace it in the diagram. A child with `each` (one child for each
/// item of a list) becomes one node for each item that has objects, or one absent node if no item has any. The objects of a child with
/// the condition `when`, and of all nodes below it, are not required.
fn expand_child(
    mut child: DiagramNode,
    path: &str,
    expectation: Expectation,
    children: &LiveChildren,
) -> Vec<DiagramNode> {
    let edge = child.edge;
    let path = if path.is_empty() { child.name.clone() } else { format!("{path}/{}", child.name) };
    // The options `when` and `each` are source texts, which are empty if the child does not have the option.
    let has_option = |option: fn(&Edge) -> &str| edge.is_some_and(|edge| !option(edge).is_empty());
    let expectation =
        Expectation { is_unconditional: expectation.is_unconditional && !has_option(|edge| edge.when), ..expectation };
    // The objects of a remote child are in another cluster, for which the verb has no credentials.
    if edge.is_some_and(|edge| edge.remote) {
        return vec![child];
    }
    if !has_option(|edge| edge.each) {
        fill_state(&mut child, &path, expectation, children);
        return vec![child];
    }
    let keys = children.keys(&path);
    if keys.is_empty() {
        child.state = Some(NodeState::Absent);
        child.children.clear();
        return vec![child];
    }
    let item_node = |key: &String| {
        let mut item = child.clone();
        item.name = format!("{}[{key}]", child.name);
        fill_state(&mut item, &Path::ROOT.child(&path).keyed(key).to_string(), expectation, children);
        item
    };
    keys.iter().map(item_node).collect()
}

/// Fills in the objects of a resource node, and its state: the most severe state of its objects. A node without objects is missing if it
/// must have one, absent if it need not, and unknown if the user may not list its kind.
fn fill_resource_state(node: &mut DiagramNode, path: &str, expectation: Expectation, children: &LiveChildren) {
    node.objects = children.by_node.get(path).cloned().unwrap_or_default();
    node.objects.sort_by(|left, right| (&left.namespace, &left.name).cmp(&(&right.namespace, &right.name)));
    let most_severe = node.objects.iter().map(|object| object.state).max();
    let list_failure = node.shape.applied_kinds().iter().find_map(|kind| children.list_failures.get(kind));
    let options = node.edge.map(|edge| (edge.resource, edge.cardinality));
    // The objects of a retired node are deleted, and an `Option` or a `Vec` of objects may be empty.
    let is_optional = options.is_some_and(|(options, cardinality)| options.retired || cardinality != Cardinality::One);
    let if_api = options.is_some_and(|(options, _)| options.if_api);
    let (state, why) = match (most_severe, list_failure) {
        (Some(most_severe), _) => (most_severe, ""),
        (None, Some(ListFailure::Forbidden)) => (NodeState::Unknown, "you have no permission to list them"),
        (None, Some(ListFailure::NotServed)) if if_api => (NodeState::Absent, "the cluster does not serve its API"),
        (None, Some(ListFailure::NotServed)) => (NodeState::Missing, "the cluster does not serve its API"),
        (None, None) if expectation.is_being_deleted || is_optional || !expectation.is_unconditional => {
            (NodeState::Absent, "")
        }
        (None, None) => (NodeState::Missing, ""),
    };
    (node.state, node.message) = (Some(state), why.to_owned());
}

#[cfg(test)]
mod tests;
