//! Renders diagrams of provisioning trees as text for a terminal.

use super::{
    diagram::{Diagram, DiagramNode, DiagramOwner, NodeState},
    labels,
};

/// The maximum width of a line, in characters.
const WIDTH: usize = 100;

pub(super) fn text(diagrams: &[Diagram]) -> String {
    diagrams.iter().map(diagram_text).collect::<Vec<_>>().join("\n")
}

/// Returns one diagram as text: the line of the kind, or of the object with its conditions, and the lines of all nodes.
fn diagram_text(diagram: &Diagram) -> String {
    let mut lines = Vec::new();
    let version = diagram.kind.api_version();
    match &diagram.object {
        None => {
            let prefix = format!("{} ({version}): ", diagram.kind);
            wrap(&prefix, &continuation(&diagram.root, ""), &node_parts(&diagram.root), &mut lines);
        }
        Some(object) => add_owner(diagram, object, &mut lines),
    }
    add_children(&diagram.root, "", &mut lines);
    lines.push(String::new());
    lines.join("\n")
}

/// Adds the lines of the owner, the object with this tree: its state, and its conditions in columns.
fn add_owner(diagram: &Diagram, object: &DiagramOwner, lines: &mut Vec<String>) {
    let name = full_name(object.namespace.as_deref(), &object.name);
    let prefix = format!("{} {} {name} ({}): ", object.state.symbol(), diagram.kind, diagram.kind.api_version());
    let message = if object.message.is_empty() { String::new() } else { format!(": {}", object.message) };
    wrap(&prefix, "    ", &[format!("{}{message}", object.state.as_str())], lines);
    let text = |condition: &serde_json::Value, field: &str| condition[field].as_str().unwrap_or_default().to_owned();
    let types = object.conditions.iter().map(|condition| text(condition, "type").chars().count());
    let widest = types.max().unwrap_or_default();
    for condition in &object.conditions {
        let prefix = format!("    {:widest$} {:7} ", text(condition, "type"), text(condition, "status"));
        let continuation_prefix = " ".repeat(prefix.chars().count());
        let texts = [text(condition, "reason"), text(condition, "message")];
        let texts: Vec<_> = texts.into_iter().filter(|text| !text.is_empty()).collect();
        wrap(&prefix, &continuation_prefix, &texts, lines);
    }
}

/// Adds the lines of all nodes below a node, with the lines of the tree before their names. `indent` precedes each line.
fn add_children(node: &DiagramNode, indent: &str, lines: &mut Vec<String>) {
    for (index, child) in node.children.iter().enumerate() {
        let is_last = index + 1 == node.children.len();
        let (corner, child_indent) = if is_last { ("└─", "   ") } else { ("├─", "│  ") };
        let symbol = child.state.map_or(String::new(), |state| format!("{} ", state.symbol()));
        let indent_below = format!("{indent}{child_indent}");
        let prefix = format!("{indent}{corner} {symbol}{}: ", child.name);
        wrap(&prefix, &continuation(child, &indent_below), &node_parts(child), lines);
        add_children(child, &indent_below, lines);
    }
}

/// Returns the prefix of a node's lines after the first, which continues the line to its children.
fn continuation(node: &DiagramNode, indent: &str) -> String {
    format!("{indent}{}     ", if node.children.is_empty() { " " } else { "│" })
}

/// Returns the parts of a node's text: its state if it is known, otherwise its type, options and permissions. [`wrap`] keeps each
/// part on one line where it fits.
fn node_parts(node: &DiagramNode) -> Vec<String> {
    if let Some(state) = node.state {
        return state_parts(node, state);
    }
    let mut kind = labels::node_type(node.shape.node).to_owned();
    let options = node.edge.map(labels::resource_options).unwrap_or_default();
    options.iter().for_each(|term| kind.push_str(&format!(", {term}")));
    let mut node_parts = vec![kind];
    node_parts.extend(node.edge.map(labels::edge_terms).unwrap_or_default().iter().map(ToString::to_string));
    let rights: Vec<_> = labels::permissions(node.shape).iter().map(labels::permission).collect();
    for (index, right) in rights.iter().enumerate() {
        let separator = if index + 1 < rights.len() { ";" } else { "" };
        node_parts.push(format!("{right}{separator}"));
    }
    node_parts
}

