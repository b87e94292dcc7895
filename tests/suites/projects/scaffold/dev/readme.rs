//! The first command of the README, and what it says comes of it.

use std::fs;

use crate::scaffold::command::checkout;

pub(super) struct Readme {
    /// The arguments of `opgen`.
    pub(super) args: String,
    /// The drawing.
    pub(super) tree: String,
}

impl Readme {
    pub(super) fn read() -> Self {
        let text = fs::read_to_string(checkout().join("README.md")).expect("a README");
        let (_, block) = text.split_once("```console\n").expect("a command");
        let (block, _) = block.split_once("```").expect("its end");
        let (command, shown) = block.split_once('\n').expect("what it prints");
        let args = command.strip_prefix("$ cargo run -p opgen-cli -- ").expect("a command of opgen");
        let (line, tree) = shown.split_once('\n').expect("a tree");
        assert!(line.starts_with("export KUBECONFIG="), "{line}");
        Self { args: args.to_owned(), tree: tree.to_owned() }
    }
}
