//! Reads the subcommands and the options of a program from its help texts.

/// Returns the subcommands of a program that have none themselves, as words: `tree`, `rbac explain`. `help` returns the help text of
/// the program for the empty string, and that of a subcommand for its words. If the help text lists no subcommands, the result is one
/// empty string.
pub fn subcommands(help: &dyn Fn(&str) -> String) -> Vec<String> {
    leaf_subcommands(help, "")
}

/// Returns the subcommands below the subcommand `parent` that have none themselves; `parent` alone if its help text lists none. The list of
/// subcommands stands between the line `Commands:` and the next empty line.
fn leaf_subcommands(help: &dyn Fn(&str) -> String, parent: &str) -> Vec<String> {
    let text = help(parent);
    let listed = text.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names = listed.filter_map(|line| line.strip_prefix("  ")?.split(' ').next()).filter(|name| !name.is_empty());
    let children = names.filter(|name| *name != "help").map(|name| format!("{parent} {name}").trim().to_owned());
    let leaves: Vec<_> = children.flat_map(|child| leaf_subcommands(help, &child)).collect();
    if leaves.is_empty() { vec![parent.to_owned()] } else { leaves }
}

/// Returns the options in a help text that take the path of a file or of a folder, such as `--path`. Their values are named `DIR`,
/// `FILE`, `FOLDER` or `PATH`.
pub fn path_options(help: &str) -> Vec<&str> {
    let takes_path = |line: &&str| ["<DIR>", "<FILE>", "<FOLDER>", "<PATH>"].iter().any(|value| line.contains(value));
    let options = help.lines().map(str::trim).filter(|line| line.starts_with('-')).filter(takes_path);
    options.filter_map(|line| line.split(' ').find(|word| word.starts_with("--"))).collect()
}
