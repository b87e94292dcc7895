//! What isn't written here: aborts and prints outside their places, sleeps, skipped tests, banners.

use super::{
    Breach, holds, sees,
    source::{Fact, Seen, Source, files, is_fixture, sources, sources_in},
};

/// Code that ships: it runs in a user's build or cluster.
const SHIPPED: [&str; 9] = [
    "macros/src",
    "runtime/src",
    "runtime/api/src",
    "runtime/schema/src",
    "cli/src",
    "examples",
    "templates",
    "tests/sandbox/src",
    "tests/testing/src",
];

const LIBRARIES: [&str; 7] = [
    "macros/src",
    "runtime/src",
    "runtime/api/src",
    "runtime/schema/src",
    "cli/src",
    "tests/sandbox/src",
    "tests/testing/src",
];

/// The one module of the CLI that speaks to its user.
const VOICE: [&str; 1] = ["cli/src/ui"];

/// Where the suites wait for a condition.
const WAITING: [&str; 1] = ["tests/harness/wait"];

const FOLDERS_WITHOUT_A_CONCEPT: [&str; 8] = ["util", "utils", "helper", "helpers", "common", "misc", "shared", "v2"];

#[test]
fn shipped_code_does_not_abort() {
    holds("no `unwrap`, `expect` or `panic!` outside tests", sources_in(&SHIPPED).flat_map(aborts));
}

#[test]
fn only_the_voice_of_the_cli_prints() {
    let silent = sources_in(&LIBRARIES).filter(|source| !source.is_in(&VOICE));
    holds("no print macro in a library", silent.flat_map(prints));
}

#[test]
fn tests_wait_for_conditions_and_do_not_sleep() {
    let waiting = sources().iter().filter(|source| !source.is_in(&WAITING));
    holds("no sleep in a test", waiting.flat_map(sleeps));
}

#[test]
fn no_test_is_skipped_or_expects_a_panic() {
    holds("no `#[ignore]`, no `#[should_panic]`", sources().iter().flat_map(evasions));
}

#[test]
fn no_file_has_a_section_banner() {
    holds("no section banners", sources().iter().flat_map(banners));
}

#[test]
fn file_names_name_a_concept() {
    let ours = files().into_iter().filter(|path| !is_fixture(path));
    let vague = ours.filter_map(|path| {
        let named = |part: &str| FOLDERS_WITHOUT_A_CONCEPT.contains(&part.split('.').next().unwrap_or(part));
        let word = path.iter().filter_map(|part| part.to_str()).find(|part| named(part))?.to_owned();
        Some(Breach::new(&path, 1, format!("`{word}` says nothing"), "name it after the concept that is in it"))
    });
    holds("a file is named after its concept", vague);
}

fn aborts(source: &Source) -> Vec<Breach> {
    find(source.shipped(), source, |seen| match seen {
        Seen::Method(name) if matches!(name.as_str(), "unwrap" | "expect" | "unwrap_err" | "expect_err") => {
            Some((format!("`.{name}()`"), "return an error that says what is wrong".to_owned()))
        }
        Seen::Macro(name) if matches!(name.as_str(), "panic" | "todo" | "unimplemented") => {
            Some((format!("`{name}!`"), "return an error that says what is wrong".to_owned()))
        }
        _ => None,
    })
}

fn prints(source: &Source) -> Vec<Breach> {
    find(source.shipped(), source, |seen| match seen {
        Seen::Macro(name) if matches!(name.as_str(), "println" | "print" | "eprintln" | "eprint" | "dbg") => {
            Some((format!("`{name}!`"), "use `tracing`, or `cli/src/ui` in the command".to_owned()))
        }
        _ => None,
    })
}

fn sleeps(source: &Source) -> Vec<Breach> {
    find(source.facts.iter().filter(|fact| fact.in_test), source, |seen| match seen {
        Seen::Path(words) => match &words[..] {
            [.., module, function] if function == "sleep" && (module == "thread" || module == "time") => {
                Some((words.join("::"), "wait for a condition with a deadline (`wait::until`)".to_owned()))
            }
            _ => None,
        },
        Seen::Pause => {
            let fix = "wait for a condition with a deadline (`wait::until`)";
            Some(("a `timeout` of `pending`".to_owned(), fix.to_owned()))
        }
        _ => None,
    })
}

fn evasions(source: &Source) -> Vec<Breach> {
    find(source.facts.iter(), source, |seen| match seen {
        Seen::Attribute(name) if name == "ignore" || name == "should_panic" => {
            Some((format!("`#[{name}]`"), "make the test run, or assert on the error".to_owned()))
        }
        _ => None,
    })
}

fn banners(source: &Source) -> Vec<Breach> {
    let lines = source.text.lines().enumerate();
    let banner = |line: &str| {
        let drawn = line.trim().strip_prefix("//").map(|text| text.trim_start_matches(['/', '!']).trim_start());
        drawn.is_some_and(|text| ["---", "===", "***", "###", "///"].iter().any(|line| text.starts_with(line)))
    };
    let fix = "split the file by concept instead";
    lines
        .filter(|(_, line)| banner(line))
        .map(|(at, line)| Breach::new(&source.path, at + 1, line.trim(), fix))
        .collect()
}

fn find<'a>(
    facts: impl Iterator<Item = &'a Fact>,
    source: &Source,
    judge: impl Fn(&Seen) -> Option<(String, String)>,
) -> Vec<Breach> {
    facts
        .filter_map(|fact| judge(&fact.seen).map(|(what, fix)| Breach::new(&source.path, fact.line, what, fix)))
        .collect()
}

#[test]
fn bans_see_through_macros_and_know_tests() {
    let source = Source::parse(
        "runtime/src/a.rs",
        "fn f() {
            a.unwrap();
            assert_eq!(b.expect(1), 2);
            g([todo!()]);
            assert!(c.unwrap_or(3) != 4);
            panic!();
        }
        #[cfg(test)]
        mod tests {
            use std::thread::sleep;
            #[test]
            #[ignore]
            fn t() { a.unwrap(); std::thread::sleep(b); println!(); }
            async fn p() {
                let _ = tokio::time::timeout(b, std::future::pending::<()>()).await;
                let _ = timeout(b, pending()).await;
                let _ = timeout(b, c()).await;
            }
        }
        fn g() { println!(\"{}\", tokio::time::sleep); }",
    );
    sees(aborts(&source), &[2, 3, 4, 6]);
    sees(prints(&source), &[20]);
    sees(sleeps(&source), &[10, 13, 15, 16]);
    sees(evasions(&source), &[12]);
    sees(banners(&Source::parse("a.rs", "//! # b\n// a\n/// ---\nfn f() {}\n// ====\n")), &[3, 5]);
}
