//! Checks the leaders of an operator in an audit log: `cargo run -p opgen-tests --example leaders -- FILE NAMESPACE/LEASE`.
//!
//! The log must have the bodies of Leases: the level `Request` for `leases` in the audit policy of kube-apiserver. Each replica must
//! have an account of its own. The exit code is 1 if a replica wrote without the lead.

#![allow(clippy::print_stdout)]

use std::{path::Path, process::ExitCode};

use opgen_tests::{LeadReport, audit};

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let lease = arguments.get(1).and_then(|lease| lease.split_once('/'));
    let ([file, _], Some((namespace, name))) = (&arguments[..], lease) else {
        println!("usage: leaders FILE NAMESPACE/LEASE");
        return ExitCode::from(2);
    };
    let entries = audit::read(Path::new(file));
    let users = LeadReport::candidates(&entries, namespace, name);
    let report = LeadReport::new(&entries, namespace, name, &users);
    println!("{report}");
    if report.violations.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
