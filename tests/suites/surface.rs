//! The public interfaces of `opgen`, `opgen-api`, `opgen-schema`, `opgen-testing` and `opgen-sandbox` as lists in git, so that a review
//! sees each change.
//!
//! # Flow
//! 1. `crate_` reads the modules of the crate and finds what a name means in a module.
//! 2. `list` writes a line for whatever can be reached from outside: items, fields, variants, methods, implemented traits.
//! 3. The lists are `tests/golden/public-api.txt`, `public-api-api.txt`, `public-api-schema.txt`, `public-api-testing.txt` and
//!    `public-api-sandbox.txt`. `cargo bless` takes what was found in place of them.
//!
//! What can be built or matched from outside cannot grow without breaking its users: a struct with public fields only, and an
//! enum, is `#[non_exhaustive]` or stands in [`CLOSED`] with its reason.

#[path = "surface/crate_.rs"]
mod crate_;
#[path = "surface/list.rs"]
mod list;

use std::{collections::BTreeSet, env, fs, path::PathBuf};

use crate_::Crate;

/// Why the types of `opgen-schema` need not grow.
const OF_BOTH: &str = "the linter and the sandbox, which have its version, make or match it";

/// Public types that have all the parts that they will ever have, and why.
const CLOSED: &[(&str, &str)] = &[
    ("opgen::shape::Access", "expansions of the macros, which have its version, write it as a constant"),
    ("opgen::shape::Cardinality", "expansions of the macros, which have its version, write it as a constant"),
    ("opgen::shape::DeletionPropagation", "expansions of the macros, which have its version, write it as a constant"),
    ("opgen::shape::Edge", "expansions of the macros, which have its version, write it as a constant"),
    ("opgen::shape::EmbeddedManifest", "expansions of the macros, which have its version, write it as a constant"),
    ("opgen::shape::Node", "expansions of the macros, which have its version, write it as a constant"),
    ("opgen::shape::Order", "expansions of the macros, which have its version, write it as a constant"),
    ("opgen::cd::Registration", "drivers write it as a constant"),
    ("opgen::shape::SourceLocation", "expansions of the macros, which have its version, write it as a constant"),
    ("opgen::shape::AccessTarget", "expansions of the macros, which have its version, write it as a constant"),
    ("opgen::shape::ResourceOptions", "expansions of the macros, which have its version, write it as a constant"),
    ("opgen::shape::Shape", "expansions of the macros, which have its version, write it as a constant"),
    ("opgen::shape::Verb", "expansions of the macros, which have its version, write it as a constant"),
    ("opgen::Foreign", "a new type around a kind"),
    ("opgen_api::Kind", "people write kinds as literals, and these are all the names of one"),
    ("opgen_api::NamespacedName", "people write it as a literal, and a name has no more"),
    ("opgen_api::Status", "people embed it, and a field more changes their definitions"),
    ("opgen::access::Within", "expansions of the macros, which have its version, write it as a constant"),
    (
        "opgen_api::reference::ReferenceField",
        "expansions of the macros, which have its version, write it as a constant",
    ),
    ("opgen::testing::Answer", "a model of trees matches all answers"),
    ("opgen_schema::Breaks", OF_BOTH),
    ("opgen_schema::Cause", OF_BOTH),
    ("opgen_schema::CheckOptions", OF_BOTH),
    ("opgen_schema::CompiledRule", OF_BOTH),
    ("opgen_schema::Fields", OF_BOTH),
    ("opgen_schema::List", OF_BOTH),
    ("opgen_schema::ListKind", OF_BOTH),
    ("opgen_schema::Merge", OF_BOTH),
    ("opgen_schema::OldValue", OF_BOTH),
    ("opgen_schema::OtherFields", OF_BOTH),
    ("opgen_schema::Rule", OF_BOTH),
    ("opgen_schema::Scalar", OF_BOTH),
    ("opgen_schema::ScalePaths", OF_BOTH),
    ("opgen_schema::Schema", OF_BOTH),
    ("opgen_schema::Shape", OF_BOTH),
    ("opgen_sandbox::Record", "`opgen dev`, which has its version, makes them of the calls to a cluster"),
    ("opgen_sandbox::fault::ObservedCall", "`opgen dev`, which has its version, makes them of the calls to a cluster"),
    ("opgen_sandbox::fault::ObservedEvent", "`opgen dev`, which has its version, makes them of the calls to a cluster"),
    ("opgen_sandbox::fault::TimelineEntry", "`opgen dev`, which has its version, makes them of the calls to a cluster"),
    ("opgen_sandbox::fault::ObservedPass", "`opgen dev`, which has its version, makes them of the calls to a cluster"),
];

fn path(below: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(below)
}

fn runtime() -> Crate {
    Crate::read("opgen", &path("../runtime/src/lib.rs"))
}

