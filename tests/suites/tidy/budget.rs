//! Budgets: what fits on a screen or two gets read.

use std::path::{Path, PathBuf};

use super::{
    Breach, holds, sees,
    source::{Seen, Source, files, is_fixture, read, sources},
};

const FILE: usize = 400;
const FUNCTION: usize = 80;

#[test]
fn no_file_is_longer_than_its_budget() {
    let code = |path: &PathBuf| path.extension().is_some_and(|e| e == "rs" || e == "go") && !is_fixture(path);
    let long = files().into_iter().filter(code).filter_map(|path| long_file(&path, &read(&path)));
    holds("a file has at most 400 lines", long);
}

#[test]
fn no_function_is_longer_than_its_budget() {
    holds("a function has at most 80 lines, its `quote!` included", sources().iter().flat_map(long_functions));
}

fn long_file(path: &Path, text: &str) -> Option<Breach> {
    let lines = text.lines().count();
    let what = format!("{lines} lines");
    (lines > FILE)
        .then(|| Breach::new(path, lines, what, format!("split it by concept (hard limit {FILE}, aim at 250)")))
}

fn long_functions(source: &Source) -> Vec<Breach> {
    let long = source.shipped().filter_map(|fact| match &fact.seen {
        Seen::Function { name, lines } if *lines > FUNCTION => Some(Breach::new(
            &source.path,
            fact.line,
            format!("`{name}` has {lines} lines"),
            format!("give each thing it does a function (hard limit {FUNCTION}, aim at 40)"),
        )),
        _ => None,
    });
    long.collect()
}

#[test]
fn budgets_are_measured_to_the_line() {
    let function = |lines: usize| format!("\nfn f() {{{}}}\n", "\n".repeat(lines - 1));
    sees(long_functions(&Source::parse("a.rs", function(FUNCTION))), &[]);
    sees(long_functions(&Source::parse("a.rs", function(FUNCTION + 1))), &[2]);
    sees(long_functions(&Source::parse("a.rs", format!("#[test]{}", function(FUNCTION + 1)))), &[]);
    sees(long_file(Path::new("a.rs"), &"\n".repeat(FILE)), &[]);
    sees(long_file(Path::new("a.rs"), &"\n".repeat(FILE + 1)), &[FILE + 1]);
}
