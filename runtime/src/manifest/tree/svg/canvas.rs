//! `Canvas`: collects SVG elements and the size of the image.

use super::measure::{Face, width};
use std::fmt::Write;

/// The sans-serif fonts of common systems.
const PLAIN_FONTS: &str = "system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif";
const CODE_FONTS: &str = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace";

/// A rectangle in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Area {
    pub(super) x: i32,
    pub(super) y: i32,
    pub(super) width: i32,
    pub(super) height: i32,
}

impl Area {
    pub(super) fn right(&self) -> i32 {
        self.x + self.width
    }

    pub(super) fn bottom(&self) -> i32 {
        self.y + self.height
    }

    pub(super) fn middle(&self) -> i32 {
        self.y + self.height / 2
    }
}

/// The style of a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextStyle {
    pub(super) size: i32,
    pub(super) face: Face,
    pub(super) color: &'static str,
}

/// The style of a rectangle.
#[derive(Clone, Copy, Debug)]
pub(super) struct BoxStyle {
    pub(super) fill: &'static str,
    pub(super) stroke: &'static str,
    pub(super) radius: i32,
    pub(super) is_dashed: bool,
}

/// The style of a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stroke {
    pub(super) color: &'static str,
    /// In tenths of a pixel.
    pub(super) width: i32,
    /// The SVG attribute `stroke-dasharray`; empty for a solid line.
    pub(super) dashes: &'static str,
}

/// The point of a text that its position refers to.
#[derive(Clone, Copy)]
enum Anchor {
    Start,
    Middle,
    End,
}

/// The SVG elements so far, and the size that they take.
#[derive(Debug, Default)]
pub(super) struct Canvas {
    body: String,
    pub(super) right: i32,
    pub(super) bottom: i32,
    /// The largest area that each text may take, for tests.
    pub(super) texts: Vec<(Area, String)>,
}

impl Canvas {
    /// Extends the size of the image so that it contains the point.
    fn extend(&mut self, x: i32, y: i32) {
        self.right = self.right.max(x);
        self.bottom = self.bottom.max(y);
    }

    /// Adds a rectangle with rounded corners.
    pub(super) fn rectangle(&mut self, area: Area, style: BoxStyle) {
        let Area { x, y, width, height } = area;
        let BoxStyle { fill, stroke, radius, is_dashed } = style;
        let dashes = if is_dashed { " stroke-dasharray=\"5 4\"" } else { "" };
        let stroke = if stroke.is_empty() {
            String::new()
        } else {
            format!(" stroke=\"{stroke}\" stroke-width=\"1.5\"{dashes}")
        };
        let _ = writeln!(
            self.body,
            "  <rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"{radius}\" fill=\"{fill}\"{stroke}/>"
        );
        self.extend(area.right(), area.bottom());
    }

    /// Adds text that starts at `x`, with its base line at `y`. Returns its right end.
    pub(super) fn text(&mut self, x: i32, y: i32, text: &str, style: TextStyle) -> i32 {
        self.add_text(x, y, text, style, Anchor::Start)
    }

    /// Adds text that ends at `x`.
    pub(super) fn text_ending_at(&mut self, x: i32, y: i32, text: &str, style: TextStyle) {
        self.add_text(x, y, text, style, Anchor::End);
    }

    /// Adds text that is centered at `x`.
    pub(super) fn text_centered_at(&mut self, x: i32, y: i32, text: &str, style: TextStyle) {
        self.add_text(x, y, text, style, Anchor::Middle);
    }

    /// Adds text with its anchor at `x`, and records the area that it takes. Returns its right end.
    fn add_text(&mut self, x: i32, y: i32, text: &str, style: TextStyle, anchor: Anchor) -> i32 {
        let text_width = width(text, style.size, style.face);
        let (start, anchor) = match anchor {
            Anchor::Start => (x, ""),
            Anchor::Middle => (x - text_width / 2, " text-anchor=\"middle\""),
            Anchor::End => (x - text_width, " text-anchor=\"end\""),
        };
        let class = match style.face {
            Face::Plain => "",
            Face::Bold => " font-weight=\"600\"",
            Face::Code => " class=\"code\"",
        };
        let TextStyle { size, color, .. } = style;
        let _ = writeln!(
            self.body,
            "  <text x=\"{x}\" y=\"{y}\" font-size=\"{size}\"{class} fill=\"{color}\"{anchor}>{}</text>",
            escaped(text)
        );
        let area = Area { x: start, y: y - size, width: text_width, height: size + size / 4 };
        self.extend(area.right(), area.bottom());
        self.texts.push((area, text.to_owned()));
        area.right()
    }

