//! What the READMEs of the examples show is what they are.

use std::{fs, path::Path};

use opgen::{
    Operator,
    manifest::{Describe as _, tree},
};

#[test]
fn readmes_show_the_trees() {
    shows(include_str!("../../examples/cluster/README.md"), &cluster_controller::operator());
    shows(include_str!("../../examples/ippool/README.md"), &ippool_controller::operator());
    shows(include_str!("../../examples/platform/README.md"), &platform_controller::operator());
    shows(include_str!("../../examples/shop/README.md"), &shop_controller::operator());
}

#[track_caller]
fn shows(readme: &str, operator: &Operator) {
    let tree = tree(&operator.project().unwrap());
    assert!(readme.contains(&tree), "this is not in the README:\n{tree}");
}

#[test]
fn the_readme_of_the_database_counts_the_lines_of_its_files() {
    let readme = include_str!("../../examples/database/README.md");
    let source = include_str!("../../examples/database/api/src/database.rs");
    let (types, _) = source.split_once("\n#[cfg(test)]").unwrap();
    let (own, others) = (counted_lines(types), ["kubebuilder", "stackable"].map(lines_of_files));
    let shown = readme.lines().zip(readme.lines().skip(1)).filter(|(command, _)| command.contains("grep -cPv"));
    let shown: Vec<_> = shown.map(|(_, lines)| lines).collect();
    assert_eq!(shown, [own.to_string(), others[0].to_string(), others[1].to_string()]);
    let row = format!("| **all** | **{own}** | **{}** (+415) | **{}** |", others[0], others[1]);
    assert!(readme.contains(&row), "this is not in the README:\n{row}");
    assert!(own * 4 <= others[0], "{own} lines are more than a quarter of {}", others[0]);
}

#[test]
fn the_readme_of_the_cluster_counts_the_lines_of_its_trees() {
    let readme = include_str!("../../examples/cluster/README.md");
    let trees: [(&str, &[&str]); 4] = [
        ("ClusterManager", &["cluster_manager.rs"]),
        ("KubernetesCluster", &["kubernetes_cluster.rs", "kubernetes_cluster"]),
        ("VirtualCluster", &["virtual_cluster.rs"]),
        ("ApplicationSet", &["application_set.rs"]),
    ];
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/cluster/controller/src");
    for (tree, paths) in trees {
        let lines: usize = paths.iter().map(|path| lines_below(&folder.join(path))).sum();
        let row = format!("| `{tree}` | {lines} |");
        assert!(readme.contains(&row), "this is not in the README:\n{row}");
    }
}

/// The counted lines of the files in a folder of `elsewhere`.
fn lines_of_files(folder: &str) -> usize {
    lines_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/database/elsewhere").join(folder))
}

/// The counted lines of a file, or of the files in a folder.
fn lines_below(path: &Path) -> usize {
    if path.is_file() {
        return counted_lines(&fs::read_to_string(path).unwrap());
    }
    fs::read_dir(path).unwrap().map(|entry| lines_below(&entry.unwrap().path())).sum()
}

/// The lines that are neither blank nor a comment. Attributes of Rust and markers of kubebuilder count.
fn counted_lines(text: &str) -> usize {
    text.lines().map(str::trim_start).filter(|line| !line.is_empty() && !is_comment(line)).count()
}

fn is_comment(line: &str) -> bool {
    line.strip_prefix("//").is_some_and(|rest| !rest.starts_with(" +"))
        || line.strip_prefix('#').is_some_and(|rest| !rest.starts_with('['))
}
