//! `Card`: the content of the box of a tree node in an SVG image. It computes the size of the box and draws it. `Palette`: the colors of a
//! type of node.

use super::{
    super::{
        diagram::{DiagramNode, NodeState},
        labels,
        text::full_name,
    },
    canvas::{Area, BoxStyle, Canvas, TextStyle},
    measure::{Face, width, wrap_text},
};
use crate::shape::Node;

/// The maximum width of the text in a box, in pixels.
const MAX_TEXT_WIDTH: i32 = 250;
/// The minimum width of a box, in pixels.
const MIN_BOX_WIDTH: i32 = 160;
const PADDING: i32 = 14;
const BADGE_GAP: i32 = 6;
/// The height of the line with the name and the type of a node, in pixels.
const HEADER_HEIGHT: i32 = 18;
/// The width of the circle with the number of a node and of the space after it, in pixels.
const NUMBER_WIDTH: i32 = 26;
/// The minimum space between the name and the type of a node, in pixels.
const HEADER_GAP: i32 = 16;
/// The width of the dot of a state and of the space after it, in pixels.
const DOT_WIDTH: i32 = 16;

/// The colors of a type of node. They are dark enough on white, and distinct in grayscale.
#[derive(Clone, Copy, Debug)]
pub(super) struct Palette {
    pub(super) fill: &'static str,
    pub(super) stroke: &'static str,
    pub(super) dark: &'static str,
}

pub(super) const ROOT: Palette = Palette { fill: "#1e293b", stroke: "#1e293b", dark: "#ffffff" };
pub(super) const GROUP: Palette = Palette { fill: "#eef2ff", stroke: "#6366f1", dark: "#3730a3" };
pub(super) const RESOURCE: Palette = Palette { fill: "#ecfdf5", stroke: "#10b981", dark: "#065f46" };
pub(super) const EXTERNAL: Palette = Palette { fill: "#fdf4ff", stroke: "#c026d3", dark: "#86198f" };
pub(super) const CUSTOM: Palette = Palette { fill: "#fff7ed", stroke: "#f97316", dark: "#9a3412" };

const TEXT_COLOR: &str = "#0f172a";
const MUTED_COLOR: &str = "#475569";

/// Returns the colors of a type of node.
pub(super) fn palette(node: Node) -> Palette {
    match node {
        Node::Group { .. } => GROUP,
        Node::Resource | Node::Manifest(_) | Node::Application(_) => RESOURCE,
        Node::External(_) => EXTERNAL,
        Node::Custom => CUSTOM,
    }
}

/// Returns the color in which a state is shown.
fn state_color(state: NodeState) -> &'static str {
    match state {
        NodeState::Ready => "#15803d",
        NodeState::Absent | NodeState::Unknown => "#64748b",
        NodeState::Deleting | NodeState::NotReady => "#b45309",
        NodeState::HeldUp | NodeState::Missing => "#b91c1c",
    }
}