    /// Adds a filled circle around the point.
    pub(super) fn circle(&mut self, x: i32, y: i32, radius: i32, fill: &str) {
        let _ = writeln!(self.body, "  <circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" fill=\"{fill}\"/>");
        self.extend(x + radius, y + radius);
    }

    /// Adds a line through points, with rounded corners. The line's parts must be horizontal or vertical.
    pub(super) fn line(&mut self, points: &[(i32, i32)], stroke: Stroke) {
        let Stroke { color, width, dashes } = stroke;
        let dashes = if dashes.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{dashes}\"") };
        let (pixels, tenths) = (width / 10, width % 10);
        let _ = writeln!(
            self.body,
            "  <path d=\"{}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"{pixels}.{tenths}\" stroke-linecap=\"round\"{dashes}/>",
            rounded_path(points)
        );
        points.iter().for_each(|(x, y)| self.extend(*x, *y));
    }

    /// Adds a line through points that ends in an arrowhead at the last point. Adds nothing for fewer than two points.
    pub(super) fn arrow(&mut self, points: &[(i32, i32)], stroke: Stroke) {
        let (Some(&(x, y)), Some(&(from_x, from_y))) = (points.last(), points.iter().rev().nth(1)) else { return };
        // The direction of the last part of the line: one of the two is 0.
        let (dx, dy) = ((x - from_x).signum(), (y - from_y).signum());
        let mut shaft = points.to_vec();
        if let Some(end) = shaft.last_mut() {
            *end = (x - SHAFT_END * dx, y - SHAFT_END * dy);
        }
        self.line(&shaft, stroke);
        let (back_x, back_y) = (x - HEAD_LENGTH * dx, y - HEAD_LENGTH * dy);
        let _ = writeln!(
            self.body,
            "  <path d=\"M{x} {y}L{} {}L{} {}Z\" fill=\"{}\"/>",
            back_x - HEAD_HALF_WIDTH * dy,
            back_y - HEAD_HALF_WIDTH * dx,
            back_x + HEAD_HALF_WIDTH * dy,
            back_y + HEAD_HALF_WIDTH * dx,
            stroke.color
        );
    }

    /// Returns the SVG document with all added elements and the title `name`, with a margin on the right and at the bottom.
    pub(super) fn finish(self, name: &str, margin: i32) -> String {
        let (width, height) = (self.right + margin, self.bottom + margin);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
             role=\"img\" font-family=\"{PLAIN_FONTS}\">\n  <title>{}</title>\n  <style>.code{{font-family:{CODE_FONTS}}}</style>\n  \
             <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n{}</svg>\n",
            escaped(name),
            self.body
        )
    }
}

/// The length of an arrowhead, and half its width, in pixels.
const HEAD_LENGTH: i32 = 9;
const HEAD_HALF_WIDTH: i32 = 5;

/// The distance of the end of an arrow's shaft from its tip, in pixels: inside the head, which covers the round end of the line.
const SHAFT_END: i32 = 6;

/// The maximum radius of a corner, in pixels.
const RADIUS: i32 = 8;

/// Returns the SVG path (attribute `d`) through points that are joined by horizontal and vertical lines. A curve from the line before a
/// corner to the line after it, at most [`RADIUS`] from the corner, rounds each corner.
fn rounded_path(points: &[(i32, i32)]) -> String {
    let mut path = String::new();
    for (index, &(x, y)) in points.iter().enumerate() {
        let (before, after) = (index.checked_sub(1).and_then(|i| points.get(i)), points.get(index + 1));
        let _ = match (before, after) {
            (None, _) => write!(path, "M{x} {y}"),
            (Some(_), None) => write!(path, "L{x} {y}"),
            (Some(&before), Some(&after)) => {
                let (a, b) = (point_towards((x, y), before), point_towards((x, y), after));
                write!(path, "L{} {}Q{x} {y} {} {}", a.0, a.1, b.0, b.1)
            }
        };
    }
    path
}

/// Returns the point at the distance [`RADIUS`] from `corner` in the direction of `other`, or halfway if the two are closer.
fn point_towards(corner: (i32, i32), other: (i32, i32)) -> (i32, i32) {
    let step = |from: i32, to: i32| (to - from).signum() * RADIUS.min((to - from).abs() / 2);
    (corner.0 + step(corner.0, other.0), corner.1 + step(corner.1, other.1))
}

/// Escapes text for XML, and leaves out control characters and the other characters that XML can't contain.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => {}
            c => out.push(c),
        }
    }
    out
}
