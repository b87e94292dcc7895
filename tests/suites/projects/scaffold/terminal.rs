//! A person at a terminal: questions, and no need to repeat what was said.

use std::{
    fs::{File, OpenOptions},
    io::{Read as _, Write as _},
    process::Command,
};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use super::command::Place;

/// Runs the program on a terminal of its own and types each answer when its question is on the screen; returns the exit
/// code and what the screen showed.
fn on_terminal(mut command: Command, answers: &[(&str, &str)]) -> (i32, String) {
    let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&controller).expect("a terminal");
    unlockpt(&controller).expect("a terminal");
    let name = ptsname(&controller, Vec::new()).expect("a terminal").into_string().expect("UTF-8");
    let screen = || OpenOptions::new().read(true).write(true).open(&name).expect("a terminal");
    let mut child = command.stdin(screen()).stdout(screen()).stderr(screen()).spawn().expect("opgen runs");
    drop(command);
    let mut controller = File::from(controller);
    let mut answers = answers.iter().peekable();
    let (mut shown, mut seen) = (Vec::new(), 0);
    let mut chunk = [0; 1024];
    // The end of the last writer is an error on Linux, and the end of the file elsewhere.
    while let Ok(read @ 1..) = controller.read(&mut chunk) {
        shown.extend_from_slice(&chunk[..read]);
        let unread = String::from_utf8_lossy(&shown[seen..]).into_owned();
        if let Some((_, answer)) = answers.next_if(|(question, _)| unread.contains(question)) {
            seen = shown.len();
            controller.write_all(answer.as_bytes()).expect("a keyboard");
        }
    }
    let code = child.wait().expect("opgen ends").code().expect("an exit code");
    (code, String::from_utf8_lossy(&shown).into_owned())
}

#[test]
fn what_is_missing_is_asked_for_until_it_is_good() {
    let place = Place::new();
    let mut command = place.command("new");
    command.env("NO_COLOR", "1");
    let (name, group, kind) = ("like `demo`: ", "like `demo.example.com`: ", "like `Widget`: ");
    let answers =
        [(name, "demo\n"), (group, "nodots\n"), (group, "demo.example.com\n"), (kind, "Pod\n"), (kind, "Widget\n")];
    let (code, shown) = on_terminal(command, &answers);
    assert_eq!(code, 0, "{shown}");
    for question in ["? Name of the operator", "? API group", "? Kind"] {
        assert!(shown.contains(question), "{shown}");
    }
    assert!(shown.contains("error: `nodots` can't be an API group"), "{shown}");
    assert!(shown.contains("error: `Pod` can't be a kind"), "{shown}");
    assert!(shown.contains("Created operator `demo` for `Widget`"), "{shown}");
    assert!(!shown.contains("\u{1b}[1m"), "NO_COLOR holds on a terminal: {shown}");
    assert!(place.path("demo/opgen.toml").is_file());
}

#[test]
fn what_was_said_is_not_asked_for() {
    let place = Place::new();
    let (code, shown) =
        on_terminal(place.command("new demo --group demo.example.com"), &[("like `Widget`: ", "Widget\n")]);
    assert_eq!(code, 0, "{shown}");
    assert!(!shown.contains("API group,") && shown.contains("Kind, like"), "{shown}");
}

#[test]
fn a_person_who_leaves_has_a_clean_folder() {
    let place = Place::new();
    let end_of_input = "\u{4}";
    let (code, shown) = on_terminal(place.command("new demo"), &[("like `demo.example.com`: ", end_of_input)]);
    assert_eq!(code, 2, "{shown}");
    assert!(shown.contains("`--group` is missing"), "{shown}");
    assert_eq!(place.files(), []);
}
