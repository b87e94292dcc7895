//! Computes the JSON names of fields and variants by the rules of serde's `rename_all`.

/// Returns the JSON name of a field under serde's `rename_all`. `rule` is the value of `rename_all`, and `field` the name in Rust, in snake
/// case. An unknown rule, which serde reports, leaves the name unchanged.
pub(super) fn renamed_field(field: &str, rule: Option<&str>) -> String {
    let pascal = || field.split('_').map(capitalised).collect::<String>();
    match rule {
        Some("lowercase" | "snake_case") | None => field.to_owned(),
        Some("UPPERCASE" | "SCREAMING_SNAKE_CASE") => field.to_uppercase(),
        Some("PascalCase") => pascal(),
        Some("camelCase") => {
            let pascal = pascal();
            let mut chars = pascal.chars();
            chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
        }
        Some("kebab-case") => field.replace('_', "-"),
        Some("SCREAMING-KEBAB-CASE") => field.to_uppercase().replace('_', "-"),
        Some(_) => field.to_owned(),
    }
}

/// Returns a word with its first letter in upper case.
fn capitalised(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// Returns the JSON name of a variant under serde's `rename_all`. `rule` is the value of `rename_all`, and `variant` the name in Rust, in
/// PascalCase. For the rules with separators, the name is first converted to snake case.
pub(super) fn renamed_variant(variant: &str, rule: Option<&str>) -> String {
    let mut snake = String::new();
    for (index, c) in variant.char_indices() {
        if c.is_uppercase() && index > 0 {
            snake.push('_');
        }
        snake.extend(c.to_lowercase());
    }
    match rule {
        Some("lowercase") => variant.to_lowercase(),
        Some("UPPERCASE") => variant.to_uppercase(),
        Some("PascalCase") | None => variant.to_owned(),
        Some("camelCase") => {
            let mut chars = variant.chars();
            chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
        }
        rule => renamed_field(&snake, rule),
    }
}
