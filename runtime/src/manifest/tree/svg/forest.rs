//! The boxes of all trees of a drawing, and the lines between them.

use super::route::Wish;
use super::style::{BRANCH, NEXT, NEXT_DOWN};
use crate::{
    manifest::{
        Drawing, Drawn,
        tree::{
            svg::{Canvas, Card, Layout, Size},
            text::full_name,
        },
    },
    shape::{Node, Order},
};

/// A box, and the order in which its children come.
#[derive(Debug)]
pub(super) struct TreeBox {
    pub(super) parent: Option<usize>,
    pub(super) children: Vec<usize>,
    pub(super) node: Node,
    pub(super) path: String,
    pub(super) card: Card,
}

/// All boxes of all trees, parents first.
#[derive(Debug, Default)]
pub(super) struct Forest {
    pub(super) items: Vec<TreeBox>,
    pub(super) wishes: Vec<Wish>,
}

impl Forest {
    pub(super) fn add_tree(&mut self, drawing: &Drawing) {
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

    pub(super) fn add(&mut self, node: &Drawn, parent: Option<usize>, card: Card) -> usize {
        let index = self.items.len();
        self.items.push(TreeBox { parent, children: Vec::new(), node: node.shape.node, path: node.path.clone(), card });
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

    pub(super) fn add_wishes(&mut self, node: &Drawn, index: usize) {
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
    pub(super) fn find(&self, group: &Drawn, index: usize, path: &str) -> Option<usize> {
        let (first, rest) = path.split_once('/').unwrap_or((path, ""));
        let place = group.children.iter().position(|child| child.name == first)?;
        let found = self.items[index].children[place];
        if rest.is_empty() { Some(found) } else { self.find(&group.children[place], found, rest) }
    }

    pub(super) fn sizes(&self) -> Vec<Size> {
        let size = |item: &TreeBox| Size { parent: item.parent, width: item.card.width(), height: item.card.height() };
        self.items.iter().map(size).collect()
    }

    pub(super) fn draw_branches(&self, plan: &Layout, canvas: &mut Canvas) {
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
