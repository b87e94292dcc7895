//! Trees as a drawing that stands alone: on a slide, on a page, in print.

mod canvas;
mod card;
mod layout;
mod legend;
mod measure;
mod route;

use super::{
    drawn::{Drawing, Drawn},
    text::full_name,
};
use crate::shape::node::{Node, Order};
use canvas::{Canvas, Ink, Stroke};
use card::Card;
use layout::{Plan, Size, placed};
use measure::Face;
use route::{Wish, lines, routes};

const MARGIN: i32 = 32;
const BRANCH: Stroke = Stroke { color: "#94a3b8", width: 15, dashes: "" };
const NEXT: Stroke = Stroke { color: "#334155", width: 20, dashes: "" };
const NEXT_DOWN: Stroke = Stroke { color: "#64748b", width: 20, dashes: "7 5" };
const AFTER: Stroke = Stroke { color: "#be185d", width: 16, dashes: "1 5" };
const READS: Stroke = Stroke { color: "#0369a1", width: 16, dashes: "5 4" };

/// A drawing of all trees with a legend.
pub(super) fn svg(name: &str, version: &str, drawings: &[Drawing]) -> String {
    drawn(name, version, drawings).0.finish(name, MARGIN)
}

fn drawn(name: &str, version: &str, drawings: &[Drawing]) -> (Canvas, Plan) {
    let mut forest = Forest::default();
    drawings.iter().for_each(|drawing| forest.add_tree(drawing));
    let sizes: Vec<Size> = forest.sizes();
    let (routes, lanes) = routes(&forest.wishes, &layout::depths(&sizes));
    let mut canvas = Canvas::default();
    let end = canvas.text(MARGIN, MARGIN + 20, name, Ink { size: 22, face: Face::Bold, color: "#0f172a" });
    canvas.text(end + 8, MARGIN + 20, version, Ink { size: 14, face: Face::Plain, color: "#64748b" });
    let plan = placed(&sizes, &lanes, MARGIN, MARGIN + 48);
    forest.draw_branches(&plan, &mut canvas);
    for (wish, points) in lines(&routes, &plan) {
        canvas.arrow(&points, if wish.is_read { READS } else { AFTER });
    }
    for (item, spot) in forest.items.iter().zip(&plan.spots) {
        item.card.draw(spot.area, &mut canvas);
    }
    let lowest = plan.bottom.max(canvas.bottom);
    legend::draw(&forest, lowest + 40, &mut canvas);
    (canvas, plan)
}

/// A box, and the order in which its children come.
#[derive(Debug)]
struct Item {
    parent: Option<usize>,
    children: Vec<usize>,
    node: Node,
    path: String,
    card: Card,
}

/// All boxes of all trees, parents first.
#[derive(Debug, Default)]
struct Forest {
    items: Vec<Item>,
    wishes: Vec<Wish>,
}

impl Forest {
    fn add_tree(&mut self, drawing: &Drawing) {
        let subtitle = drawing.kind.api_version();
        let (name, state) = match &drawing.object {
            Some(object) => {
                let name = full_name(object.namespace.as_deref(), &object.name);
                (format!("{} {name}", drawing.kind), Some((object.state, object.why.as_str())))
            }
            None => (drawing.kind.kind.to_string(), None),
        };
        let card = Card::root(&name, &subtitle, &drawing.root, state);
        self.add(&drawing.root, None, card);
    }

    fn add(&mut self, node: &Drawn, parent: Option<usize>, card: Card) -> usize {
        let index = self.items.len();
        self.items.push(Item { parent, children: Vec::new(), node: node.shape.node, path: node.path.clone(), card });
        let is_numbered = node.is_group() && matches!(node.shape.node, Node::Group { up: Order::Serial, .. });
        let mut number = 0;
        for (place, child) in node.children.iter().enumerate() {
            let is_next = place.checked_sub(1).is_none_or(|before| node.children[before].path != child.path);
            number += usize::from(is_next);
            let card = Card::of(child, (is_numbered && node.children.len() > 1).then_some(number));
            let child_index = self.add(child, Some(index), card);
            self.items[index].children.push(child_index);
        }
        self.add_wishes(node, index);
        index
    }

    fn add_wishes(&mut self, node: &Drawn, index: usize) {
        for (place, child) in node.children.iter().enumerate() {
            let Some(edge) = child.edge else { continue };
            for (paths, is_read) in [(edge.after, false), (edge.reads, true)] {
                let sources = paths.iter().filter_map(|path| self.find(node, index, path));
                let to = self.items[index].children[place];
                let wishes: Vec<_> = sources.map(|from| Wish { from, to, is_read }).collect();
                self.wishes.extend(wishes);
            }
        }
    }

    /// The box of the node at a path from a group.
    fn find(&self, group: &Drawn, index: usize, path: &str) -> Option<usize> {
        let (first, rest) = path.split_once('/').unwrap_or((path, ""));
        let place = group.children.iter().position(|child| child.name == first)?;
        let found = self.items[index].children[place];
        if rest.is_empty() { Some(found) } else { self.find(&group.children[place], found, rest) }
    }

    fn sizes(&self) -> Vec<Size> {
        let size = |item: &Item| Size { parent: item.parent, width: item.card.width(), height: item.card.height() };
        self.items.iter().map(size).collect()
    }

    fn draw_branches(&self, plan: &Plan, canvas: &mut Canvas) {
        for (item, spot) in self.items.iter().zip(&plan.spots) {
            let areas: Vec<_> = item.children.iter().map(|child| plan.spots[*child].area).collect();
            for area in &areas {
                let (start, end) = ((spot.area.right(), spot.area.middle()), (area.x, area.middle()));
                let trunk = area.x - 22;
                let points = if start.1 == end.1 {
                    vec![start, end]
                } else {
                    vec![start, (trunk, start.1), (trunk, end.1), end]
                };
                canvas.line(&points, BRANCH);
            }
            for (index, pair) in areas.windows(2).enumerate() {
                // The items of one node have no order among themselves.
                if self.items[item.children[index]].path == self.items[item.children[index + 1]].path {
                    continue;
                }
                let x = pair[0].x + pair[0].width / 2;
                let (upper, lower) = ((x, pair[0].bottom()), (x, pair[1].y));
                match item.node {
                    Node::Group { up: Order::Serial, .. } => canvas.arrow(&[upper, lower], NEXT),
                    Node::Group { down: Order::Serial, .. } => canvas.arrow(&[lower, upper], NEXT_DOWN),
                    _ => {}
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
