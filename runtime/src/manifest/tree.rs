//! Pictures of the trees: text for a terminal, mermaid for a page.

use std::fmt::Write;

use serde_json::{Value, json};

use super::project::{Controlled, Project};
use crate::provisioner::shape::{Access, Edge, Node, Order, Shape, Verb};

/// Every tree of the project as text: what each node is, and what it may do.
///
/// ```text
/// WebApp (demo.example.com/v1alpha1): serial
/// ├─ config: resource  ConfigMap: get, patch, delete
/// └─ workload: concurrent
///    └─ service: resource  Service: get, patch, delete
/// ```
pub fn tree(project: &Project) -> String {
    let mut text = String::new();
    for controlled in sorted(project) {
        if !text.is_empty() {
            text.push('\n');
        }
        let kind = &controlled.kind;
        let _ = writeln!(text, "{} ({}): {}", kind.kind, kind.api_version(), said(controlled.shape));
        below(controlled.shape, "", &mut text);
    }
    text
}

fn below(shape: &Shape, indent: &str, text: &mut String) {
    for (index, edge) in shape.children.iter().enumerate() {
        let last = index + 1 == shape.children.len();
        let (corner, rail) = if last { ("└─", "   ") } else { ("├─", "│  ") };
        let _ = writeln!(text, "{indent}{corner} {}: {}", edge.name, said(edge.shape));
        below(edge.shape, &format!("{indent}{rail}"), text);
    }
}

/// Every tree of the project for programs: nodes with their kind, permissions and children.
pub fn tree_json(project: &Project) -> Value {
    let of_kind = |controlled: &Controlled| {
        let kind = &controlled.kind;
        json!({"kind": kind.kind, "apiVersion": kind.api_version(), "tree": node_json(controlled.shape)})
    };
    sorted(project).into_iter().map(of_kind).collect()
}

fn node_json(shape: &Shape) -> Value {
    let access = |access: &Access| {
        let verbs: Vec<_> = access.verbs.iter().copied().map(Verb::as_str).collect();
        let kind = (access.kind)();
        json!({"kind": kind.kind, "group": kind.group, "subresource": access.subresource, "verbs": verbs})
    };
    let child = |edge: &Edge| json!({"name": edge.name, "node": node_json(edge.shape)});
    json!({
        "type": node(shape.node),
        "access": permissions(shape).iter().map(access).collect::<Vec<_>>(),
        "children": shape.children.iter().map(child).collect::<Vec<_>>(),
    })
}

/// Every tree of the project as one mermaid flowchart.
pub fn mermaid(project: &Project) -> String {
    let mut text = String::from("flowchart TD\n");
    for (index, controlled) in sorted(project).into_iter().enumerate() {
        let root = format!("k{index}");
        let _ = writeln!(text, "  {root}{}", boxed(controlled.shape, &controlled.kind.kind));
        edges(controlled.shape, &root, &mut text);
    }
    text
}

fn edges(shape: &Shape, id: &str, text: &mut String) {
    for (index, edge) in shape.children.iter().enumerate() {
        let child = format!("{id}_{index}");
        let _ = writeln!(text, "  {id} --> {child}{}", boxed(edge.shape, edge.name));
        edges(edge.shape, &child, text);
    }
}

/// Groups are rounded, resources plain, nodes by hand six-cornered.
fn boxed(shape: &Shape, name: &str) -> String {
    let rights: String = permissions(shape).iter().map(|access| format!("<br/>{}", permission(access))).collect();
    let label = format!("<b>{name}</b><br/>{}{rights}", node(shape.node));
    match shape.node {
        Node::Group { .. } => format!("([\"{label}\"])"),
        Node::Resource | Node::Manifest(_) => format!("[\"{label}\"]"),
        Node::Custom => format!("{{{{\"{label}\"}}}}"),
    }
}

fn said(shape: &Shape) -> String {
    let rights: Vec<_> = permissions(shape).iter().map(permission).collect();
    match rights.is_empty() {
        true => node(shape.node).to_owned(),
        false => format!("{}  {}", node(shape.node), rights.join("; ")),
    }
}

/// A manifest that can't be read is told of where the files are generated.
fn permissions(shape: &Shape) -> Vec<Access> {
    shape.permissions().unwrap_or_default()
}

fn permission(access: &Access) -> String {
    let verbs: Vec<_> = access.verbs.iter().copied().map(Verb::as_str).collect();
    let slash = if access.subresource.is_empty() { "" } else { "/" };
    format!("{}{slash}{}: {}", (access.kind)(), access.subresource, verbs.join(", "))
}

fn node(node: Node) -> &'static str {
    match node {
        Node::Group { up: Order::Serial, down: Order::Serial } => "serial",
        Node::Group { up: Order::Concurrent, down: Order::Concurrent } => "concurrent",
        Node::Group { up: Order::Serial, down: Order::Concurrent } => "serial up, concurrent down",
        Node::Group { up: Order::Concurrent, down: Order::Serial } => "concurrent up, serial down",
        Node::Resource => "resource",
        Node::Manifest(_) => "manifest",
        Node::Custom => "custom",
    }
}

fn sorted(project: &Project) -> Vec<&Controlled> {
    let mut controllers: Vec<_> = project.controllers.iter().collect();
    controllers.sort_by_key(|controlled| (&controlled.kind, &controlled.finalizer));
    controllers
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;

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
    fn the_text_shows_nodes_and_permissions() {
        let expected = "\
Network (demo.example.com/v1): resource  ConfigMap: get, list, watch, patch, delete

Widget (demo.example.com/v1alpha1): serial
├─ config: resource  ConfigMap: get, list, watch, patch, delete
└─ workload: concurrent
   ├─ deployment: resource  Deployment: get, list, watch, patch, delete
   └─ snapshot: custom  Node: get; Deployment/scale: patch, get
";
        assert_eq!(tree(&fixture::project()), expected);
    }

    #[test]
    fn mermaid_draws_an_edge_per_child() {
        let text = mermaid(&fixture::project());
        assert!(text.starts_with("flowchart TD\n  k0[\"<b>Network</b><br/>resource<br/>ConfigMap: "), "{text}");
        assert!(text.contains("  k1 --> k1_1([\"<b>workload</b><br/>concurrent\"])\n"), "{text}");
        assert!(
            text.contains(
                "  k1_1 --> k1_1_1{{\"<b>snapshot</b><br/>custom<br/>Node: get<br/>Deployment/scale: patch, get\"}}\n"
            ),
            "{text}"
        );
    }
}
