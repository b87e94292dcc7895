//! No circle of files, and no two types of one name in a crate.

use std::path::{Path, PathBuf};

use super::{
    Breach,
    graph::{Graph, Step},
    holds, sees,
    source::{Source, sources},
};

/// The roots of the crates.
const CRATES: [&str; 8] = [
    "macros/src",
    "runtime/src",
    "runtime/api/src",
    "runtime/schema/src",
    "cli/src",
    "tests/harness",
    "tests/sandbox/src",
    "tests/testing/src",
];

#[test]
fn files_name_each_other_in_no_circle() {
    holds("no circle of files", graphs().iter().flat_map(circles));
}

#[test]
fn a_crate_has_no_two_types_of_one_name() {
    holds("no two types of one name in a crate", graphs().iter().flat_map(homonyms));
}

#[test]
fn every_crate_has_files() {
    for root in CRATES {
        assert!(sources().iter().any(|source| source.path.starts_with(root)), "{root} has no files");
    }
}

fn graphs() -> Vec<Graph> {
    CRATES.iter().map(|root| Graph::new(Path::new(root), sources().iter())).collect()
}

fn circles(graph: &Graph) -> Vec<Breach> {
    let fix = "move what they share into a file of its own, or the function to the file of the type that it needs";
    let breach = |circle: Vec<Step>| {
        let steps: Vec<_> =
            circle.iter().map(|step| format!("{}:{} names `{}`", step.file.display(), step.line, step.path)).collect();
        Breach::new(
            &circle[0].file,
            circle[0].line,
            format!("a circle of {} files: {}", circle.len(), steps.join(", ")),
            fix,
        )
    };
    graph.circles().into_iter().map(breach).collect()
}

fn homonyms(graph: &Graph) -> Vec<Breach> {
    let breach = |(name, places): (String, Vec<(PathBuf, usize)>)| {
        let others: Vec<_> = places[1..].iter().map(|(file, line)| format!("{}:{line}", file.display())).collect();
        let what = format!("there is another type `{name}` in {}", others.join(", "));
        Breach::new(&places[0].0, places[0].1, what, "give each a name that says what it is")
    };
    graph.homonyms().into_iter().map(breach).collect()
}

#[test]
fn circles_are_found_through_re_exports_and_homonyms_by_their_names() {
    let sources = [
        Source::parse("c/src/lib.rs", "mod a; mod b; pub use a::A;"),
        // An index that re-exports, and defines nothing that its children need.
        Source::parse("c/src/a/mod.rs", "mod x; mod y; pub use x::A; use y::Y; fn f(_: Y) {}"),
        Source::parse("c/src/a/x.rs", "use super::y::Y;\npub struct A(Y); struct Same;"),
        Source::parse("c/src/a/y.rs", "pub struct Y;"),
        // `b` names what `c` defines, by way of a re-export; `c` names `b`.
        Source::parse("c/src/b.rs", "\nuse crate::d::C;\npub struct B(C); struct Same;"),
        Source::parse("c/src/c.rs", "pub struct C;\nfn f() { crate::b::B::new(); }"),
        Source::parse("c/src/d.rs", "pub use crate::c::*;\n#[cfg(test)] mod tests { use crate::b::B; struct C; }"),
    ];
    let graph = Graph::new(Path::new("c/src"), sources.iter());
    let found = circles(&graph);
    assert!(
        found[0].what.contains("c/src/b.rs:2 names `crate::d::C`, c/src/c.rs:2 names `crate::b::B::new`"),
        "{found:?}"
    );
    sees(found, &[2]);
    sees(homonyms(&graph), &[2]);
}