/// The other crates that a scaffolded project depends on, by itself or through these.
fn others() -> [(&'static str, Crate); 4] {
    [
        ("public-api-api.txt", Crate::read("opgen_api", &path("../runtime/api/src/lib.rs"))),
        ("public-api-schema.txt", Crate::read("opgen_schema", &path("../runtime/schema/src/lib.rs"))),
        ("public-api-testing.txt", Crate::read("opgen_testing", &path("testing/src/lib.rs"))),
        ("public-api-sandbox.txt", Crate::read("opgen_sandbox", &path("sandbox/src/lib.rs"))),
    ]
}

#[test]
fn the_public_interface_is_the_one_in_git() {
    let mut found = list::of(&runtime());
    found.extend(list::of_macros(&path("../macros/src/lib.rs")));
    is_in_git("public-api.txt", &found);
}

/// What a user meets first must be few; the rest has a module that says what it is for.
#[test]
fn the_root_of_the_crate_has_at_most_forty_names() {
    let lines = list::of(&runtime());
    let name = |line: &String| line.strip_prefix("opgen::")?.split_once(": ").map(|(name, _)| name.to_owned());
    let names: BTreeSet<_> = lines.iter().filter_map(name).filter(|name| !name.contains("::")).collect();
    assert!(names.len() > 20 && names.len() <= 40, "{} names: {names:?}", names.len());
}

#[test]
fn the_public_interfaces_of_the_other_crates_are_those_in_git() {
    for (golden, all) in others() {
        is_in_git(golden, &list::of(&all));
    }
}

fn is_in_git(name: &str, found: &[String]) {
    let (golden, found) = (path("golden").join(name), found.join("\n") + "\n");
    if env::var_os("OPGEN_BLESS").is_some() {
        fs::write(&golden, &found).unwrap();
    }
    let expected = fs::read_to_string(&golden).unwrap_or_default();
    let changes: Vec<_> = diffy::create_patch(&expected, &found).to_string().lines().map(str::to_owned).collect();
    assert!(expected == found, "the public interface has changed; `cargo bless` accepts it:\n{}", changes.join("\n"));
}

#[test]
fn public_types_can_grow() {
    let of_tests = others().into_iter().flat_map(|(_, all)| list::open_types(&all));
    let open: Vec<_> = list::open_types(&runtime()).into_iter().chain(of_tests).collect();
    let is_closed = |name: &str| CLOSED.iter().any(|(closed, _)| *closed == name);
    let breaches: Vec<_> = open.iter().filter(|name| !is_closed(name)).cloned().collect();
    let fix = "give it private fields and a builder, or `#[non_exhaustive]`, or a row in CLOSED with the reason";
    assert!(breaches.is_empty(), "{} types can't grow; {fix}:\n{}", breaches.len(), breaches.join("\n"));
    let unused: Vec<_> = CLOSED.iter().filter(|(name, _)| !open.iter().any(|open| open == name)).collect();
    assert!(unused.is_empty(), "rows of CLOSED that nothing needs: {unused:?}");
}

/// A small crate with one of each form.
#[test]
fn what_can_be_reached_is_listed_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write(
        "lib.rs",
        "mod inner;\npub mod outer;\npub use inner::{Kept, Open as Renamed};\n#[doc(hidden)]\npub mod hidden { pub struct No; }\n",
    );
    write(
        "inner.rs",
        "/// Kept.\n#[derive(Clone, Debug)]\npub struct Kept<T> { value: T, pub(crate) other: u32 }\n\
         pub struct Open { pub value: u32 }\npub struct Unreachable;\n\
         impl<T> Kept<T> {\n    /// Reads.\n    pub fn get(\n        &self,\n    ) -> &T { &self.value }\n    fn own(&self) {}\n}\n\
         impl<T> Drop for Kept<T> { fn drop(&mut self) {} }\n",
    );
    write(
        "outer.rs",
        "#[non_exhaustive]\npub enum Grows { One, Two { at: u32 }, Three(String) }\npub enum Stays { Only }\n\
         pub trait Reads { fn read(&self) -> u32; fn twice(&self) -> u32 { 2 } }\npub(crate) fn no() {}\npub const MOST: u32 = 3;\n",
    );
    let sample = Crate::read("sample", &folder.path().join("lib.rs"));
    let expected = "\
sample::Kept: impl Drop
sample::Kept: pub fn get(&self) -> &T
sample::Kept: pub struct Kept<T>, derives Clone, Debug, private fields
sample::Renamed: pub struct Open
sample::Renamed: pub value: u32
sample::outer::Grows: #[non_exhaustive] pub enum Grows
sample::outer::Grows: variant One
sample::outer::Grows: variant Three(String)
sample::outer::Grows: variant Two { at: u32 }
sample::outer::MOST: pub const MOST: u32 = 3
sample::outer::Reads: fn read(&self) -> u32
sample::outer::Reads: fn twice(&self) -> u32, provided
sample::outer::Reads: pub trait Reads
sample::outer::Stays: pub enum Stays
sample::outer::Stays: variant Only";
    assert_eq!(list::of(&sample).join("\n"), expected);
    assert_eq!(list::open_types(&sample), ["sample::Renamed", "sample::outer::Stays"]);
}
