//! Renders tree diagrams as JSON for other programs.

use super::{
    diagram::{Diagram, DiagramNode, DiagramObject},
    labels,
};
use crate::shape::{Access, AccessTarget, Cardinality, Edge, Node, ResourceOptions, Verb, duration_text};
use serde_json::{Value, json};

/// Returns a list of diagrams as JSON.
pub(super) fn diagrams_json(diagrams: &[Diagram]) -> Value {
    diagrams.iter().map(diagram_json).collect()
}

/// Returns one diagram as JSON: the kind with its tree, and in the diagram of an object also the object's name, state and conditions.
pub(super) fn diagram_json(diagram: &Diagram) -> Value {
    let kind = &diagram.kind;
    let mut value = json!({"kind": kind.kind, "apiVersion": kind.api_version(), "tree": node_json(&diagram.root)});
    if let Some(object) = &diagram.object {
        value["namespace"] = json!(object.namespace);
        value["name"] = json!(object.name);
        value["state"] = json!(object.state.as_str());
        value["message"] = json!(object.message);
        value["conditions"] = json!(object.conditions);
    }
    value
}

/// Returns a node as JSON, with its type, its permissions, the nodes below it, and its state and objects if the cluster was read.
fn node_json(node: &DiagramNode) -> Value {
    let mut value = json!({
        "type": labels::node_type(node.shape.node),
        "access": labels::permissions(node.shape).iter().map(access_json).collect::<Vec<_>>(),
        "children": node.children.iter().map(child_json).collect::<Vec<_>>(),
    });
    if let Some(state) = node.state {
        value["state"] = json!(state.as_str());
        value["message"] = json!(node.message);
        value["objects"] = node.objects.iter().map(object_json).collect();
    }
    value
}

/// Returns a permission of a node as JSON: the kind or the URL to which it applies, and its verbs.
fn access_json(access: &Access) -> Value {
    let verbs: Vec<_> = access.verbs.iter().copied().map(Verb::as_str).collect();
    let AccessTarget::Objects { kind, subresource, names, namespace } = access.target else {
        return json!({"url": labels::subject(access), "verbs": verbs});
    };
    let kind = kind();
    let mut permission = json!({"kind": kind.kind, "group": kind.group, "subresource": subresource, "verbs": verbs});
    if !names.is_empty() {
        permission["names"] = json!(names);
    }
    if let Some(namespace) = namespace {
        permission["namespace"] = json!(namespace);
    }
    permission
}

/// Returns a child node as JSON, with its name, its path and the options of its edge.
fn child_json(child: &DiagramNode) -> Value {
    let mut value = json!({"name": child.name, "path": child.path, "node": node_json(child)});
    if let Some(edge) = child.edge {
        add_edge_attributes(edge, &mut value);
    }
    value
}

/// Adds the attributes of an edge, the link from a group to a child node, to the JSON object `value`: conditions, dependencies, options,
/// granted rights, cardinality and the line of code. Leaves out default values.
fn add_edge_attributes(edge: &Edge, value: &mut Value) {
    // Without `..`, so that the compiler reports an option that is not shown. `pods` shows as a permission.
    let Edge {
        name: _,
        shape,
        location,
        when,
        each,
        after,
        reads,
        resource,
        cardinality,
        access,
        deleted_with,
        remote,
        background,
        registration: _,
        bucket: _,
    } = *edge;
    let ResourceOptions { once, adopt, adopt_from, if_api, pods: _, retired, delete, timeout } = resource;
    for (name, text) in [("when", when), ("each", each), ("deletedWith", deleted_with)] {
        if !text.is_empty() {
            value[name] = json!(text);
        }
    }
    for (name, list) in [("after", after), ("reads", reads), ("adoptsFrom", adopt_from)] {
        if !list.is_empty() {
            value[name] = json!(list);
        }
    }
    let flags = [
        ("remote", remote),
        ("background", background),
        ("once", once),
        ("adopts", adopt),
        ("ifApi", if_api),
        ("retired", retired),
    ];
    for (name, _) in flags.into_iter().filter(|(_, is_set)| *is_set) {
        value[name] = json!(true);
    }
    if let Some(propagation) = delete {
        value["delete"] = json!(propagation.as_str());
    }
    if let Some(timeout) = timeout {
        value["timeout"] = json!(duration_text(timeout));
    }
    if !access.is_empty() {
        value["grants"] = access.iter().map(access_json).collect();
    }
    if shape.node == Node::Resource {
        value["count"] = json!(match cardinality {
            Cardinality::One => "one",
            Cardinality::Optional => "optional",
            Cardinality::Many => "many",
        });
    }
    if !location.file.is_empty() {
        value["file"] = json!(location.file);
        value["line"] = json!(location.line);
    }
}