/// Returns the state of a node, and its objects with their states as parts of the node's text. For a node without objects, adds the options
/// that explain why it has none.
fn state_parts(node: &DiagramNode, state: NodeState) -> Vec<String> {
    let with_colon = |message: &str| if message.is_empty() { String::new() } else { format!(": {message}") };
    let mut node_parts = vec![format!("{}{}", state.as_str(), with_colon(&node.message))];
    node_parts.extend(node.objects.iter().map(|object| {
        // The node has the state of its most severe object; the states of the other objects are added.
        let other_state = if object.state == state { String::new() } else { format!(" ({})", object.state.as_str()) };
        let name = full_name(object.namespace.as_deref(), &object.name);
        format!("{} {name}{other_state}{}", object.kind, with_colon(&object.message))
    }));
    if let Some(edge) = node.edge.filter(|_| state == NodeState::Absent) {
        let terms = labels::edge_terms(edge).into_iter().chain(labels::resource_options(edge));
        let explanatory = terms.filter(|term| matches!(term.label, "when" | "each" | "optional" | "many" | "retired"));
        node_parts.extend(explanatory.map(|term| term.to_string()));
    }
    node_parts
}

/// Returns `namespace/name`, or the name of a cluster-scoped object.
pub(super) fn full_name(namespace: Option<&str>, name: &str) -> String {
    namespace.map_or_else(|| name.to_owned(), |namespace| format!("{namespace}/{name}"))
}

/// Adds lines of at most [`WIDTH`] characters: the first starts with `first_prefix`, the others with `next_prefix`. Parts share a line
/// while there is room. A part that doesn't fit starts a new line, and a part that is longer than a line is broken at its spaces.
fn wrap(first_prefix: &str, next_prefix: &str, parts: &[String], lines: &mut Vec<String>) {
    let width = |text: &str| text.chars().count();
    let (mut line, mut is_first_part) = (first_prefix.to_owned(), true);
    for part in parts {
        let between = match (is_first_part, line.ends_with(';')) {
            (true, _) => "",
            (false, true) => " ",
            (false, false) => "  ",
        };
        if width(&line) + width(between) + width(part) <= WIDTH {
            line.push_str(between);
            line.push_str(part);
            is_first_part = false;
            continue;
        }
        if !is_first_part {
            lines.push(std::mem::replace(&mut line, next_prefix.to_owned()));
        }
        let mut space = "";
        for word in part.split(' ') {
            if width(&line) + width(space) + width(word) > WIDTH && !space.is_empty() {
                lines.push(std::mem::replace(&mut line, next_prefix.to_owned()));
                space = "";
            }
            line.push_str(space);
            line.push_str(word);
            space = " ";
        }
        is_first_part = false;
    }
    lines.push(line.trim_end().to_owned());
}

#[cfg(test)]
mod tests {
    use super::super::{example, tree};
    use super::*;
    use crate::manifest::fixture;

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
    fn every_option_is_shown_and_no_line_is_too_long() {
        let text = tree(&example::project());
        for option in [
            "serial\n",
            "concurrent up, serial down",
            "when shop.spec.backup",
            "each shop.spec.pools.iter()",
            "after cache, proxy",
            "reads workload/service, config",
            "resource, once",
            "adopts from helm, old-manager",
            "if its API is there",
            "deleted in the foreground",
            "deleted with namespace",
            "timeout 10m",
            "retired",
            "optional",
            "many",
            "Node: get;",
        ] {
            assert!(text.contains(option), "`{option}` is not in\n{text}");
        }
        let long: Vec<_> = text.lines().filter(|line| line.chars().count() > WIDTH).collect();
        assert!(long.is_empty(), "{long:#?}");
    }

    #[test]
    fn a_part_longer_than_a_line_is_broken_at_its_spaces() {
        let mut lines = Vec::new();
        let part = format!("when {}", ["a_rather_long_word"; 12].join(" && "));
        wrap("├─ name: ", "│        ", &["serial".to_owned(), part.clone()], &mut lines);
        assert_eq!(lines[0], "├─ name: serial");
        assert!(lines.iter().all(|line| line.chars().count() <= WIDTH), "{lines:#?}");
        let joined: Vec<_> = lines[1..].iter().map(|line| line.trim_start_matches(['│', ' '])).collect();
        assert_eq!(joined.join(" "), part);
    }
}
