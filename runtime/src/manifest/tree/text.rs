//! Trees for a terminal.

use super::{
    drawn::{Drawing, Drawn, NodeState, Sight},
    words,
};

/// How wide a line may be.
const WIDTH: usize = 100;

pub(super) fn text(drawings: &[Drawing]) -> String {
    drawings.iter().map(one).collect::<Vec<_>>().join("\n")
}

fn one(drawing: &Drawing) -> String {
    let mut lines = Vec::new();
    let version = drawing.kind.api_version();
    match &drawing.object {
        None => {
            let head = format!("{} ({version}): ", drawing.kind);
            flow(&head, &rail(&drawing.root, ""), &pieces(&drawing.root), &mut lines);
        }
        Some(object) => seen(drawing, object, &mut lines),
    }
    below(&drawing.root, "", &mut lines);
    lines.push(String::new());
    lines.join("\n")
}

/// The owner with its conditions.
fn seen(drawing: &Drawing, object: &Sight, lines: &mut Vec<String>) {
    let name = full_name(object.namespace.as_deref(), &object.name);
    let head = format!("{} {} {name} ({}): ", object.state.mark(), drawing.kind, drawing.kind.api_version());
    let why = if object.why.is_empty() { String::new() } else { format!(": {}", object.why) };
    flow(&head, "    ", &[format!("{}{why}", object.state.as_str())], lines);
    let text = |condition: &serde_json::Value, field: &str| condition[field].as_str().unwrap_or_default().to_owned();
    let types = object.conditions.iter().map(|condition| text(condition, "type").chars().count());
    let widest = types.max().unwrap_or_default();
    for condition in &object.conditions {
        let head = format!("    {:widest$} {:7} ", text(condition, "type"), text(condition, "status"));
        let rest = " ".repeat(head.chars().count());
        let said = [text(condition, "reason"), text(condition, "message")];
        flow(&head, &rest, &said.into_iter().filter(|said| !said.is_empty()).collect::<Vec<_>>(), lines);
    }
}

fn below(node: &Drawn, indent: &str, lines: &mut Vec<String>) {
    for (index, child) in node.children.iter().enumerate() {
        let last = index + 1 == node.children.len();
        let (corner, under) = if last { ("└─", "   ") } else { ("├─", "│  ") };
        let mark = child.state.map_or(String::new(), |state| format!("{} ", state.mark()));
        let indent_below = format!("{indent}{under}");
        let head = format!("{indent}{corner} {mark}{}: ", child.name);
        flow(&head, &rail(child, &indent_below), &pieces(child), lines);
        below(child, &indent_below, lines);
    }
}

/// What stands before the second line of a node.
fn rail(node: &Drawn, indent: &str) -> String {
    format!("{indent}{}     ", if node.children.is_empty() { " " } else { "│" })
}

/// What is said of a node; each stands in one line if it can.
fn pieces(node: &Drawn) -> Vec<String> {
    if let Some(state) = node.state {
        return state_pieces(node, state);
    }
    let mut kind = words::node(node.shape.node).to_owned();
    let treatment = node.edge.map(words::treatment).unwrap_or_default();
    treatment.iter().for_each(|term| kind.push_str(&format!(", {term}")));
    let mut pieces = vec![kind];
    pieces.extend(node.edge.map(words::terms).unwrap_or_default().iter().map(ToString::to_string));
    let rights: Vec<_> = words::permissions(node.shape).iter().map(words::permission).collect();
    for (index, right) in rights.iter().enumerate() {
        let more = if index + 1 < rights.len() { ";" } else { "" };
        pieces.push(format!("{right}{more}"));
    }
    pieces
}

/// How a node fares; where there is nothing, the terms that say why not.
fn state_pieces(node: &Drawn, state: NodeState) -> Vec<String> {
    let because = |why: &str| if why.is_empty() { String::new() } else { format!(": {why}") };
    let mut pieces = vec![format!("{}{}", state.as_str(), because(&node.why))];
    pieces.extend(node.objects.iter().map(|object| {
        // The node has the state of its gravest object.
        let differs = if object.state == state { String::new() } else { format!(" ({})", object.state.as_str()) };
        let name = full_name(object.namespace.as_deref(), &object.name);
        format!("{} {name}{differs}{}", object.kind, because(&object.why))
    }));
    if let Some(edge) = node.edge.filter(|_| state == NodeState::Absent) {
        let terms = words::terms(edge).into_iter().chain(words::treatment(edge));
        let telling = terms.filter(|term| matches!(term.word, "when" | "each" | "optional" | "many" | "retired"));
        pieces.extend(telling.map(|term| term.to_string()));
    }
    pieces
}

pub(super) fn full_name(namespace: Option<&str>, name: &str) -> String {
    namespace.map_or_else(|| name.to_owned(), |namespace| format!("{namespace}/{name}"))
}

/// Lines of at most [`WIDTH`]: pieces go on the line of the one before them while there is room, and a piece that is
/// longer than a line is broken at its spaces.
fn flow(first: &str, rest: &str, pieces: &[String], lines: &mut Vec<String>) {
    let width = |text: &str| text.chars().count();
    let (mut line, mut is_fresh) = (first.to_owned(), true);
    for piece in pieces {
        let between = match (is_fresh, line.ends_with(';')) {
            (true, _) => "",
            (false, true) => " ",
            (false, false) => "  ",
        };
        if width(&line) + width(between) + width(piece) <= WIDTH {
            line.push_str(between);
            line.push_str(piece);
            is_fresh = false;
            continue;
        }
        if !is_fresh {
            lines.push(std::mem::replace(&mut line, rest.to_owned()));
        }
        let mut space = "";
        for word in piece.split(' ') {
            if width(&line) + width(space) + width(word) > WIDTH && !space.is_empty() {
                lines.push(std::mem::replace(&mut line, rest.to_owned()));
                space = "";
            }
            line.push_str(space);
            line.push_str(word);
            space = " ";
        }
        is_fresh = false;
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
    fn every_term_is_said_and_no_line_is_too_long() {
        let text = tree(&example::project());
        for said in [
            "serial\n",
            "concurrent up, serial down",
            "when shop.spec.backup",
            "each shop.spec.pools.iter()",
            "after cache, proxy",
            "reads workload/service, config",
            "resource, once",
            "adopts from helm, old-manager",
            "if its API is there",
            "retired",
            "optional",
            "many",
            "Node: get;",
        ] {
            assert!(text.contains(said), "`{said}` is not in\n{text}");
        }
        let long: Vec<_> = text.lines().filter(|line| line.chars().count() > WIDTH).collect();
        assert!(long.is_empty(), "{long:#?}");
    }

    #[test]
    fn a_long_piece_is_broken_at_its_spaces() {
        let mut lines = Vec::new();
        let piece = format!("when {}", ["a_rather_long_word"; 12].join(" && "));
        flow("├─ name: ", "│        ", &["serial".to_owned(), piece.clone()], &mut lines);
        assert_eq!(lines[0], "├─ name: serial");
        assert!(lines.iter().all(|line| line.chars().count() <= WIDTH), "{lines:#?}");
        let joined: Vec<_> = lines[1..].iter().map(|line| line.trim_start_matches(['│', ' '])).collect();
        assert_eq!(joined.join(" "), piece);
    }
}
