//! Parses the JSON paths of a CRD: simple paths of fields, and column paths with brackets.

/// Parses a JSON path that consists of field names only, such as `.spec.replicas`. Returns the names, or the reason why the path is
/// invalid.
pub(super) fn parse_simple(path: &str) -> Result<Vec<&str>, &'static str> {
    let rest = path.strip_prefix('.').ok_or("it must start with a dot")?;
    let segments: Vec<&str> = rest.split('.').collect();
    if segments.iter().any(|segment| segment.is_empty()) {
        return Err("it has an empty segment");
    }
    let plain = |segment: &&str| segment.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '$'));
    if segments.iter().all(plain) { Ok(segments) } else { Err("only field names are allowed, no brackets") }
}

/// Parses the JSON path of a printer column, such as `.status.conditions[?(@.type=="Ready")].status`. Returns the field names before the
/// first bracket (here `status` and `conditions`), or the reason why the path is invalid.
pub(super) fn parse_column(path: &str) -> Result<Vec<&str>, &'static str> {
    let mut rest = path.strip_prefix('.').ok_or("it must start with a dot")?;
    let mut leading = Vec::new();
    let mut is_before_brackets = true;
    loop {
        let end = rest.find(['.', '[']).unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        check_field_name(name)?;
        if is_before_brackets && !name.is_empty() {
            leading.push(name);
        }
        rest = after;
        while let Some(inside) = rest.strip_prefix('[') {
            is_before_brackets = false;
            rest = parse_bracket(inside)?;
        }
        if rest.is_empty() {
            return Ok(leading);
        }
        rest = rest.strip_prefix('.').ok_or("a bracket must be followed by a dot or the end")?;
        if rest.is_empty() || rest.starts_with('[') {
            return Err("it has an empty segment");
        }
    }
}

/// Returns an error if a segment is empty or has a character that the API server's parser rejects.
fn check_field_name(name: &str) -> Result<(), &'static str> {
    let allowed = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '$' | '*' | '/' | '\\' | ':');
    match name {
        "" => Err("it has an empty segment"),
        name if name.chars().all(allowed) => Ok(()),
        _ => Err("a field name consists of letters, digits, `_` and `-`"),
    }
}

/// Parses a bracket up to its end; `inside` begins after the opening `[`. Returns the text after the closing `]`.
fn parse_bracket(inside: &str) -> Result<&str, &'static str> {
    // The open quote, and the number of open parentheses and inner brackets, in which a `]` does not end the bracket.
    let mut quote = None;
    let mut depth = 0_u32;
    for (at, c) in inside.char_indices() {
        match (quote, c) {
            (Some(open), c) if open == c => quote = None,
            (Some(_), _) => (),
            (None, '\'' | '"') => quote = Some(c),
            (None, '(' | '[') => depth += 1,
            (None, ')') => depth = depth.checked_sub(1).ok_or("a closing parenthesis has no opening one")?,
            (None, ']') if depth > 0 => depth -= 1,
            (None, ']') => {
                let (content, after) = inside.split_at(at);
                check_selector(content)?;
                return after.strip_prefix(']').ok_or("a bracket is not closed");
            }
            _ => (),
        }
    }
    Err(if quote.is_some() { "a quote is not closed" } else { "a bracket is not closed" })
}

/// Returns an error unless the text inside a bracket is an index, a slice, `*`, a quoted name or a filter.
fn check_selector(content: &str) -> Result<(), &'static str> {
    let quoted = |mark| content.len() > 2 && content.starts_with(mark) && content.ends_with(mark);
    let filter = content.starts_with("?(") && content.ends_with(')') && content.len() > 3;
    let slice = !content.is_empty() && content.chars().all(|c| c.is_ascii_digit() || matches!(c, ':' | '-' | ','));
    if content == "*" || quoted('\'') || quoted('"') || filter || slice {
        return Ok(());
    }
    Err("brackets contain an index, `*`, a quoted name or a filter `?(...)`")
}

#[cfg(test)]
mod tests {
    use super::{parse_column, parse_simple};

    #[test]
    fn column_paths_may_have_filters_and_indices() {
        let good = [
            ".spec.replicas",
            ".status.conditions[?(@.type==\"Ready\")].status",
            ".metadata.annotations['example.com/note']",
            ".spec.ports[*].port",
            ".spec.ports[0]",
        ];
        for path in good {
            assert!(parse_column(path).is_ok(), "{path}");
        }
        assert_eq!(parse_column(".status.conditions[0].x").as_deref(), Ok(&["status", "conditions"][..]));
    }

    #[test]
    fn invalid_column_paths_are_rejected() {
        for path in
            ["", "spec", ".", ".spec.", ".spec..x", ".spec[", ".spec[]", ".spec[?(@.a==\"b]", ".a b", ".a[x]", ".a[0]b"]
        {
            assert!(parse_column(path).is_err(), "{path}");
        }
    }

    #[test]
    fn simple_paths_have_no_brackets() {
        assert_eq!(parse_simple(".spec.replicas").as_deref(), Ok(&["spec", "replicas"][..]));
        assert!(
            parse_simple(".spec.items[0]").is_err() && parse_simple("spec").is_err() && parse_simple(".spec.").is_err()
        );
    }
}
