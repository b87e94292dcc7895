//! What is in a box.

use super::{
    super::{
        drawn::{Drawn, NodeState},
        text::full_name,
        words,
    },
    canvas::{Area, Canvas, Ink, Paint},
    measure::{Face, width, wrapped},
};
use crate::shape::Node;

/// How wide the text in a box may be.
const MOST: i32 = 250;
/// How wide a box is at least.
const LEAST: i32 = 160;
const PADDING: i32 = 14;
const BADGE_GAP: i32 = 6;

/// The colours of a sort of node: all dark enough on white, and apart from each other in grey.
#[derive(Clone, Copy, Debug)]
pub(super) struct Palette {
    pub(super) fill: &'static str,
    pub(super) stroke: &'static str,
    pub(super) dark: &'static str,
}

pub(super) const ROOT: Palette = Palette { fill: "#1e293b", stroke: "#1e293b", dark: "#ffffff" };
pub(super) const GROUP: Palette = Palette { fill: "#eef2ff", stroke: "#6366f1", dark: "#3730a3" };
pub(super) const RESOURCE: Palette = Palette { fill: "#ecfdf5", stroke: "#10b981", dark: "#065f46" };
pub(super) const CUSTOM: Palette = Palette { fill: "#fff7ed", stroke: "#f97316", dark: "#9a3412" };

const TEXT: &str = "#0f172a";
const SOFT: &str = "#475569";

pub(super) fn palette(node: Node) -> Palette {
    match node {
        Node::Group { .. } => GROUP,
        Node::Resource | Node::Manifest(_) => RESOURCE,
        Node::Custom => CUSTOM,
    }
}

/// The colour of a state, beside its word.
fn state_color(state: NodeState) -> &'static str {
    match state {
        NodeState::Ready => "#15803d",
        NodeState::Absent | NodeState::Unknown => "#64748b",
        NodeState::Ending | NodeState::NotReady => "#b45309",
        NodeState::HeldUp | NodeState::Missing => "#b91c1c",
    }
}

