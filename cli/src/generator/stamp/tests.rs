#![allow(clippy::unwrap_used)]

use std::time::Duration;

use super::*;

struct Fixture {
    folder: tempfile::TempDir,
    project: Project,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().to_owned();
        for (path, text) in [("api/src/lib.rs", "one"), ("api/Cargo.toml", "two"), ("deploy/crds/a.yaml", "three")] {
            fs_err::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            fs_err::write(root.join(path), text).unwrap();
        }
        Self { folder, project: Project { root, name: "demo".to_owned(), generated: "deploy".into() } }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn stamp(&self) -> Stamp {
        let dep_info = self.path("demo.d");
        let (source, package) = (self.path("api/src/lib.rs"), Path::new("/target/opgen/demo-generator"));
        let main = package.join("src/main.rs");
        fs_err::write(&dep_info, format!("/target/demo: {} {}\n", source.display(), main.display())).unwrap();
        let inputs = inputs(&self.project, &self.project.root, &dep_info, package).unwrap();
        assert!(!inputs.contains(&main), "the generator's own source");
        let findings = json!([{"severity": "warning", "kind": "Widget", "path": "", "problem": "a", "fix": "b"}]);
        Stamp::new(&self.project, inputs, &Report::deserialize(json!({"findings": findings})).unwrap())
    }

    fn is_current(&self) -> bool {
        Stamp::load_current(&self.path("stamp.json"), &self.project).is_some()
    }
}

#[test]
fn an_unchanged_project_is_recognised() {
    let fixture = Fixture::new();
    assert!(!fixture.is_current(), "never stamped");
    fixture.stamp().store(&fixture.path("stamp.json")).unwrap();
    let stamp = Stamp::load_current(&fixture.path("stamp.json"), &fixture.project).unwrap();
    assert_eq!(stamp.report().findings.len(), 1, "warnings are said again");
}

#[test]
fn a_change_of_an_input_or_output_is_noticed_and_so_is_its_reversal() {
    let fixture = Fixture::new();
    fixture.stamp().store(&fixture.path("stamp.json")).unwrap();
    for path in [
        "api/src/lib.rs",
        "api/Cargo.toml",
        "Cargo.lock",
        "opgen.toml",
        "rust-toolchain.toml",
        "deploy/crds/a.yaml",
        "deploy/b.yaml",
    ] {
        let path = fixture.path(path);
        let before = fs_err::read(&path);
        fs_err::write(&path, "other").unwrap();
        assert!(!fixture.is_current(), "{} changed", path.display());
        match before {
            Ok(before) => fs_err::write(&path, before).unwrap(),
            Err(_) => fs_err::remove_file(&path).unwrap(),
        }
        assert!(fixture.is_current(), "{} as before", path.display());
    }
    fs_err::remove_file(fixture.path("deploy/crds/a.yaml")).unwrap();
    assert!(!fixture.is_current(), "a generated file is gone");
}

#[test]
fn a_stamp_of_another_project_or_half_a_stamp_is_none() {
    let fixture = Fixture::new();
    let file = fixture.path("stamp.json");
    fixture.stamp().store(&file).unwrap();
    let text = fs_err::read_to_string(&file).unwrap();
    fs_err::write(&file, &text[..text.len() / 2]).unwrap();
    assert!(!fixture.is_current());
    fs_err::write(&file, text.replace(&*fixture.path("").to_string_lossy(), "/elsewhere/")).unwrap();
    assert!(!fixture.is_current());
}

#[test]
fn an_input_written_during_the_build_invalidates_the_stamp() {
    let fixture = Fixture::new();
    let stamp = fixture.stamp();
    let written = fs_err::metadata(fixture.path("api/src/lib.rs")).unwrap().modified().unwrap();
    assert!(stamp.has_input_newer_than(written));
    assert!(!stamp.has_input_newer_than(written + Duration::from_secs(60)));
}

#[test]
fn names_with_spaces_are_read_from_dep_info() {
    let files = read_files("/t/demo: /a/b\\ c.rs /d.rs\n\n/t/other: /e.rs\n");
    assert_eq!(files, Some(BTreeSet::from(["/a/b c.rs".into(), "/d.rs".into()])));
    assert_eq!(read_files(""), None);
}
