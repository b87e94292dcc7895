//! Documents tell the truth: the paths they name exist, and the Rust they show compiles.

use std::path::{Component, Path, PathBuf};

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};

use super::{
    Breach, holds, root, sees,
    source::{files, is_fixture, read, sources_in},
};

/// A word in backticks that ends so names a file.
const EXTENSIONS: [&str; 12] = ["rs", "go", "md", "toml", "yaml", "yml", "json", "sh", "tmpl", "stderr", "mod", "lock"];

/// Folders that are written by tools: they are named, and may be absent.
const BUILT: [&str; 1] = ["target"];

#[test]
fn every_path_named_in_a_document_exists() {
    let documents = files().into_iter().filter(|path| path.extension().is_some_and(|e| e == "md") && !is_fixture(path));
    let all = files();
    let breaches = documents.flat_map(|document| {
        let text = read(&document);
        named_paths(&text)
            .into_iter()
            .filter_map(|(line, path)| missing_path(&document, line, &path, &all))
            .collect::<Vec<_>>()
    });
    holds("paths in documents", breaches);
}

#[test]
fn every_rust_block_of_the_readme_is_compiled() {
    let readme = Path::new("README.md");
    let examples: Vec<String> = sources_in(&["examples"]).map(|source| source.text.clone()).collect();
    holds("Rust in the README", unchecked_blocks(readme, &read(readme), &examples));
    let included = sources_in(&["runtime/src", "tests"]).any(|source| {
        source.text.match_indices("include_str!(\"").any(|(at, start)| {
            let path = source.text[at + start.len()..].split('"').next().unwrap_or_default();
            let folder = source.path.parent().unwrap_or(Path::new(""));
            source.text.contains("doctest") && normal(&folder.join(path)).as_deref() == Some(readme)
        })
    });
    let fix = "write `#[cfg(doctest)] #[doc = include_str!(\"../../README.md\")] struct Readme;` in runtime/src/lib.rs";
    let breach = || Breach::new(readme, 1, "its Rust is compiled by no doctest", fix);
    holds("Rust in the README", (!included).then(breach));
}

/// The paths in code spans and links, outside code blocks, with their lines.
fn named_paths(text: &str) -> Vec<(usize, String)> {
    let mut in_block = false;
    let mut paths = Vec::new();
    for (event, range) in Parser::new(text).into_offset_iter() {
        let line = text[..range.start].matches('\n').count() + 1;
        match event {
            Event::Start(Tag::CodeBlock(_)) => in_block = true,
            Event::End(TagEnd::CodeBlock) => in_block = false,
            Event::Code(code) if !in_block && is_path(&code) => paths.push((line, code.to_string())),
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) if !dest_url.contains(':') => {
                let path = dest_url.split('#').next().unwrap_or_default();
                paths.extend((!path.is_empty()).then(|| (line, path.to_owned())));
            }
            _ => {}
        }
    }
    paths
}

/// Whether a code span is meant as the path of one file or folder: no placeholder, no pattern, no command, no address.
/// A name with a slash and without an extension (`apps/v1`) is one only if its start is a folder at the top.
fn is_path(code: &str) -> bool {
    let plain = code.chars().all(|c| c.is_ascii_alphanumeric() || "._-/".contains(c));
    if !plain || code.starts_with(['-', '/']) || code.starts_with("..") && !code.contains('/') {
        return false;
    }
    let extension = Path::new(code).extension().and_then(|extension| extension.to_str());
    let named = extension.is_some_and(|extension| EXTENSIONS.contains(&extension));
    let first = code.split('/').next().unwrap_or_default();
    named || code.contains('/') && (first == "." || root().join(first).is_dir() && !first.is_empty())
}

