//! Lists the rules that the conformance suite of buckets checks, each a [`Statement`], in the order of their numbers.

use super::{
    concurrency, condition, dropped_call, error_text, interruption, isolation, key, read, removal, revision,
    statement::Statement, value, watch_change, watch_life, watch_list,
};

/// The statements by topic.
const TOPICS: [&[Statement]; 14] = [
    key::STATEMENTS,
    value::STATEMENTS,
    revision::STATEMENTS,
    condition::STATEMENTS,
    concurrency::STATEMENTS,
    removal::STATEMENTS,
    read::STATEMENTS,
    watch_list::STATEMENTS,
    watch_change::STATEMENTS,
    watch_life::STATEMENTS,
    interruption::STATEMENTS,
    isolation::STATEMENTS,
    error_text::STATEMENTS,
    dropped_call::STATEMENTS,
];

/// Returns all statements.
pub(super) fn statements() -> impl Iterator<Item = &'static Statement> {
    TOPICS.into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that the numbers of the statements count from 1, and that the documentation of the module lists each statement and no others.
    #[test]
    fn the_documentation_lists_all_statements() {
        let documentation: Vec<&str> = include_str!("mod.rs").lines().collect();
        for (index, Statement { number, text, .. }) in statements().enumerate() {
            assert_eq!(*number as usize, index + 1);
            let line = format!("//! - B{number}: {text}");
            assert!(documentation.contains(&line.as_str()), "{line}");
        }
        let listed = documentation.iter().filter(|line| line.starts_with("//! - B")).count();
        assert_eq!(listed, statements().count());
    }

    /// Checks that the sources of this folder have a doc comment with the number and the text of each statement.
    #[test]
    fn the_check_of_each_statement_is_documented_with_its_text() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/bucket");
        let files =
            std::fs::read_dir(folder).unwrap().map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap());
        // Joins the lines of each doc comment, since a sentence may continue on the next line.
        let sources = files.collect::<String>().replace("\n///", "");
        for Statement { number, text, .. } in statements() {
            let sentence = format!("Checks statement {number}: {text}.");
            assert!(sources.contains(&sentence), "{sentence}");
        }
    }
}
