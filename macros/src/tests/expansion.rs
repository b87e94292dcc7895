//! Tests that valid input expands as in golden files, and that expansions don't depend on names that the user's crate has in scope.

use super::{MACROS, assert_golden, check_golden, fixtures};
use proc_macro2::{TokenStream, TokenTree};
use std::fs;

#[test]
fn good_input_expands_as_reviewed() {
    let mut differences = Vec::new();
    for (name, run) in MACROS {
        for file in fixtures("expand", name) {
            let expansion = run(fs::read_to_string(&file).unwrap().parse().unwrap());
            assert!(expansion.diags.errors().is_empty(), "{}: {}", file.display(), expansion.diags.errors()[0]);
            let code = prettyplease::unparse(&syn::parse2(expansion.code).unwrap());
            differences.extend(check_golden(&file.with_extension("out.rs"), &code).err());
        }
    }
    assert_golden(&differences);
}

/// Names that a user's crate may shadow; expansions must name them by absolute paths.
const SHADOWABLE: [&str; 20] = [
    "std", "core", "alloc", "opgen", "Vec", "Option", "Some", "None", "Result", "Ok", "Err", "String", "Box",
    "Default", "Send", "bool", "str", "usize", "vec", "env",
];

#[test]
fn expansions_name_nothing_that_is_in_scope_by_chance() {
    for (name, run) in MACROS {
        for file in fixtures("expand", name) {
            let source: TokenStream = fs::read_to_string(&file).unwrap().parse().unwrap();
            // Names in the input are the user's own.
            let in_source = bare_names(source.clone());
            let bare: Vec<_> =
                bare_names(run(source).code).into_iter().filter(|name| !in_source.contains(name)).collect();
            assert!(bare.is_empty(), "{}: {bare:?}", file.display());
        }
    }
}

#[test]
fn an_overridden_path_replaces_every_mention_of_the_crate() {
    for (name, _) in MACROS {
        let (_, run) = MACROS.into_iter().find(|(known, _)| *known == name).unwrap();
        let file =
            fixtures("expand", name).into_iter().find(|file| file.ends_with("overridden_crate_path.rs")).unwrap();
        let code = run(fs::read_to_string(file).unwrap().parse().unwrap()).code.to_string();
        assert!(!code.contains(":: opgen") && code.contains("my :: facade"), "{code}");
    }
}

/// Returns the shadowable names without `::` before them.
fn bare_names(tokens: TokenStream) -> Vec<String> {
    let mut bare = Vec::new();
    let mut colons = 0;
    for token in tokens {
        match &token {
            TokenTree::Group(group) => bare.extend(bare_names(group.stream())),
            TokenTree::Ident(ident) if colons < 2 && SHADOWABLE.iter().any(|name| ident == name) => {
                bare.push(ident.to_string());
            }
            _ => (),
        }
        colons = if matches!(&token, TokenTree::Punct(punct) if punct.as_char() == ':') { colons + 1 } else { 0 };
    }
    bare
}
