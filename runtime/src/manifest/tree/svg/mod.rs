//! Renders tree diagrams as a self-contained SVG image.

mod canvas;
mod card;
mod forest;
mod layout;
mod legend;
mod measure;
mod route;
mod style;

use super::diagram::Diagram;
use crate::manifest::tree::svg::{
    forest::Forest,
    style::{AFTER, MARGIN, READS},
};
use canvas::{Canvas, TextStyle};
use card::Card;
use layout::{Layout, Size, place_boxes};
use measure::Face;
use route::{lines, routes};

/// Returns the SVG image of all trees with a legend.
pub(super) fn svg(name: &str, version: &str, diagrams: &[Diagram]) -> String {
    draw(name, version, diagrams).0.finish(name, MARGIN)
}

/// Draws the name and the version of the operator, all trees and the legend. Returns the canvas, and the layout for tests. Lines are drawn
/// before boxes, so that boxes cover them.
fn draw(name: &str, version: &str, diagrams: &[Diagram]) -> (Canvas, Layout) {
    let mut forest = Forest::default();
    diagrams.iter().for_each(|diagram| forest.add_tree(diagram));
    let sizes: Vec<Size> = forest.sizes();
    let (routes, lanes) = routes(&forest.dependencies, &layout::depths(&sizes));
    let mut canvas = Canvas::default();
    let end = canvas.text(MARGIN, MARGIN + 20, name, TextStyle { size: 22, face: Face::Bold, color: "#0f172a" });
    canvas.text(end + 8, MARGIN + 20, version, TextStyle { size: 14, face: Face::Plain, color: "#64748b" });
    let layout = place_boxes(&sizes, &lanes, MARGIN, MARGIN + 48);
    forest.draw_branches(&layout, &mut canvas);
    for (dependency, points) in lines(&routes, &layout) {
        canvas.arrow(&points, if dependency.is_read { READS } else { AFTER });
    }
    for (item, placed_box) in forest.items.iter().zip(&layout.boxes) {
        item.card.draw(placed_box.area, &mut canvas);
    }
    let lowest = layout.bottom.max(canvas.bottom);
    legend::draw(&forest, lowest + 40, &mut canvas);
    (canvas, layout)
}

#[cfg(test)]
mod tests;
