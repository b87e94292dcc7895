//! Random trees against a model of the rules.
//!
//! # Flow
//! 1. `plan` draws trees as data from a seed, `types` writes them as Rust types into `generated`: the types that run.
//! 2. `model` says of a planned tree, a state and the answers of its nodes what a pass may do: which calls, which of them
//!    before which others, what comes back, and what is there afterwards. It knows the rules, and nothing of the runtime.
//! 3. `script` draws what happens to a tree over many passes, and compares.
//!
//! A failure prints its seed; `OPGEN_SEED=<seed>` runs that one script alone.

mod dice;
mod generated;
mod model;
mod plan;
mod sample;
mod script;
mod types;

use std::{env, fs, path::Path};

use opgen::shape::{Node, Order, Shape};
use tokio::runtime::Builder;

use plan::{Group, Kind};

/// Scripts a tree and run; each has up to twelve passes and an end.
const SCRIPTS: u64 = 50;

#[test]
fn group_random_trees_do_what_the_model_says() {
    let runtime = Builder::new_current_thread().build().unwrap();
    let _entered = runtime.enter();
    let trees = plan::trees();
    let one: Option<u64> = env::var("OPGEN_SEED").ok().map(|seed| seed.parse().unwrap());
    let mut calls = 0;
    for (at, begin) in generated::trees().into_iter().enumerate() {
        for seed in (0..SCRIPTS).map(|number| at as u64 * 1_000_000 + number) {
            if one.is_none_or(|one| one == seed) {
                calls += script::run(&trees[at], begin, seed)
                    .unwrap_or_else(|failure| panic!("tree {at}, seed {seed}: {failure}"));
            }
        }
    }
    assert!(one.is_some() || calls > 100_000, "only {calls} calls: the scripts hardly do anything");
}

#[test]
fn group_random_trees_are_the_ones_that_were_planned() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("suites/tree/random/generated");
    for (name, text) in types::files(&plan::trees()) {
        let path = folder.join(name);
        if env::var_os("OPGEN_BLESS").is_some() {
            fs::write(&path, &text).unwrap();
        }
        assert!(
            fs::read_to_string(&path).unwrap_or_default() == text,
            "{} is not what is planned; run `cargo bless`",
            path.display()
        );
    }
}

#[test]
fn group_the_shape_of_a_random_tree_is_its_plan() {
    for (plan, shape) in plan::trees().iter().zip(generated::shapes()) {
        compare(plan, shape);
    }
}

fn compare(group: &Group, shape: &Shape) {
    let order = |serial| if serial { Order::Serial } else { Order::Concurrent };
    assert_eq!(shape.node, Node::Group { up: order(group.up_serial), down: order(group.down_serial) });
    assert_eq!(shape.children.len(), group.children.len());
    for (child, edge) in group.children.iter().zip(shape.children) {
        assert_eq!(edge.name, child.name);
        assert_eq!((edge.when.is_empty(), edge.each.is_empty()), (child.when.is_none(), child.each.is_none()));
        assert_eq!(edge.after, child.after.iter().map(|at| group.children[*at].name.as_str()).collect::<Vec<_>>());
        match &child.kind {
            Kind::Group(below) => compare(below, edge.shape),
            Kind::Recorder => assert_eq!(edge.shape.node, Node::Custom),
            Kind::One | Kind::Maybe(_) | Kind::Many(_) => assert_eq!(edge.shape.node, Node::Resource),
        }
    }
}
