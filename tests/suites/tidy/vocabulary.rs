//! One word, one meaning: words that public names don't use, and those that they use instead.

use super::{
    Breach, holds, sees,
    source::{Seen, Source, sources_in},
};

const LIBRARIES: [&str; 5] = ["macros/src", "runtime/src", "runtime/api/src", "runtime/schema/src", "cli/src"];

/// A word in any public name, and the word of this house.
const WORDS: [(&str, &str); 12] = [
    ("entity", "object"),
    ("upsert", "apply"),
    ("destructor", "cleanup"),
    ("fatal", "terminal"),
    ("permanent", "terminal"),
    ("sequence", "serial"),
    ("sequential", "serial"),
    ("parallel", "concurrent"),
    ("reschedule", "requeue"),
    ("boilerplate", "template"),
    ("codegen", "expand"),
    ("misc", "a concept"),
];

/// The last word of a public type: it would fit any type.
const EMPTY_SUFFIXES: [&str; 6] = ["helper", "helpers", "util", "utils", "info", "data"];

#[test]
fn public_names_use_the_words_of_the_house() {
    holds("public names use one word for one meaning", sources_in(&LIBRARIES).flat_map(strays));
}

fn strays(source: &Source) -> Vec<Breach> {
    let judged = source.shipped().filter_map(|fact| {
        let (name, noun) = match &fact.seen {
            Seen::PublicNoun(name) => (name, true),
            Seen::PublicVerb(name) => (name, false),
            _ => return None,
        };
        let words = words(name);
        let known = WORDS.iter().find(|(word, _)| words.iter().any(|own| own == word));
        let fix = known.map(|(word, better)| format!("instead of `{word}` say {better}"));
        let empty = noun && words.last().is_some_and(|last| EMPTY_SUFFIXES.contains(&last.as_str()));
        let fix = fix.or_else(|| empty.then(|| "drop its last word, or say what it is".to_owned()))?;
        Some(Breach::new(&source.path, fact.line, format!("`{name}`"), fix))
    });
    judged.collect()
}

/// The words of a name in camel or snake case, in lower case.
fn words(name: &str) -> Vec<String> {
    let mut spaced = String::new();
    for character in name.chars() {
        spaced.extend(character.is_uppercase().then_some(' '));
        spaced.extend(character.to_lowercase());
    }
    spaced.split([' ', '_']).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

#[test]
fn the_denylist_reads_names_word_by_word() {
    let source = Source::parse(
        "a.rs",
        "pub struct EntityCache;
        pub fn upsert_all() {}
        pub struct CacheInfo;
        pub fn info() {}
        struct Helper;
        pub struct Identity;",
    );
    sees(strays(&source), &[1, 2, 3]);
}