/// A line of a box.
#[derive(Debug)]
enum CardLine {
    Text(String, Ink),
    /// Words in frames, side by side.
    Badges(Vec<&'static str>),
    /// A word in a frame, and the first line of what it is about.
    Term(&'static str, String),
    State(NodeState),
}

impl CardLine {
    fn height(&self) -> i32 {
        match self {
            Self::Text(_, ink) => ink.size + 6,
            Self::Badges(_) | Self::Term(..) => 23,
            Self::State(_) => 20,
        }
    }

    fn width(&self) -> i32 {
        match self {
            Self::Text(text, ink) => width(text, ink.size, ink.face),
            Self::Badges(words) => words.iter().map(|word| badge_width(word) + BADGE_GAP).sum::<i32>() - BADGE_GAP,
            Self::Term(word, about) => badge_width(word) + BADGE_GAP + width(about, 11, Face::Code),
            Self::State(state) => 16 + width(state.as_str(), 12, Face::Bold),
        }
    }
}

fn badge_width(word: &str) -> i32 {
    width(word, 10, Face::Bold) + 12
}

/// A box with its text, not yet in its place.
#[derive(Debug)]
pub(super) struct Card {
    /// Its number in a serial group.
    number: Option<usize>,
    name: String,
    tag: &'static str,
    lines: Vec<CardLine>,
    palette: Palette,
    is_faded: bool,
}

impl Card {
    pub(super) fn root(name: &str, subtitle: &str, node: &Drawn, state: Option<(NodeState, &str)>) -> Self {
        let mut lines =
            vec![CardLine::Text(subtitle.to_owned(), Ink { size: 12, face: Face::Plain, color: "#cbd5e1" })];
        if let Some((state, why)) = state {
            let said = if why.is_empty() { state.as_str().to_owned() } else { format!("{}: {why}", state.as_str()) };
            let ink = Ink { size: 12, face: Face::Bold, color: "#ffffff" };
            lines.extend(wrapped(&said, 12, Face::Bold, MOST).into_iter().map(|line| CardLine::Text(line, ink)));
        }
        let rights = Ink { size: 11, face: Face::Plain, color: "#cbd5e1" };
        if state.is_none() {
            lines.extend(permissions(node, rights));
        }
        let tag = words::node(node.shape.node);
        Self { number: None, name: name.to_owned(), tag, lines, palette: ROOT, is_faded: false }
    }

    pub(super) fn of(node: &Drawn, number: Option<usize>) -> Self {
        let mut lines = Vec::new();
        let palette = palette(node.shape.node);
        if node.shape.node == Node::Resource {
            let ink = Ink { size: 13, face: Face::Plain, color: palette.dark };
            lines.extend(
                wrapped(&words::kinds(node.shape), 13, Face::Plain, MOST).into_iter().map(|l| CardLine::Text(l, ink)),
            );
        }
        if let Some(edge) = node.edge {
            let (long, short): (Vec<_>, Vec<_>) =
                words::treatment(edge).into_iter().partition(|term| !term.about.is_empty());
            lines.extend(badges(short.iter().map(|term| term.word)));
            let said = words::terms(edge).into_iter().filter(|term| matches!(term.word, "when" | "each"));
            lines.extend(said.chain(long).flat_map(|term| term_lines(term.word, &term.about)));
        }
        let soft = Ink { size: 11, face: Face::Plain, color: SOFT };
        match node.state {
            Some(state) => lines.extend(state_lines(node, state, soft)),
            None => lines.extend(permissions(node, soft)),
        }
        let is_faded = node.edge.is_some_and(|edge| edge.resource.retired) || node.state == Some(NodeState::Absent);
        Self { number, name: node.name.clone(), tag: words::node(node.shape.node), lines, palette, is_faded }
    }

    pub(super) fn width(&self) -> i32 {
        let number = if self.number.is_some() { 26 } else { 0 };
        let head = number + width(&self.name, 15, Face::Bold) + 16 + width(self.tag, 10, Face::Plain);
        let widest = self.lines.iter().map(CardLine::width).max().unwrap_or(0);
        (2 * PADDING + head.max(widest)).max(LEAST)
    }

    pub(super) fn height(&self) -> i32 {
        2 * PADDING + 18 + self.lines.iter().map(CardLine::height).sum::<i32>()
    }

    pub(super) fn draw(&self, area: Area, canvas: &mut Canvas) {
        let Palette { fill, stroke, dark } = self.palette;
        let fill = if self.is_faded { "#ffffff" } else { fill };
        canvas.rectangle(area, Paint { fill, stroke, radius: 10, is_dashed: self.is_faded });
        let (mut x, mut y) = (area.x + PADDING, area.y + PADDING + 14);
        if let Some(number) = self.number {
            canvas.circle(x + 9, y - 5, 9, stroke);
            canvas.text_around(x + 9, y - 1, &number.to_string(), Ink { size: 11, face: Face::Bold, color: "#ffffff" });
            x += 26;
        }
        let name = if dark == "#ffffff" { dark } else { TEXT };
        canvas.text(x, y, &self.name, Ink { size: 15, face: Face::Bold, color: name });
        let tag = if dark == "#ffffff" { "#cbd5e1" } else { dark };
        canvas.text_to(area.right() - PADDING, y, self.tag, Ink { size: 10, face: Face::Plain, color: tag });
        y += 4;
        for line in &self.lines {
            line.draw(area.x + PADDING, y, stroke, canvas);
            y += line.height();
        }
    }
}

impl CardLine {
    /// Draws it below `y`.
    fn draw(&self, x: i32, y: i32, stroke: &'static str, canvas: &mut Canvas) {
        match self {
            Self::Text(text, ink) => {
                canvas.text(x, y + self.height() - 3, text, *ink);
            }
            Self::Badges(words) => {
                let mut x = x;
                for word in words {
                    x = badge(x, y, word, stroke, canvas) + BADGE_GAP;
                }
            }
            Self::Term(word, about) => {
                let x = badge(x, y, word, stroke, canvas) + BADGE_GAP;
                canvas.text(x, y + 17, about, Ink { size: 11, face: Face::Code, color: TEXT });
            }
            Self::State(state) => {
                canvas.circle(x + 5, y + 11, 5, state_color(*state));
                let ink = Ink { size: 12, face: Face::Bold, color: state_color(*state) };
                canvas.text(x + 16, y + 15, state.as_str(), ink);
            }
        }
    }
}

/// Draws a word in a frame; gives its right end.
fn badge(x: i32, y: i32, word: &str, stroke: &'static str, canvas: &mut Canvas) -> i32 {
    let area = Area { x, y: y + 5, width: badge_width(word), height: 17 };
    canvas.rectangle(area, Paint { fill: "#ffffff", stroke, radius: 8, is_dashed: false });
    let ink = Ink { size: 10, face: Face::Bold, color: SOFT };
    canvas.text_around(x + area.width / 2, y + 17, word, ink);
    area.right()
}

fn badges(words: impl Iterator<Item = &'static str>) -> Vec<CardLine> {
    let (mut lines, mut line) = (Vec::new(), Vec::new());
    for word in words {
        line.push(word);
        if CardLine::Badges(line.clone()).width() > MOST && line.len() > 1 {
            line.pop();
            lines.push(CardLine::Badges(std::mem::replace(&mut line, vec![word])));
        }
    }
    if !line.is_empty() {
        lines.push(CardLine::Badges(line));
    }
    lines
}

fn term_lines(word: &'static str, about: &str) -> Vec<CardLine> {
    let room = MOST - badge_width(word) - BADGE_GAP;
    let ink = Ink { size: 11, face: Face::Code, color: TEXT };
    match wrapped(about, 11, Face::Code, room).as_slice() {
        [] => badges([word].into_iter()),
        [only] => vec![CardLine::Term(word, only.clone())],
        [first, ..] => {
            let rest = about.get(about.find(first.as_str()).unwrap_or(0) + first.len()..).unwrap_or_default();
            let rest = wrapped(rest, 11, Face::Code, MOST).into_iter().map(|line| CardLine::Text(line, ink));
            [CardLine::Term(word, first.clone())].into_iter().chain(rest).collect()
        }
    }
}

/// Where a node is about one kind, its verbs alone say what it may do.
fn permissions(node: &Drawn, ink: Ink) -> Vec<CardLine> {
    let permissions = words::permissions(node.shape);
    let is_plain = node.shape.node == Node::Resource && permissions.len() == 1 && node.edge.is_some();
    let said = permissions.iter().map(|access| if is_plain { words::verbs(access) } else { words::permission(access) });
    let lines = said.flat_map(|said| wrapped(&said, ink.size, ink.face, MOST));
    lines.map(|line| CardLine::Text(line, ink)).collect()
}

fn state_lines(node: &Drawn, state: NodeState, ink: Ink) -> Vec<CardLine> {
    let mut lines = vec![CardLine::State(state)];
    let whole =
        |text: &str| wrapped(text, ink.size, ink.face, MOST).into_iter().map(move |line| CardLine::Text(line, ink));
    lines.extend(whole(&node.why));
    for object in &node.objects {
        let name = full_name(object.namespace.as_deref(), &object.name);
        let why = if object.why.is_empty() { String::new() } else { format!(": {}", object.why) };
        lines.extend(whole(&format!("{} {name}{why}", object.kind)));
    }
    lines
}
