//! Planned trees as Rust types.

use std::fmt::Write;

use super::plan::{Child, Group, Kind};

/// Lines of one file, at most.
const LINES: usize = 380;

/// What `generated` holds, by file name.
pub(super) fn files(trees: &[Group]) -> Vec<(String, String)> {
    let mut parts: Vec<(Vec<usize>, String)> = Vec::new();
    for (at, tree) in trees.iter().enumerate() {
        let mut text = String::new();
        types(tree, &format!("Tree{at}"), 0, &mut text);
        match parts.last_mut() {
            Some((held, part)) if part.lines().count() + text.lines().count() + 12 < LINES => {
                held.push(at);
                part.push_str(&text);
            }
            _ => parts.push((vec![at], text)),
        }
    }
    let head = "//! Written by the test beside it; `cargo bless` writes it anew.\n\n";
    let mut files = Vec::new();
    for (number, (_, text)) in parts.iter().enumerate() {
        files.push((
            format!("part{number:02}.rs"),
            format!("{head}{}\n{}", imports(text), text.trim_end_matches('\n')) + "\n",
        ));
    }
    files.push(("mod.rs".to_owned(), format!("{head}{}", index(&parts))));
    files
}

fn index(parts: &[(Vec<usize>, String)]) -> String {
    let mut text = String::new();
    for number in 0..parts.len() {
        let _ = writeln!(text, "mod part{number:02};");
    }
    text.push_str("\nuse super::sample::{Begin, begin, shape};\nuse opgen::shape::Shape;\n");
    let trees = || parts.iter().enumerate().flat_map(|(part, (held, _))| held.iter().map(move |at| (part, at)));
    text.push_str("\n/// All trees, in the order of their plans.\npub(super) fn trees() -> Vec<Begin> {\n    vec![\n");
    for (part, at) in trees() {
        let _ = writeln!(text, "        begin::<part{part:02}::Tree{at}>,");
    }
    text.push_str("    ]\n}\n\n/// Their shapes.\npub(super) fn shapes() -> Vec<&'static Shape> {\n    vec![\n");
    for (part, at) in trees() {
        let _ = writeln!(text, "        shape::<part{part:02}::Tree{at}>(),");
    }
    text.push_str("    ]\n}\n");
    text
}

/// No more than what the text names: an import that is not used is a warning.
fn imports(text: &str) -> String {
    let kinds: Vec<&str> = ["ConfigMap", "Secret", "Service"].into_iter().filter(|kind| text.contains(kind)).collect();
    let mut uses = String::new();
    match kinds[..] {
        [] => {}
        [kind] => drop(writeln!(uses, "use k8s_openapi::api::core::v1::{kind};")),
        _ => drop(writeln!(uses, "use k8s_openapi::api::core::v1::{{{}}};", kinds.join(", "))),
    }
    let mut names = vec!["Sample"];
    names.extend(["is_on", "keys"].into_iter().filter(|name| text.contains(&format!("{name}::<"))));
    let names = if names.len() == 1 { names[0].to_owned() } else { format!("{{{}}}", names.join(", ")) };
    let _ = writeln!(uses, "use opgen::{{prelude::*, testing::Recorder}};\n\nuse super::super::sample::{names};");
    uses
}

fn types(group: &Group, name: &str, keyed: usize, text: &mut String) {
    let owner = owner(keyed);
    let order = match (group.up_serial, group.down_serial) {
        (true, true) => "serial",
        (false, false) => "concurrent",
        (true, false) => "up = serial, down = concurrent",
        (false, true) => "up = concurrent, down = serial",
    };
    let visibility = if name.contains('G') { "" } else { "pub(super) " };
    let _ = writeln!(
        text,
        "#[derive(Provisioner)]\n#[provisioner({order}, owner = {owner})]\n{visibility}struct {name} {{"
    );
    for (at, child) in group.children.iter().enumerate() {
        let terms = terms(group, child, keyed);
        if !terms.is_empty() {
            let _ = writeln!(text, "    #[provisioner({})]", terms.join(", "));
        }
        let ty = match &child.kind {
            Kind::Recorder => "Recorder".to_owned(),
            Kind::One => "ConfigMap".to_owned(),
            Kind::Maybe(_) => "Option<Secret>".to_owned(),
            Kind::Many(_) => "Vec<Service>".to_owned(),
            Kind::Group(_) => below(name, at),
        };
        let _ = writeln!(text, "    {}: {ty},", child.name);
    }
    text.push_str("}\n\n");
    builders(group, name, &owner, text);
    for (at, child) in group.children.iter().enumerate() {
        if let Kind::Group(group) = &child.kind {
            types(group, &below(name, at), keyed + usize::from(child.each.is_some()), text);
        }
    }
}

fn below(name: &str, at: usize) -> String {
    format!("{name}G{at}")
}

fn owner(keyed: usize) -> String {
    match keyed {
        0 => "Sample".to_owned(),
        _ => format!("Each<{}, String>", owner(keyed - 1)),
    }
}

fn terms(group: &Group, child: &Child, keyed: usize) -> Vec<String> {
    let mut terms = Vec::new();
    if matches!(child.kind, Kind::One | Kind::Maybe(_) | Kind::Many(_)) {
        terms.push("resource".to_owned());
    }
    let asked = |function: &str, at: usize| match keyed {
        0 => format!("|sample| sample.{function}({at})"),
        _ => format!("{function}::<{at}, _>"),
    };
    terms.extend(child.when.map(|switch| format!("when = {}", asked("is_on", switch))));
    terms.extend(child.each.map(|list| format!("each = {}, key = |key| key", asked("keys", list))));
    if !child.after.is_empty() {
        let names: Vec<&str> = child.after.iter().map(|at| group.children[*at].name.as_str()).collect();
        terms.push(format!("after({})", names.join(", ")));
    }
    terms
}

fn builders(group: &Group, name: &str, owner: &str, text: &mut String) {
    let mut functions = String::new();
    for child in &group.children {
        let (ty, body) = match &child.kind {
            Kind::One => ("ConfigMap", "ConfigMap::default()".to_owned()),
            Kind::Maybe(switch) => {
                ("Result<Option<Secret>>", format!("Ok(draft.owner.is_on({switch})?.then(Secret::default))"))
            }
            Kind::Many(list) => {
                ("Vec<Service>", format!("draft.owner.keys({list}).iter().map(|_| Service::default()).collect()"))
            }
            Kind::Recorder | Kind::Group(_) => continue,
        };
        let draft = if body.contains("draft") { "draft" } else { "_" };
        let _ = writeln!(
            functions,
            "    fn {}({draft}: &Draft<'_, {owner}>) -> {ty} {{\n        {body}\n    }}",
            child.name
        );
    }
    if !functions.is_empty() {
        let _ = writeln!(text, "impl {name} {{\n{functions}}}\n");
    }
}
