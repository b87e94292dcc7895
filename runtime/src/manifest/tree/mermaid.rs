//! Renders tree diagrams as a mermaid flowchart.

use super::{
    diagram::{Diagram, DiagramNode, NodeState},
    labels,
    text::full_name,
};
use crate::shape::{Node, Order};
use std::{collections::BTreeMap, fmt::Write};

/// Returns the diagrams as one mermaid flowchart. Thin lines lead from a group to its children, thick arrows from a child of a serial group
/// to the next child, and dotted arrows from a node to the nodes that depend on it.
pub(super) fn mermaid(diagrams: &[Diagram]) -> String {
    let mut chart = Chart { text: String::from("flowchart TD\n"), ids_by_style: BTreeMap::new() };
    for (index, diagram) in diagrams.iter().enumerate() {
        let root = format!("k{index}");
        let name = match &diagram.object {
            Some(object) => format!("{} {}", diagram.kind, full_name(object.namespace.as_deref(), &object.name)),
            None => diagram.kind.kind.to_string(),
        };
        chart.add_line(&format!("{root}{}", shape_with_label(&diagram.root, &name)));
        chart.add_children(&diagram.root, &root);
    }
    chart.add_styles();
    chart.text
}

/// The text of the flowchart so far. `ids_by_style` collects the nodes of each state for the style lines at the end.
struct Chart {
    text: String,
    ids_by_style: BTreeMap<&'static str, Vec<String>>,
}

impl Chart {
    /// Adds a line to the text, indented as a statement of the flowchart.
    fn add_line(&mut self, line: &str) {
        let _ = writeln!(self.text, "  {line}");
    }

    /// Adds the nodes below a node, the lines to them, and the arrows between them.
    fn add_children(&mut self, node: &DiagramNode, id: &str) {
        let ids: Vec<_> = (0..node.children.len()).map(|index| format!("{id}_{index}")).collect();
        for (child, child_id) in node.children.iter().zip(&ids) {
            self.add_line(&format!("{id} --- {child_id}{}", shape_with_label(child, &child.name)));
            if let Some(state) = child.state {
                self.ids_by_style.entry(style(state)).or_default().push(child_id.clone());
            }
            self.add_children(child, child_id);
        }
        // A node with `each` has several items with the same path, which have no order among themselves.
        let pairs = node.children.windows(2).zip(ids.windows(2)).filter(|(nodes, _)| nodes[0].path != nodes[1].path);
        for (_, pair) in pairs {
            match node.shape.node {
                Node::Group { up: Order::Serial, .. } => self.add_line(&format!("{} ==> {}", pair[0], pair[1])),
                Node::Group { down: Order::Serial, .. } => {
                    self.add_line(&format!("{} == down ==> {}", pair[1], pair[0]))
                }
                _ => {}
            }
        }
        for (child, child_id) in node.children.iter().zip(&ids) {
            let Some(edge) = child.edge else { continue };
            for (label, paths) in [("then", edge.after), ("read by", edge.reads)] {
                for source in paths.iter().filter_map(|path| node_id(node, id, path)) {
                    self.add_line(&format!("{source} -. {label} .-> {child_id}"));
                }
            }
        }
    }

    /// Adds the lines that set the style of the nodes of each state.
    fn add_styles(&mut self) {
        for (style, ids) in std::mem::take(&mut self.ids_by_style) {
            self.add_line(&format!("style {} {style}", ids.join(",")));
        }
    }
}

/// Returns the mermaid id of the node at `path`, such as `workload/service`, below a group whose id is `group_id`; `None` if there is no
/// such node.
fn node_id(group: &DiagramNode, group_id: &str, path: &str) -> Option<String> {
    let (child_name, rest) = path.split_once('/').unwrap_or((path, ""));
    let index = group.children.iter().position(|child| child.name == child_name)?;
    let child_id = format!("{group_id}_{index}");
    if rest.is_empty() { Some(child_id) } else { node_id(&group.children[index], &child_id, rest) }
}

