//! `Forest`: the boxes of all trees in an image, and the lines between them.

use super::route::Dependency;
use super::style::{BRANCH, NEXT, NEXT_DOWN};
use crate::{
    manifest::{
        Diagram, DiagramNode,
        tree::{
            svg::{Canvas, Card, Layout, Size},
            text::full_name,
        },
    },
    shape::{Node, Order},
};

/// The distance of the vertical part of the lines to children from the children, in pixels.
const TRUNK_DISTANCE: i32 = 22;

/// A box with its node and the indices of its children.
#[derive(Debug)]
pub(super) struct TreeBox {
    pub(super) parent: Option<usize>,
    pub(super) children: Vec<usize>,
    pub(super) node: Node,
    pub(super) path: String,
    pub(super) card: Card,
}

/// The boxes of all trees, parents before children, and the dependencies between them.
#[derive(Debug, Default)]
pub(super) struct Forest {
    pub(super) items: Vec<TreeBox>,
    pub(super) dependencies: Vec<Dependency>,
}

impl Forest {
    /// Adds the boxes of one diagram's tree and the dependencies between its nodes.
    pub(super) fn add_tree(&mut self, diagram: &Diagram) {
        let subtitle = diagram.kind.api_version();
        let (name, state) = match &diagram.object {
            Some(object) => {
                let name = full_name(object.namespace.as_deref(), &object.name);
                (format!("{} {name}", diagram.kind), Some((object.state, object.message.as_str())))
            }
            None => (diagram.kind.kind.to_string(), None),
        };
        let card = Card::root(&name, &subtitle, &diagram.root, state);
        self.add(&diagram.root, None, card);
    }

    /// Adds the box of a node and the boxes of all nodes below it. Returns the index of the node's box. The children of a serial group are
    /// numbered in their order.
    pub(super) fn add(&mut self, node: &DiagramNode, parent: Option<usize>, card: Card) -> usize {
        let index = self.items.len();
        self.items.push(TreeBox { parent, children: Vec::new(), node: node.shape.node, path: node.path.clone(), card });
        let is_numbered = node.is_group() && matches!(node.shape.node, Node::Group { up: Order::Serial, .. });
        let mut number = 0;
        for (position, child) in node.children.iter().enumerate() {
            // The items of a node with `each` have the same path, and share one number.
            let is_new_node = position.checked_sub(1).is_none_or(|before| node.children[before].path != child.path);
            number += usize::from(is_new_node);
            let card = Card::of(child, (is_numbered && node.children.len() > 1).then_some(number));
            let child_index = self.add(child, Some(index), card);
            self.items[index].children.push(child_index);
        }
        self.add_dependencies(node, index);
        index
    }

    /// Adds the dependencies of the children of a group: on the nodes that `after` names, and on the nodes whose outputs they read. `index`
    /// is the index of the group's box.
    pub(super) fn add_dependencies(&mut self, node: &DiagramNode, index: usize) {
        for (position, child) in node.children.iter().enumerate() {
            let Some(edge) = child.edge else { continue };
            for (paths, is_read) in [(edge.after, false), (edge.reads, true)] {
                let sources = paths.iter().filter_map(|path| self.find(node, index, path));
                let to = self.items[index].children[position];
                let dependencies: Vec<_> = sources.map(|from| Dependency { from, to, is_read }).collect();
                self.dependencies.extend(dependencies);
            }
        }
    }

    /// Returns the index of the box of the node at `path`, such as `workload/service`, below a group, whose box has the index `index`;
    /// `None` if there is no such node.
    pub(super) fn find(&self, group: &DiagramNode, index: usize, path: &str) -> Option<usize> {
        let (child_name, rest) = path.split_once('/').unwrap_or((path, ""));
        let position = group.children.iter().position(|child| child.name == child_name)?;
        let box_index = self.items[index].children[position];
        if rest.is_empty() { Some(box_index) } else { self.find(&group.children[position], box_index, rest) }
    }

    /// Returns the size and the parent of each box, for the layout.
    pub(super) fn sizes(&self) -> Vec<Size> {
        let size = |item: &TreeBox| Size { parent: item.parent, width: item.card.width(), height: item.card.height() };
        self.items.iter().map(size).collect()
    }

    /// Draws the lines from parents to children, and the arrows between the children of serial groups.
    pub(super) fn draw_branches(&self, layout: &Layout, canvas: &mut Canvas) {
        for (item, placed_box) in self.items.iter().zip(&layout.boxes) {
            let areas: Vec<_> = item.children.iter().map(|child| layout.boxes[*child].area).collect();
            for area in &areas {
                let (start, end) = ((placed_box.area.right(), placed_box.area.middle()), (area.x, area.middle()));
                let trunk_x = area.x - TRUNK_DISTANCE;
                let points = if start.1 == end.1 {
                    vec![start, end]
                } else {
                    vec![start, (trunk_x, start.1), (trunk_x, end.1), end]
                };
                canvas.line(&points, BRANCH);
            }
            for (index, pair) in areas.windows(2).enumerate() {
                // A node with `each` has several items with the same path, which have no order among themselves.
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
