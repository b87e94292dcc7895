//! Draws the legend, with the symbols that occur in the image.

use super::{
    canvas::{Area, BoxStyle, Canvas, Stroke, TextStyle},
    card::{CUSTOM, EXTERNAL, GROUP, Palette, RESOURCE},
    forest::Forest,
    measure::{Face, width},
    style::{AFTER, BRANCH, MARGIN, NEXT, NEXT_DOWN, READS},
};
use crate::shape::{Node, Order};

/// The symbol of a legend entry.
enum Sign {
    Box(Palette),
    Arrow(Stroke),
}

/// The minimum width of the legend, in pixels: several entries are in a line even below a narrow tree.
const MIN_WIDTH: i32 = 560;

const LEGEND_TEXT: TextStyle = TextStyle { size: 12, face: Face::Plain, color: "#475569" };

/// Draws the legend below `top`: a separator, and the entries side by side, in lines as wide as the image but at least [`MIN_WIDTH`].
pub(super) fn draw(forest: &Forest, top: i32, canvas: &mut Canvas) {
    let right = canvas.right.max(MARGIN + MIN_WIDTH);
    let (mut x, mut y) = (MARGIN, top);
    canvas.line(&[(x, y - 22), (right, y - 22)], Stroke { color: "#e2e8f0", ..BRANCH });
    for (sign, text) in entries(forest) {
        let entry_width = 40 + width(text, LEGEND_TEXT.size, LEGEND_TEXT.face);
        if x > MARGIN && x + entry_width > right {
            (x, y) = (MARGIN, y + 24);
        }
        match sign {
            Sign::Box(Palette { fill, stroke, .. }) => {
                let area = Area { x, y: y - 1, width: 22, height: 14 };
                canvas.rectangle(area, BoxStyle { fill, stroke, radius: 4, is_dashed: false });
            }
            Sign::Arrow(stroke) => canvas.arrow(&[(x, y + 6), (x + 24, y + 6)], stroke),
        }
        canvas.text(x + 32, y + 10, text, LEGEND_TEXT);
        x += entry_width + 24;
    }
}

/// Returns the symbol and the text of each legend entry whose symbol occurs in the image.
fn entries(forest: &Forest) -> Vec<(Sign, &'static str)> {
    let has_node = |accept: &dyn Fn(Node) -> bool| forest.items.iter().any(|item| accept(item.node));
    // Arrows show an order only in a group of several children.
    let has_order =
        |accept: &dyn Fn(Node) -> bool| forest.items.iter().any(|item| item.children.len() > 1 && accept(item.node));
    let is_serial_up = |node: Node| matches!(node, Node::Group { up: Order::Serial, .. });
    let is_serial_down = |node: Node| matches!(node, Node::Group { up: Order::Concurrent, down: Order::Serial });
    let all = [
        (has_node(&|node| matches!(node, Node::Group { .. })), Sign::Box(GROUP), "group"),
        (has_node(&|node| node == Node::Resource), Sign::Box(RESOURCE), "resource: objects of a kind"),
        (has_node(&|node| matches!(node, Node::External(_))), Sign::Box(EXTERNAL), "external: outside of Kubernetes"),
        (has_node(&|node| node == Node::Custom), Sign::Box(CUSTOM), "custom: by hand"),
        (has_order(&is_serial_up), Sign::Arrow(NEXT), "comes next; torn down in reverse"),
        (has_order(&is_serial_down), Sign::Arrow(NEXT_DOWN), "torn down next"),
        (
            forest.dependencies.iter().any(|dependency| !dependency.is_read),
            Sign::Arrow(AFTER),
            "has to be ready before",
        ),
        (forest.dependencies.iter().any(|dependency| dependency.is_read), Sign::Arrow(READS), "is read by"),
    ];
    all.into_iter().filter(|(is_used, ..)| *is_used).map(|(_, sign, text)| (sign, text)).collect()
}
