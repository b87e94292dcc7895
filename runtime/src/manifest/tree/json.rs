//! Trees for programs.

use super::{
    drawn::{Drawing, Drawn, Found},
    words,
};
use crate::shape::{Access, Count, Edge, Node, Reach, Verb};
use serde_json::{Value, json};

pub(super) fn all(drawings: &[Drawing]) -> Value {
    drawings.iter().map(one).collect()
}

pub(super) fn one(drawing: &Drawing) -> Value {
    let kind = &drawing.kind;
    let mut value = json!({"kind": kind.kind, "apiVersion": kind.api_version(), "tree": node(&drawing.root)});
    if let Some(object) = &drawing.object {
        value["namespace"] = json!(object.namespace);
        value["name"] = json!(object.name);
        value["state"] = json!(object.state.as_str());
        value["message"] = json!(object.why);
        value["conditions"] = json!(object.conditions);
    }
    value
}

fn node(node: &Drawn) -> Value {
    let mut value = json!({
        "type": words::node(node.shape.node),
        "access": words::permissions(node.shape).iter().map(access).collect::<Vec<_>>(),
        "children": node.children.iter().map(child).collect::<Vec<_>>(),
    });
    if let Some(state) = node.state {
        value["state"] = json!(state.as_str());
        value["message"] = json!(node.why);
        value["objects"] = node.objects.iter().map(object).collect();
    }
    value
}

fn access(access: &Access) -> Value {
    let verbs: Vec<_> = access.verbs.iter().copied().map(Verb::as_str).collect();
    let Reach::Objects { kind, subresource, names, namespace } = access.reach else {
        return json!({"url": words::subject(access), "verbs": verbs});
    };
    let kind = kind();
    let mut right = json!({"kind": kind.kind, "group": kind.group, "subresource": subresource, "verbs": verbs});
    if !names.is_empty() {
        right["names"] = json!(names);
    }
    if let Some(namespace) = namespace {
        right["namespace"] = json!(namespace);
    }
    right
}

fn child(child: &Drawn) -> Value {
    let mut value = json!({"name": child.name, "path": child.path, "node": node(child)});
    if let Some(edge) = child.edge {
        add_terms(edge, &mut value);
    }
    value
}

/// What is as usual is left out.
fn add_terms(edge: &Edge, value: &mut Value) {
    for (name, said) in [("when", edge.when), ("each", edge.each)] {
        if !said.is_empty() {
            value[name] = json!(said);
        }
    }
    let options = edge.resource;
    for (name, list) in [("after", edge.after), ("reads", edge.reads), ("adoptsFrom", options.adopt_from)] {
        if !list.is_empty() {
            value[name] = json!(list);
        }
    }
    let facts =
        [("once", options.once), ("adopts", options.adopt), ("ifApi", options.if_api), ("retired", options.retired)];
    for (name, _) in facts.into_iter().filter(|(_, holds)| *holds) {
        value[name] = json!(true);
    }
    if !edge.access.is_empty() {
        value["handsOn"] = edge.access.iter().map(access).collect();
    }
    if edge.shape.node == Node::Resource {
        value["count"] = json!(match edge.count {
            Count::One => "one",
            Count::Optional => "optional",
            Count::Many => "many",
        });
    }
    if !edge.place.file.is_empty() {
        value["file"] = json!(edge.place.file);
        value["line"] = json!(edge.place.line);
    }
}

fn object(found: &Found) -> Value {
    json!({
        "kind": found.kind.kind,
        "apiVersion": found.kind.api_version(),
        "namespace": found.namespace,
        "name": found.name,
        "state": found.state.as_str(),
        "message": found.why,
    })
}

#[cfg(test)]
mod tests {
    use super::super::{example, tree_json};
    use super::*;
    use crate::manifest::fixture;

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
    fn the_json_has_the_terms_of_every_node() {
        let tree = &tree_json(&example::project())[0]["tree"];
        let find =
            |name: &str| tree["children"].as_array().and_then(|all| all.iter().find(|c| c["name"] == name)).cloned();
        let pools = find("pools").unwrap_or_default();
        assert_eq!(
            (&pools["each"], &pools["reads"]),
            (&json!("shop.spec.pools.iter()"), &json!(["workload/service", "config"]))
        );
        let old = find("legacy").unwrap_or_default();
        assert_eq!((&old["retired"], &old["count"]), (&json!(true), &json!("one")));
        let config = find("config").unwrap_or_default();
        assert_eq!((&config["file"], &config["line"]), (&json!("controller/src/shop.rs"), &json!(12)));
        assert_eq!(config.get("when"), None);
    }
}
