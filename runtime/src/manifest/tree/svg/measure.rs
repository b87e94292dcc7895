//! How wide text will be at most.
//!
//! Which font a viewer takes is not known, so each character counts as wide as in the widest of the usual ones (Verdana,
//! DejaVu Sans): text may end early, and never leaves its box.

/// A font by its use. Sizes are in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Face {
    Plain,
    Bold,
    Code,
}

/// The width of a line in pixels, rounded up.
pub(super) fn width(text: &str, size: i32, face: Face) -> i32 {
    let sum: i32 = text.chars().map(|c| if face == Face::Code { code(c) } else { plain(c) }).sum();
    let sum = if face == Face::Bold { sum * 113 / 100 } else { sum };
    (sum * size).div_euclid(1000) + 1
}

/// In thousandths of the size.
fn plain(c: char) -> i32 {
    match c {
        'i' | 'j' | 'l' | '\'' => 300,
        ' ' | ',' | '.' | '/' | '\\' | '|' | '!' => 400,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '-' | ':' | ';' | 'I' | 'J' => 460,
        's' | 'c' | 'z' => 570,
        'm' | '@' | '%' | 'W' => 1080,
        'w' | 'M' | '#' | '<' | '>' | '=' | '+' | '~' | '^' | '&' | 'O' | 'Q' => 880,
        'A'..='Z' => 790,
        ' '..='~' => 650,
        _ => 1080,
    }
}

fn code(c: char) -> i32 {
    if c.is_ascii() { 615 } else { 1080 }
}

/// Lines of at most `most` pixels. A line ends behind a space, of code also behind a sign that joins words; only a word that
/// is wider than a line is cut anywhere.
pub(super) fn wrapped(text: &str, size: i32, face: Face, most: i32) -> Vec<String> {
    let mut lines = vec![String::new()];
    for part in parts(text, face) {
        let last = lines.len() - 1;
        let longer = format!("{}{part}", lines[last]);
        if width(longer.trim_end(), size, face) <= most {
            lines[last] = longer;
            continue;
        }
        if !lines[last].is_empty() {
            lines.push(String::new());
        }
        for c in part.chars() {
            let last = lines.len() - 1;
            let longer = format!("{}{c}", lines[last]);
            if width(longer.trim_end(), size, face) <= most || lines[last].is_empty() {
                lines[last] = longer;
            } else {
                lines.push(c.to_string());
            }
        }
    }
    lines.iter_mut().for_each(|line| *line = line.trim().to_owned());
    lines.retain(|line| !line.is_empty());
    lines
}

fn parts(text: &str, face: Face) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut signs = text.char_indices().peekable();
    while let Some((at, c)) = signs.next() {
        let end = at + c.len_utf8();
        let is_code = face == Face::Code;
        let joins = matches!(c, ' ' | '/') || (is_code && matches!(c, ',' | '(' | '_' | '-' | '|' | ':'));
        // A method begins a line with its dot.
        let before_dot = is_code && signs.peek().is_some_and(|(_, next)| *next == '.') && !matches!(c, '.' | ' ');
        if joins || before_dot {
            parts.push(&text[start..end]);
            start = end;
        }
    }
    parts.push(&text[start..]);
    parts.retain(|part| !part.is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_keep_to_their_width_and_lose_nothing() {
        let text = "shop.spec.pools.iter().filter(|pool| pool.replicas > 0 && !pool.is_paused) aVeryLongWordThatHasNoSignsAtAllAndGoesOn";
        for most in [60, 120, 300] {
            let lines = wrapped(text, 11, Face::Code, most);
            assert!(lines.iter().all(|line| width(line, 11, Face::Code) <= most), "{lines:#?}");
            let squeeze = |text: &str| text.replace(' ', "");
            assert_eq!(squeeze(&lines.concat()), squeeze(text));
        }
        assert_eq!(wrapped("get, list", 11, Face::Plain, 300), ["get, list"]);
        assert_eq!(wrapped("it is not Available (WaitingFor)", 11, Face::Plain, 170)[1], "(WaitingFor)");
        assert_eq!(wrapped("", 11, Face::Plain, 300), [""; 0]);
    }
}
