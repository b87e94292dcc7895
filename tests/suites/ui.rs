//! What the compiler says where a macro hands the word to it, and how a macro's own messages look there.
//!
//! A case is a program below `tests/ui`, named after its mistake. Messages change with the compiler, so this runs on the pinned
//! one only. `TRYBUILD=overwrite` accepts what was found.

use std::{
    env,
    io::{Write, stderr},
    process::Command,
};

/// The compiler whose words the `.stderr` files hold.
const PINNED: &str = "rustc 1.95.";

#[test]
fn a_mistake_is_one_message_that_says_how_to_mend_it() {
    let found = compiler();
    if !found.starts_with(PINNED) {
        // Past the capture of the test harness: a skip must be seen.
        let reason =
            format!("skipped: the messages of the compiler are those of `{PINNED}`, found `{}`\n", found.trim());
        stderr().write_all(reason.as_bytes()).unwrap();
        return;
    }
    let cases = trybuild::TestCases::new();
    cases.compile_fail("ui/*/*.rs");
}

fn compiler() -> String {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("--version").output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}