fn missing_path(document: &Path, line: usize, named: &str, all: &[PathBuf]) -> Option<Breach> {
    let path = Path::new(named.trim_end_matches('/'));
    if BUILT.iter().any(|folder| path.starts_with(folder)) {
        return None;
    }
    let folders = document.ancestors().skip(1);
    let found =
        folders.map(|folder| folder.join(path)).filter_map(|path| normal(&path)).any(|path| root().join(path).exists());
    let what = format!("`{named}` does not exist");
    let fix = "name it as it is, from this folder or from the top";
    (!found && !is_of_a_project(path, all)).then(|| Breach::new(document, line, what, fix))
}

/// A path in the projects that `opgen new` writes, or a bare file name that some folder has.
fn is_of_a_project(path: &Path, all: &[PathBuf]) -> bool {
    let rendered = PathBuf::from(format!("{}.tmpl", path.display()));
    let bare = path.components().count() == 1;
    all.iter().any(|file| {
        let scaffolded = file.starts_with("templates") || file.starts_with("examples");
        let inside = file.ancestors().any(|part| part.ends_with(path) || part.ends_with(&rendered));
        (scaffolded || bare) && inside
    })
}

/// `a/../b` as `b`; `None` if it leaves the workspace.
fn normal(path: &Path) -> Option<PathBuf> {
    path.components().try_fold(PathBuf::new(), |mut normal, component| match component {
        Component::Normal(part) => Some(normal.join(part)),
        Component::CurDir => Some(normal),
        Component::ParentDir => normal.pop().then_some(normal),
        Component::RootDir | Component::Prefix(_) => None,
    })
}

/// Rust blocks that a doctest would pass over and that no example has, word for word.
fn unchecked_blocks(document: &Path, text: &str, examples: &[String]) -> Vec<Breach> {
    let mut passed_over = None;
    let mut breaches = Vec::new();
    for (event, range) in Parser::new(text).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => {
                let words: Vec<_> = info.split([',', ' ']).collect();
                let line = text[..range.start].matches('\n').count() + 1;
                passed_over = (words.contains(&"rust") && words.contains(&"ignore")).then_some(line);
            }
            Event::Text(block) => {
                if let Some(line) = passed_over.take()
                    && !examples.iter().any(|example| example.contains(block.trim()))
                {
                    let fix = "let it compile (`no_run` may stay), or show a part of an example as it is";
                    breaches.push(Breach::new(document, line, "a Rust block is ignored", fix));
                }
            }
            _ => {}
        }
    }
    breaches
}

#[test]
fn documents_are_read_like_a_reader_reads_them() {
    let text = "Edit `macros/src/lib.rs`, [or](cli/none.rs#top), `cargo test`, `apps/v1`, `<kind>.rs` and `a/*.rs`.\n\n\
        ```text\n`in/a/block.rs`\n```\n\nSee `tests/nowhere/`, <https://example.com/a.md> and `v1.2/x.y`.\n";
    let named = named_paths(text);
    let expected = [(1, "macros/src/lib.rs"), (1, "cli/none.rs"), (7, "tests/nowhere/")];
    assert_eq!(named, expected.map(|(line, path)| (line, path.to_owned())));
    let missing = named.iter().filter_map(|(line, path)| missing_path(Path::new("README.md"), *line, path, &[]));
    sees(missing, &[1, 7]);
    let text = "a\n```rust\nb\n```\n\n```rust,ignore\nc\n```\n\n```rust,ignore\nd\n```\n";
    sees(unchecked_blocks(Path::new("a.md"), text, &["b\nd\n".to_owned()]), &[6]);
}

#[test]
fn paths_of_a_scaffolded_project_are_known() {
    let all = ["templates/project/Cargo.toml.tmpl", "examples/webapp/deploy/install.yaml"].map(PathBuf::from);
    assert!(is_of_a_project(Path::new("deploy/install.yaml"), &all));
    assert!(is_of_a_project(Path::new("project/Cargo.toml"), &all));
    assert!(!is_of_a_project(Path::new("deploy/role.yaml"), &all));
}
