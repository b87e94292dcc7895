//! What the signs mean; only those that are used.

use super::{
    canvas::{Area, Canvas, Ink, Paint, Stroke},
    card::{CUSTOM, GROUP, Palette, RESOURCE},
    forest::Forest,
    measure::{Face, width},
    style::{AFTER, BRANCH, MARGIN, NEXT, NEXT_DOWN, READS},
};
use crate::shape::{Node, Order};

enum Sign {
    Box(Palette),
    Arrow(Stroke),
}

const INK: Ink = Ink { size: 12, face: Face::Plain, color: "#475569" };

pub(super) fn draw(forest: &Forest, top: i32, canvas: &mut Canvas) {
    let right = canvas.right.max(MARGIN + 560);
    let (mut x, mut y) = (MARGIN, top);
    canvas.line(&[(x, y - 22), (right, y - 22)], Stroke { color: "#e2e8f0", ..BRANCH });
    for (sign, said) in entries(forest) {
        let wide = 40 + width(said, INK.size, INK.face);
        if x > MARGIN && x + wide > right {
            (x, y) = (MARGIN, y + 24);
        }
        match sign {
            Sign::Box(Palette { fill, stroke, .. }) => {
                let area = Area { x, y: y - 1, width: 22, height: 14 };
                canvas.rectangle(area, Paint { fill, stroke, radius: 4, is_dashed: false });
            }
            Sign::Arrow(stroke) => canvas.arrow(&[(x, y + 6), (x + 24, y + 6)], stroke),
        }
        canvas.text(x + 32, y + 10, said, INK);
        x += wide + 24;
    }
}

fn entries(forest: &Forest) -> Vec<(Sign, &'static str)> {
    let has = |accept: &dyn Fn(Node) -> bool| forest.items.iter().any(|item| accept(item.node));
    let orders =
        |accept: &dyn Fn(Node) -> bool| forest.items.iter().any(|item| item.children.len() > 1 && accept(item.node));
    let serial = |node: Node| matches!(node, Node::Group { up: Order::Serial, .. });
    let only_down = |node: Node| matches!(node, Node::Group { up: Order::Concurrent, down: Order::Serial });
    let all = [
        (has(&|node| matches!(node, Node::Group { .. })), Sign::Box(GROUP), "group"),
        (has(&|node| node == Node::Resource), Sign::Box(RESOURCE), "resource: objects of a kind"),
        (has(&|node| node == Node::Custom), Sign::Box(CUSTOM), "custom: by hand"),
        (orders(&serial), Sign::Arrow(NEXT), "comes next; torn down in reverse"),
        (orders(&only_down), Sign::Arrow(NEXT_DOWN), "torn down next"),
        (forest.wishes.iter().any(|wish| !wish.is_read), Sign::Arrow(AFTER), "has to be ready before"),
        (forest.wishes.iter().any(|wish| wish.is_read), Sign::Arrow(READS), "is read by"),
    ];
    all.into_iter().filter(|(is_used, ..)| *is_used).map(|(_, sign, said)| (sign, said)).collect()
}
