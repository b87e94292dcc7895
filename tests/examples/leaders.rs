//! Checks the leaders of an operator in an audit log: `cargo run -p opgen-tests --example leaders -- FILE [NAMESPACE/LEASE]`.
//!
//! The log must have the bodies of Leases: the level `Request` for `leases` in the audit policy of kube-apiserver. Without the name of
//! a Lease, all Leases in the log are checked that a replica has taken, except those of nodes. The exit code is 1 if a replica wrote
//! without the lead.

#![allow(clippy::print_stdout)]

use std::{collections::BTreeSet, path::Path, process::ExitCode};

use opgen_tests::{Entries, LeadReport, audit};

/// The namespace of the heartbeats of nodes.
const NODES: &str = "kube-node-lease";

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let (file, lease) = match &arguments[..] {
        [file] => (file, None),
        [file, lease] => (file, lease.split_once('/')),
        _ => {
            println!("usage: leaders FILE [NAMESPACE/LEASE]");
            return ExitCode::from(2);
        }
    };
    let entries = audit::read(Path::new(file));
    let leases = match lease {
        Some((namespace, name)) => [(namespace.to_owned(), name.to_owned())].into(),
        None => leases(&entries),
    };
    let mut is_violated = false;
    for (namespace, name) in leases {
        let users = LeadReport::candidates(&entries, &namespace, &name);
        let report = LeadReport::new(&entries, &namespace, &name, &users);
        println!("{namespace}/{name}\n{report}\n");
        is_violated |= !report.violations.is_empty();
    }
    if is_violated { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Returns the namespaces and names of all Leases that somebody has taken, except those of nodes.
fn leases(entries: &Entries) -> BTreeSet<(String, String)> {
    let taken = entries.with(|entry| entry.holder.is_some() && entry.namespace != NODES);
    taken.iter().map(|entry| (entry.namespace.clone(), entry.name.clone())).collect()
}