/// Returns a Kubernetes object of a node as JSON, with its kind, its name, its state and the reason of the state.
fn object_json(object: &DiagramObject) -> Value {
    json!({
        "kind": object.kind.kind,
        "apiVersion": object.kind.api_version(),
        "namespace": object.namespace,
        "name": object.name,
        "state": object.state.as_str(),
        "message": object.message,
    })
}

#[cfg(test)]
mod tests {
    use super::super::{example, tree_json};
    use super::*;
    use crate::{
        manifest::fixture,
        shape::{Shape, SourceLocation},
    };

    #[test]
    fn the_json_has_every_node_with_its_permissions() {
        let widget = &tree_json(&fixture::project())[1];
        assert_eq!(widget["kind"], "Widget");
        let workload = &widget["tree"]["children"][1];
        assert_eq!((&workload["name"], &workload["node"]["type"]), (&json!("workload"), &json!("concurrent")));
        let verbs = &workload["node"]["children"][0]["node"]["access"][0]["verbs"];
        assert_eq!(*verbs, json!(["get", "list", "watch", "patch", "delete"]));
    }

    #[test]
    fn the_json_shows_a_node_in_another_cluster() {
        static LEAF: Shape = Shape { node: Node::Custom, access: &[], children: &[] };
        let plain = Edge::plain("cluster", &LEAF, SourceLocation::UNKNOWN);
        let json_of = |edge: &Edge| {
            let mut value = json!({});
            add_edge_attributes(edge, &mut value);
            (value.get("remote").cloned(), value.get("background").cloned())
        };
        assert_eq!(json_of(&plain), (None, None));
        assert_eq!(json_of(&plain.in_remote_cluster(false)), (Some(json!(true)), None));
        assert_eq!(json_of(&plain.in_remote_cluster(true)), (Some(json!(true)), Some(json!(true))));
    }

    #[test]
    fn the_json_has_the_attributes_of_every_node() {
        let tree = &tree_json(&example::project())[0]["tree"];
        let find_child = |name: &str| {
            tree["children"].as_array().and_then(|children| children.iter().find(|c| c["name"] == name)).cloned()
        };
        let pools = find_child("pools").unwrap_or_default();
        assert_eq!(
            (&pools["each"], &pools["reads"]),
            (&json!("shop.spec.pools.iter()"), &json!(["workload/service", "config"]))
        );
        let legacy = find_child("legacy").unwrap_or_default();
        assert_eq!((&legacy["retired"], &legacy["count"]), (&json!(true), &json!("one")));
        let monitor = find_child("monitor").unwrap_or_default();
        assert_eq!((&monitor["delete"], &monitor["timeout"]), (&json!("foreground"), &json!("10m")));
        assert_eq!(monitor["deletedWith"], json!("namespace"));
        let config = find_child("config").unwrap_or_default();
        assert_eq!((&config["file"], &config["line"]), (&json!("controller/src/shop.rs"), &json!(12)));
        assert_eq!((config.get("when"), config.get("delete"), config.get("deletedWith")), (None, None, None));
    }
}
