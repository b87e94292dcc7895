//! Computes an upper bound of the width of text, and wraps text.
//!
//! The font of the viewer is unknown, so each character counts with its width in the widest of the usual fonts (Verdana, DejaVu
//! Sans). Text may be narrower than its box, and never exceeds it.

/// The typeface of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Face {
    Plain,
    Bold,
    Code,
}

/// Returns an upper bound of the width of a line in pixels. `size` is the font size in pixels.
pub(super) fn width(text: &str, size: i32, face: Face) -> i32 {
    let sum: i32 = text.chars().map(|c| if face == Face::Code { code_width(c) } else { plain_width(c) }).sum();
    // Bold characters are up to 13 % wider.
    let sum = if face == Face::Bold { sum * 113 / 100 } else { sum };
    (sum * size).div_euclid(1000) + 1
}

/// Returns an upper bound of the width of a character in a proportional font, in thousandths of the font size.
fn plain_width(c: char) -> i32 {
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

fn code_width(c: char) -> i32 {
    if c.is_ascii() { 615 } else { 1080 }
}

/// Breaks text into lines of at most `max_width` pixels. A line ends after a space, and in code also after a separator. Only a
/// word that is wider than a line is broken inside.
pub(super) fn wrap_text(text: &str, size: i32, face: Face, max_width: i32) -> Vec<String> {
    let mut lines = vec![String::new()];
    for part in breakable_parts(text, face) {
        let last = lines.len() - 1;
        let longer = format!("{}{part}", lines[last]);
        if width(longer.trim_end(), size, face) <= max_width {
            lines[last] = longer;
            continue;
        }
        if !lines[last].is_empty() {
            lines.push(String::new());
        }
        for c in part.chars() {
            let last = lines.len() - 1;
            let longer = format!("{}{c}", lines[last]);
            if width(longer.trim_end(), size, face) <= max_width || lines[last].is_empty() {
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

/// Splits text after each character at which a line may end.
fn breakable_parts(text: &str, face: Face) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((index, c)) = chars.next() {
        let end = index + c.len_utf8();
        let is_code = face == Face::Code;
        let is_break = matches!(c, ' ' | '/') || (is_code && matches!(c, ',' | '(' | '_' | '-' | '|' | ':'));
        // In code, a line may start with the dot of a method call, so it may end before the dot.
        let before_dot = is_code && chars.peek().is_some_and(|(_, next)| *next == '.') && !matches!(c, '.' | ' ');
        if is_break || before_dot {
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
    fn wrapped_lines_have_the_maximum_width_and_contain_the_whole_text() {
        let text = "shop.spec.pools.iter().filter(|pool| pool.replicas > 0 && !pool.is_paused) aVeryLongWordThatHasNoSignsAtAllAndGoesOn";
        for max_width in [60, 120, 300] {
            let lines = wrap_text(text, 11, Face::Code, max_width);
            assert!(lines.iter().all(|line| width(line, 11, Face::Code) <= max_width), "{lines:#?}");
            let without_spaces = |text: &str| text.replace(' ', "");
            assert_eq!(without_spaces(&lines.concat()), without_spaces(text));
        }
        assert_eq!(wrap_text("get, list", 11, Face::Plain, 300), ["get, list"]);
        assert_eq!(wrap_text("it is not Available (WaitingFor)", 11, Face::Plain, 170)[1], "(WaitingFor)");
        assert_eq!(wrap_text("", 11, Face::Plain, 300), [""; 0]);
    }
}
