//! Trees as a flowchart for pages that understand mermaid.

use super::{
    drawn::{Drawing, Drawn, NodeState},
    text::full_name,
    words,
};
use crate::shape::{Node, Order};
use std::{collections::BTreeMap, fmt::Write};

/// Thin lines lead to children, thick arrows say which child comes next, dotted ones what has to be there before.
pub(super) fn mermaid(drawings: &[Drawing]) -> String {
    let mut chart = Chart { text: String::from("flowchart TD\n"), styled: BTreeMap::new() };
    for (index, drawing) in drawings.iter().enumerate() {
        let root = format!("k{index}");
        let name = match &drawing.object {
            Some(object) => format!("{} {}", drawing.kind, full_name(object.namespace.as_deref(), &object.name)),
            None => drawing.kind.kind.to_string(),
        };
        chart.line(&format!("{root}{}", boxed(&drawing.root, &name)));
        chart.below(&drawing.root, &root);
    }
    chart.styles();
    chart.text
}

struct Chart {
    text: String,
    styled: BTreeMap<&'static str, Vec<String>>,
}

impl Chart {
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "  {line}");
    }

    fn below(&mut self, node: &Drawn, id: &str) {
        let ids: Vec<_> = (0..node.children.len()).map(|index| format!("{id}_{index}")).collect();
        for (child, child_id) in node.children.iter().zip(&ids) {
            self.line(&format!("{id} --- {child_id}{}", boxed(child, &child.name)));
            if let Some(state) = child.state {
                self.styled.entry(style(state)).or_default().push(child_id.clone());
            }
            self.below(child, child_id);
        }
        // The items of one node have no order among themselves.
        let pairs = node.children.windows(2).zip(ids.windows(2)).filter(|(nodes, _)| nodes[0].path != nodes[1].path);
        for (_, pair) in pairs {
            match node.shape.node {
                Node::Group { up: Order::Serial, .. } => self.line(&format!("{} ==> {}", pair[0], pair[1])),
                Node::Group { down: Order::Serial, .. } => self.line(&format!("{} == down ==> {}", pair[1], pair[0])),
                _ => {}
            }
        }
        for (child, child_id) in node.children.iter().zip(&ids) {
            let Some(edge) = child.edge else { continue };
            for (word, paths) in [("then", edge.after), ("read by", edge.reads)] {
                for source in paths.iter().filter_map(|path| find(node, id, path)) {
                    self.line(&format!("{source} -. {word} .-> {child_id}"));
                }
            }
        }
    }

    fn styles(&mut self) {
        for (style, ids) in std::mem::take(&mut self.styled) {
            self.line(&format!("style {} {style}", ids.join(",")));
        }
    }
}

/// The id of the node at a path from a group.
fn find(group: &Drawn, id: &str, path: &str) -> Option<String> {
    let (first, rest) = path.split_once('/').unwrap_or((path, ""));
    let index = group.children.iter().position(|child| child.name == first)?;
    let id = format!("{id}_{index}");
    if rest.is_empty() { Some(id) } else { find(&group.children[index], &id, rest) }
}

fn style(state: NodeState) -> &'static str {
    match state {
        NodeState::Ready => "stroke:#15803d,stroke-width:3px",
        NodeState::Absent | NodeState::Unknown => "stroke:#9ca3af,stroke-dasharray:4",
        NodeState::Ending | NodeState::NotReady => "stroke:#b45309,stroke-width:3px",
        NodeState::HeldUp | NodeState::Missing => "stroke:#b91c1c,stroke-width:3px",
    }
}

/// Groups are rounded, resources plain, nodes by hand six-cornered.
fn boxed(node: &Drawn, name: &str) -> String {
    let mut lines = vec![format!("<b>{}</b>", escaped(name)), words::node(node.shape.node).to_owned()];
    if let Some(edge) = node.edge {
        lines.extend(words::treatment(edge).iter().chain(&words::terms(edge)).map(|term| escaped(&term.to_string())));
    }
    match node.state {
        Some(state) => {
            lines.push(format!("<i>{}</i>", state.as_str()));
            lines.extend(node.objects.iter().map(|object| {
                escaped(&format!("{} {}", object.kind, full_name(object.namespace.as_deref(), &object.name)))
            }));
        }
        None => lines.extend(words::permissions(node.shape).iter().map(|access| escaped(&words::permission(access)))),
    }
    let label = lines.join("<br/>");
    match node.shape.node {
        Node::Group { .. } => format!("([\"{label}\"])"),
        Node::Resource | Node::Manifest(_) => format!("[\"{label}\"]"),
        Node::Custom => format!("{{{{\"{label}\"}}}}"),
    }
}

/// In a quoted label a quote ends it, and the rest is HTML.
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
    fn mermaid_shows_what_comes_before_and_what_is_read() {
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