/// A line of content in the box of a node.
#[derive(Debug)]
enum CardLine {
    Text(String, TextStyle),
    /// Labels in frames, side by side.
    Badges(Vec<&'static str>),
    /// A label in a frame, and the first line of its value.
    Term(&'static str, String),
    State(NodeState),
}

impl CardLine {
    /// Returns the height of the line in pixels.
    fn height(&self) -> i32 {
        match self {
            Self::Text(_, style) => style.size + 6,
            Self::Badges(_) | Self::Term(..) => 23,
            Self::State(_) => 20,
        }
    }

    /// Returns the estimated width of the line in pixels.
    fn width(&self) -> i32 {
        match self {
            Self::Text(text, style) => width(text, style.size, style.face),
            Self::Badges(words) => words.iter().map(|label| badge_width(label) + BADGE_GAP).sum::<i32>() - BADGE_GAP,
            Self::Term(label, value) => badge_width(label) + BADGE_GAP + width(value, 11, Face::Code),
            Self::State(state) => DOT_WIDTH + width(state.as_str(), 12, Face::Bold),
        }
    }
}

/// Returns the width of a label in a frame, in pixels.
fn badge_width(label: &str) -> i32 {
    width(label, 10, Face::Bold) + 12
}

/// The content of a box, before it has a position.
#[derive(Debug)]
pub(super) struct Card {
    /// Its position in a serial group, from 1.
    number: Option<usize>,
    name: String,
    tag: &'static str,
    lines: Vec<CardLine>,
    palette: Palette,
    is_faded: bool,
}

impl Card {
    /// Returns the card of the root of a tree: the kind or the object as `name`, with `subtitle` below it, and its state and message, or
    /// its permissions if the state is unknown.
    pub(super) fn root(name: &str, subtitle: &str, node: &DiagramNode, state: Option<(NodeState, &str)>) -> Self {
        let mut lines =
            vec![CardLine::Text(subtitle.to_owned(), TextStyle { size: 12, face: Face::Plain, color: "#cbd5e1" })];
        if let Some((state, message)) = state {
            let text =
                if message.is_empty() { state.as_str().to_owned() } else { format!("{}: {message}", state.as_str()) };
            let style = TextStyle { size: 12, face: Face::Bold, color: "#ffffff" };
            lines.extend(
                wrap_text(&text, 12, Face::Bold, MAX_TEXT_WIDTH).into_iter().map(|line| CardLine::Text(line, style)),
            );
        }
        if state.is_none() {
            let style = TextStyle { size: 11, face: Face::Plain, color: "#cbd5e1" };
            lines.extend(permissions(node, style));
        }
        let tag = labels::node_type(node.shape.node);
        Self { number: None, name: name.to_owned(), tag, lines, palette: ROOT, is_faded: false }
    }

    /// Returns the card of a node other than a root: its kinds, its options, and its state with its objects, or its permissions if the
    /// state is unknown. `number` is its position in a serial group.
    pub(super) fn of(node: &DiagramNode, number: Option<usize>) -> Self {
        let mut lines = Vec::new();
        let palette = palette(node.shape.node);
        if node.shape.node == Node::Resource {
            let style = TextStyle { size: 13, face: Face::Plain, color: palette.dark };
            lines.extend(
                wrap_text(&labels::kinds(node.shape), 13, Face::Plain, MAX_TEXT_WIDTH)
                    .into_iter()
                    .map(|l| CardLine::Text(l, style)),
            );
        }
        if let Some(edge) = node.edge {
            let (with_value, without_value): (Vec<_>, Vec<_>) =
                labels::resource_options(edge).into_iter().partition(|term| !term.value.is_empty());
            lines.extend(badges(without_value.iter().map(|term| term.label)));
            // Arrows show the dependencies `after` and `reads`.
            let conditions = labels::edge_terms(edge).into_iter().filter(|term| matches!(term.label, "when" | "each"));
            lines.extend(conditions.chain(with_value).flat_map(|term| term_lines(term.label, &term.value)));
        }
        let muted = TextStyle { size: 11, face: Face::Plain, color: MUTED_COLOR };
        match node.state {
            Some(state) => lines.extend(state_lines(node, state, muted)),
            None => lines.extend(permissions(node, muted)),
        }
        let is_faded = node.edge.is_some_and(|edge| edge.resource.retired) || node.state == Some(NodeState::Absent);
        Self { number, name: node.name.clone(), tag: labels::node_type(node.shape.node), lines, palette, is_faded }
    }

    /// Returns the width of the box in pixels: the width of its widest line with padding, and at least [`MIN_BOX_WIDTH`].
    pub(super) fn width(&self) -> i32 {
        let number = if self.number.is_some() { NUMBER_WIDTH } else { 0 };
        let header = number + width(&self.name, 15, Face::Bold) + HEADER_GAP + width(self.tag, 10, Face::Plain);
        let widest = self.lines.iter().map(CardLine::width).max().unwrap_or(0);
        (2 * PADDING + header.max(widest)).max(MIN_BOX_WIDTH)
    }

    pub(super) fn height(&self) -> i32 {
        2 * PADDING + HEADER_HEIGHT + self.lines.iter().map(CardLine::height).sum::<i32>()
    }

    /// Draws the box in `area`: its frame, its header with number, name and type, and its lines below each other.
    pub(super) fn draw(&self, area: Area, canvas: &mut Canvas) {
        let Palette { fill, stroke, dark } = self.palette;
        let fill = if self.is_faded { "#ffffff" } else { fill };
        canvas.rectangle(area, BoxStyle { fill, stroke, radius: 10, is_dashed: self.is_faded });
        // The base line of the header is 4 pixels above its bottom.
        let (mut x, mut y) = (area.x + PADDING, area.y + PADDING + HEADER_HEIGHT - 4);
        if let Some(number) = self.number {
            canvas.circle(x + 9, y - 5, 9, stroke);
            canvas.text_centered_at(
                x + 9,
                y - 1,
                &number.to_string(),
                TextStyle { size: 11, face: Face::Bold, color: "#ffffff" },
            );
            x += NUMBER_WIDTH;
        }
        // The box of a root is dark, and has white text.
        let name_color = if dark == "#ffffff" { dark } else { TEXT_COLOR };
        canvas.text(x, y, &self.name, TextStyle { size: 15, face: Face::Bold, color: name_color });
        let tag_color = if dark == "#ffffff" { "#cbd5e1" } else { dark };
        let tag_style = TextStyle { size: 10, face: Face::Plain, color: tag_color };
        canvas.text_ending_at(area.right() - PADDING, y, self.tag, tag_style);
        y += 4;
        for line in &self.lines {
            line.draw(area.x + PADDING, y, stroke, canvas);
            y += line.height();
        }
    }
}

impl CardLine {
    /// Draws the line with its upper left corner at `x` and `y`. `stroke` is the color of the frames of labels.
    fn draw(&self, x: i32, y: i32, stroke: &'static str, canvas: &mut Canvas) {
        match self {
            Self::Text(text, style) => {
                canvas.text(x, y + self.height() - 3, text, *style);
            }
            Self::Badges(words) => {
                let mut x = x;
                for label in words {
                    x = badge(x, y, label, stroke, canvas) + BADGE_GAP;
                }
            }
            Self::Term(label, value) => {
                let x = badge(x, y, label, stroke, canvas) + BADGE_GAP;
                canvas.text(x, y + 17, value, TextStyle { size: 11, face: Face::Code, color: TEXT_COLOR });
            }
            Self::State(state) => {
                canvas.circle(x + 5, y + 11, 5, state_color(*state));
                let style = TextStyle { size: 12, face: Face::Bold, color: state_color(*state) };
                canvas.text(x + DOT_WIDTH, y + 15, state.as_str(), style);
            }
        }
    }
}

/// Draws a label in a frame, and returns the right end of the frame.
fn badge(x: i32, y: i32, label: &str, stroke: &'static str, canvas: &mut Canvas) -> i32 {
    let area = Area { x, y: y + 5, width: badge_width(label), height: 17 };
    canvas.rectangle(area, BoxStyle { fill: "#ffffff", stroke, radius: 8, is_dashed: false });
    let style = TextStyle { size: 10, face: Face::Bold, color: MUTED_COLOR };
    canvas.text_centered_at(x + area.width / 2, y + 17, label, style);
    area.right()
}

/// Returns lines of framed labels, side by side. A line is at most [`MAX_TEXT_WIDTH`] wide, unless it has a single label that is wider.
fn badges(labels: impl Iterator<Item = &'static str>) -> Vec<CardLine> {
    let (mut lines, mut line) = (Vec::new(), Vec::new());
    for label in labels {
        line.push(label);
        // A label that doesn't fit starts the next line.
        if CardLine::Badges(line.clone()).width() > MAX_TEXT_WIDTH && line.len() > 1 {
            line.pop();
            lines.push(CardLine::Badges(std::mem::replace(&mut line, vec![label])));
        }
    }
    if !line.is_empty() {
        lines.push(CardLine::Badges(line));
    }
    lines
}

/// Returns the lines of an option: its label with the first line of its value, and the rest of a long value below it.
fn term_lines(label: &'static str, value: &str) -> Vec<CardLine> {
    let first_width = MAX_TEXT_WIDTH - badge_width(label) - BADGE_GAP;
    let style = TextStyle { size: 11, face: Face::Code, color: TEXT_COLOR };
    match wrap_text(value, 11, Face::Code, first_width).as_slice() {
        [] => badges([label].into_iter()),
        [single] => vec![CardLine::Term(label, single.clone())],
        [first, ..] => {
            // The lines below the label are wider than the first line, so the rest of the value is wrapped again.
            let rest = value.get(value.find(first.as_str()).unwrap_or(0) + first.len()..).unwrap_or_default();
            let rest =
                wrap_text(rest, 11, Face::Code, MAX_TEXT_WIDTH).into_iter().map(|line| CardLine::Text(line, style));
            [CardLine::Term(label, first.clone())].into_iter().chain(rest).collect()
        }
    }
}

/// Returns the lines of a node's permissions. A resource node of a single kind shows only the verbs, since its card names the kind.
fn permissions(node: &DiagramNode, style: TextStyle) -> Vec<CardLine> {
    let permissions = labels::permissions(node.shape);
    // The card of a root doesn't name the kind of its objects.
    let only_verbs = node.shape.node == Node::Resource && permissions.len() == 1 && node.edge.is_some();
    let text =
        permissions.iter().map(|access| if only_verbs { labels::verbs(access) } else { labels::permission(access) });
    let lines = text.flat_map(|text| wrap_text(&text, style.size, style.face, MAX_TEXT_WIDTH));
    lines.map(|line| CardLine::Text(line, style)).collect()
}

/// Returns the lines of a node's state and its objects.
fn state_lines(node: &DiagramNode, state: NodeState, style: TextStyle) -> Vec<CardLine> {
    let mut lines = vec![CardLine::State(state)];
    let wrapped_lines = |text: &str| {
        wrap_text(text, style.size, style.face, MAX_TEXT_WIDTH).into_iter().map(move |line| CardLine::Text(line, style))
    };
    lines.extend(wrapped_lines(&node.message));
    for object in &node.objects {
        let name = full_name(object.namespace.as_deref(), &object.name);
        let message = if object.message.is_empty() { String::new() } else { format!(": {}", object.message) };
        lines.extend(wrapped_lines(&format!("{} {name}{message}", object.kind)));
    }
    lines
}
