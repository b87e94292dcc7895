//! Messages of the compiler and of the macros for mistakes in user code.
//!
//! A case is a program in a folder beside this file, named after its mistake. Messages change with the compiler, so
//! `rust-toolchain.toml` pins it. `TRYBUILD=overwrite` accepts what was found.
#![allow(clippy::unwrap_used)]

use std::{env, process::Command};

/// The compiler whose messages the `.stderr` files hold.
const PINNED: &str = "rustc 1.95.";

#[test]
fn a_mistake_is_one_message_that_says_how_to_mend_it() {
    let found = compiler();
    assert!(
        found.starts_with(PINNED),
        "the messages below tests/ui are those of {PINNED}, but this is {found}: run the tests without `+toolchain` and RUSTC"
    );
    let cases = trybuild::TestCases::new();
    cases.compile_fail("*/*.rs");
}

fn compiler() -> String {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("--version").output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}
