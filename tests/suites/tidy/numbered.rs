//! Tests by the numbers of the statements that they show.

use std::collections::{BTreeMap, BTreeSet};

use super::source::sources;

/// A statement by its number.
pub(super) type Statement = (u32, &'static str);

/// Returns the numbers of the tests and cases whose names begin with `<prefix><number>_`, with the files.
fn tests_of<'a>(prefix: &str, texts: impl Iterator<Item = (&'a str, &'a str)>) -> BTreeMap<u32, BTreeSet<&'a str>> {
    let mut tested = BTreeMap::<u32, BTreeSet<&str>>::new();
    for (path, text) in texts {
        for begin in [format!("fn {prefix}"), format!("\"{prefix}")] {
            for rest in text.split(&begin).skip(1) {
                let digits = rest.split('_').next().unwrap_or_default();
                if let Ok(number) = digits.parse() {
                    tested.entry(number).or_default().insert(path);
                }
            }
        }
    }
    tested
}

/// Each statement has a test whose name begins with `<prefix><number>_`, and there are no other numbers.
#[track_caller]
pub(super) fn have_tests(prefix: &str, statements: impl IntoIterator<Item = Statement>) {
    let sources = sources().iter().filter_map(|source| Some((source.path.to_str()?, source.text.as_str())));
    let tested = tests_of(prefix, sources);
    let stated: BTreeMap<_, _> = statements.into_iter().collect();
    let untested: Vec<_> = stated.iter().filter(|(number, _)| !tested.contains_key(number)).collect();
    assert!(untested.is_empty(), "no test begins with `{prefix}` and one of these numbers: {untested:#?}");
    let unknown: Vec<_> = tested.iter().filter(|(number, _)| !stated.contains_key(number)).collect();
    assert!(unknown.is_empty(), "there is no statement of these numbers: {unknown:#?}");
}

#[test]
fn numbers_are_read_from_functions_and_from_cases() {
    let text = "fn law_l8_a() {}\nasync fn law_l8_b() {}\ncase(\"law_l21_c\", c); // law_l99_ is no test";
    let tested = tests_of("law_l", [("a.rs", text)].into_iter());
    assert_eq!(tested.into_keys().collect::<Vec<_>>(), [8, 21]);
}
