//! The drawing as it grows: elements of SVG, and how much room they take.

use super::measure::{Face, width};
use std::fmt::Write;

/// Fonts that every system has, by its own names.
const PLAIN: &str = "system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif";
const CODE: &str = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace";

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

/// How a text looks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ink {
    pub(super) size: i32,
    pub(super) face: Face,
    pub(super) color: &'static str,
}

/// How a rectangle looks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paint {
    pub(super) fill: &'static str,
    pub(super) stroke: &'static str,
    pub(super) radius: i32,
    pub(super) is_dashed: bool,
}

/// How a line looks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stroke {
    pub(super) color: &'static str,
    /// In tenths of a pixel.
    pub(super) width: i32,
    /// As SVG's `stroke-dasharray`; empty for a whole line.
    pub(super) dashes: &'static str,
}

/// The elements so far.
#[derive(Debug, Default)]
pub(super) struct Canvas {
    body: String,
    pub(super) right: i32,
    pub(super) bottom: i32,
    /// Where each text is, as far as it may reach.
    pub(super) texts: Vec<(Area, String)>,
}

impl Canvas {
    fn reach(&mut self, x: i32, y: i32) {
        self.right = self.right.max(x);
        self.bottom = self.bottom.max(y);
    }

    pub(super) fn rectangle(&mut self, area: Area, paint: Paint) {
        let Area { x, y, width, height } = area;
        let Paint { fill, stroke, radius, is_dashed } = paint;
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
        self.reach(area.right(), area.bottom());
    }

    /// Text from its left end on its base line; gives where it ends at the latest.
    pub(super) fn text(&mut self, x: i32, y: i32, text: &str, ink: Ink) -> i32 {
        self.put(x, x, y, text, ink, "")
    }

    /// Text that ends at `x`.
    pub(super) fn text_to(&mut self, x: i32, y: i32, text: &str, ink: Ink) {
        let start = x - width(text, ink.size, ink.face);
        self.put(x, start, y, text, ink, " text-anchor=\"end\"");
    }

    /// Text with its middle at `x`.
    pub(super) fn text_around(&mut self, x: i32, y: i32, text: &str, ink: Ink) {
        let start = x - width(text, ink.size, ink.face) / 2;
        self.put(x, start, y, text, ink, " text-anchor=\"middle\"");
    }

    fn put(&mut self, x: i32, start: i32, y: i32, text: &str, ink: Ink, anchor: &str) -> i32 {
        let class = match ink.face {
            Face::Plain => "",
            Face::Bold => " font-weight=\"600\"",
            Face::Code => " class=\"code\"",
        };
        let Ink { size, color, .. } = ink;
        let _ = writeln!(
            self.body,
            "  <text x=\"{x}\" y=\"{y}\" font-size=\"{size}\"{class} fill=\"{color}\"{anchor}>{}</text>",
            escaped(text)
        );
        let area = Area { x: start, y: y - size, width: width(text, size, ink.face), height: size + size / 4 };
        self.reach(area.right(), area.bottom());
        self.texts.push((area, text.to_owned()));
        area.right()
    }

    pub(super) fn circle(&mut self, x: i32, y: i32, radius: i32, fill: &str) {
        let _ = writeln!(self.body, "  <circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" fill=\"{fill}\"/>");
        self.reach(x + radius, y + radius);
    }

    /// A line through points, with rounded corners.
    pub(super) fn line(&mut self, points: &[(i32, i32)], stroke: Stroke) {
        let Stroke { color, width, dashes } = stroke;
        let dashes = if dashes.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{dashes}\"") };
        let (whole, tenth) = (width / 10, width % 10);
        let _ = writeln!(
            self.body,
            "  <path d=\"{}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"{whole}.{tenth}\" stroke-linecap=\"round\"{dashes}/>",
            rounded(points)
        );
        points.iter().for_each(|(x, y)| self.reach(*x, *y));
    }

    /// A line that ends in an arrow's head.
    pub(super) fn arrow(&mut self, points: &[(i32, i32)], stroke: Stroke) {
        let (Some(&(x, y)), Some(&(from_x, from_y))) = (points.last(), points.iter().rev().nth(1)) else { return };
        let (dx, dy) = ((x - from_x).signum(), (y - from_y).signum());
        let mut shaft = points.to_vec();
        if let Some(end) = shaft.last_mut() {
            *end = (x - 6 * dx, y - 6 * dy);
        }
        self.line(&shaft, stroke);
        let (back_x, back_y) = (x - 9 * dx, y - 9 * dy);
        let _ = writeln!(
            self.body,
            "  <path d=\"M{x} {y}L{} {}L{} {}Z\" fill=\"{}\"/>",
            back_x - 5 * dy,
            back_y - 5 * dx,
            back_x + 5 * dy,
            back_y + 5 * dx,
            stroke.color
        );
    }

    /// The whole document, with a margin on the right and at the bottom.
    pub(super) fn finish(self, name: &str, margin: i32) -> String {
        let (width, height) = (self.right + margin, self.bottom + margin);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
             role=\"img\" font-family=\"{PLAIN}\">\n  <title>{}</title>\n  <style>.code{{font-family:{CODE}}}</style>\n  \
             <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n{}</svg>\n",
            escaped(name),
            self.body
        )
    }
}

const RADIUS: i32 = 8;

/// A path through points, straight up, down or across; each corner begins and ends at most [`RADIUS`] away from it.
fn rounded(points: &[(i32, i32)]) -> String {
    let mut path = String::new();
    for (index, &(x, y)) in points.iter().enumerate() {
        let (before, after) = (index.checked_sub(1).and_then(|i| points.get(i)), points.get(index + 1));
        let _ = match (before, after) {
            (None, _) => write!(path, "M{x} {y}"),
            (Some(_), None) => write!(path, "L{x} {y}"),
            (Some(&before), Some(&after)) => {
                let (a, b) = (towards((x, y), before), towards((x, y), after));
                write!(path, "L{} {}Q{x} {y} {} {}", a.0, a.1, b.0, b.1)
            }
        };
    }
    path
}

/// The point near `corner` in the direction of `other`, at most halfway.
fn towards(corner: (i32, i32), other: (i32, i32)) -> (i32, i32) {
    let step = |from: i32, to: i32| (to - from).signum() * RADIUS.min((to - from).abs() / 2);
    (corner.0 + step(corner.0, other.0), corner.1 + step(corner.1, other.1))
}

/// Text as XML has it; what XML can't hold is left out.
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
