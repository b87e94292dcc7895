//! Trees as a drawing that stands alone: on a slide, on a page, in print.

mod canvas;
mod card;
mod forest;
mod layout;
mod legend;
mod measure;
mod route;
mod style;

use super::drawn::Drawing;
use crate::manifest::tree::svg::{
    forest::Forest,
    style::{AFTER, MARGIN, READS},
};
use canvas::{Canvas, Ink};
use card::Card;
use layout::{Layout, Size, placed};
use measure::Face;
use route::{lines, routes};

/// A drawing of all trees with a legend.
pub(super) fn svg(name: &str, version: &str, drawings: &[Drawing]) -> String {
    drawn(name, version, drawings).0.finish(name, MARGIN)
}

fn drawn(name: &str, version: &str, drawings: &[Drawing]) -> (Canvas, Layout) {
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

#[cfg(test)]
mod tests;
