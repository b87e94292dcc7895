//! Defines the margin of the image and the strokes of each type of line.

use super::canvas::Stroke;

pub(super) const MARGIN: i32 = 32;
pub(super) const BRANCH: Stroke = Stroke { color: "#94a3b8", width: 15, dashes: "" };
pub(super) const NEXT: Stroke = Stroke { color: "#334155", width: 20, dashes: "" };
pub(super) const NEXT_DOWN: Stroke = Stroke { color: "#64748b", width: 20, dashes: "7 5" };
pub(super) const AFTER: Stroke = Stroke { color: "#be185d", width: 16, dashes: "1 5" };
pub(super) const READS: Stroke = Stroke { color: "#0369a1", width: 16, dashes: "5 4" };