/// Returns the mermaid style for nodes of a state: the color and the line of their border.
fn style(state: NodeState) -> &'static str {
    match state {
        NodeState::Ready => "stroke:#15803d,stroke-width:3px",
        NodeState::Absent | NodeState::Unknown => "stroke:#9ca3af,stroke-dasharray:4",
        NodeState::Deleting | NodeState::NotReady => "stroke:#b45309,stroke-width:3px",
        NodeState::HeldUp | NodeState::Missing => "stroke:#b91c1c,stroke-width:3px",
    }
}

/// Returns the mermaid syntax for the shape of a node with its label. A group is rounded, a resource a rectangle, an external node a
/// cylinder, and a custom node a hexagon. The label contains the type, the options, and the state with the objects or else the permissions.
fn shape_with_label(node: &DiagramNode, name: &str) -> String {
    let mut lines = vec![format!("<b>{}</b>", escaped(name)), labels::node_type(node.shape.node).to_owned()];
    if let Some(edge) = node.edge {
        lines.extend(
            labels::resource_options(edge)
                .iter()
                .chain(&labels::edge_terms(edge))
                .map(|term| escaped(&term.to_string())),
        );
    }
    match node.state {
        Some(state) => {
            lines.push(format!("<i>{}</i>", state.as_str()));
            lines.extend(node.objects.iter().map(|object| {
                escaped(&format!("{} {}", object.kind, full_name(object.namespace.as_deref(), &object.name)))
            }));
        }
        None => lines.extend(labels::permissions(node.shape).iter().map(|access| escaped(&labels::permission(access)))),
    }
    let text = lines.join("<br/>");
    match node.shape.node {
        Node::Group { .. } => format!("([\"{text}\"])"),
        Node::Resource | Node::Manifest(_) | Node::Application(_) => format!("[\"{text}\"]"),
        Node::External(_) => format!("[(\"{text}\")]"),
        Node::Custom => format!("{{{{\"{text}\"}}}}"),
    }
}

/// Escapes text for a quoted label, which ends at a quote and otherwise contains HTML.
fn escaped(text: &str) -> String {
    let escape = |c: char| match c {
        '#' => "#35;".to_owned(),
        '"' => "#quot;".to_owned(),
        '&' => "#amp;".to_owned(),
        '<' => "#lt;".to_owned(),
        '>' => "#gt;".to_owned(),
        other => other.to_string(),
    };
    text.chars().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{example, mermaid};
    use crate::manifest::fixture;

    #[test]
    fn mermaid_draws_a_line_to_each_child_and_an_arrow_to_the_next() {
        let text = mermaid(&fixture::project());
        assert!(text.starts_with("flowchart TD\n  k0[\"<b>Network</b><br/>resource<br/>ConfigMap: "), "{text}");
        assert!(text.contains("  k1 --- k1_1([\"<b>workload</b><br/>concurrent\"])\n"), "{text}");
        assert!(text.contains("  k1_0 ==> k1_1\n"), "{text}");
        assert!(!text.contains("  k1_1_0 ==> k1_1_1\n"), "{text}");
        assert!(
            text.contains(
                "  k1_1 --- k1_1_1{{\"<b>snapshot</b><br/>custom<br/>Node: get<br/>Deployment/scale: patch, get\"}}\n"
            ),
            "{text}"
        );
    }

    #[test]
    fn mermaid_shows_dependencies_and_conditions() {
        let text = mermaid(&example::project());
        for line in ["  k0_1_0 -. then .-> k0_1_2\n", "  k0_1_3 -. read by .-> k0_2\n", "  k0_0 -. read by .-> k0_2\n"]
        {
            assert!(text.contains(line), "`{line}` is not in\n{text}");
        }
        assert!(text.contains("k0_1_1 == down ==> k0_1_0"), "{text}");
        assert!(
            text.contains("when shop.spec.replicas #gt; 0 #amp;#amp; shop.spec.tier != #quot;free#quot;"),
            "{text}"
        );
    }
}
