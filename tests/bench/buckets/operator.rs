//! The operator: one status for each entry, without child objects, in the bucket and nowhere else.

use clap::Parser;
use kube::CustomResource;
use opgen::{RunOptions, command::ManagerArgs, prelude::*};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) const BUCKET: &str = "units";

#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "bench.example.com", version = "v1", kind = "Unit", namespaced, status = "Status")]
#[managed(nats(bucket = "units", history = 1, storage = "memory"))]
pub struct UnitSpec {
    /// A text of any length.
    pub text: String,
}

/// A node that makes nothing.
#[derive(Debug, Provisioner)]
#[provisioner(access())]
struct Nothing;

impl Provision<Unit> for Nothing {
    async fn provision(_: &Context<'_, Unit, Self>) -> Result<()> {
        Ok(())
    }

    async fn deprovision(_: &Teardown<'_, Unit, Self>) -> Result<()> {
        Ok(())
    }
}

/// The options of the process, which name the server.
#[derive(Parser)]
struct Arguments {
    #[command(flatten)]
    manager: ManagerArgs,
}

/// Runs until the process is ended.
pub(crate) async fn run() {
    let operator = Operator::new("units").without_kubernetes().controls_with::<Unit, Nothing>(|units| {
        // Without children there is nothing to tear down.
        units.without_finalizer().events(false).workers(super::WORKERS)
    });
    let configuration = Arguments::parse_from(["units"]).manager.load().unwrap();
    let (operator, options) = configuration.apply_to(operator, RunOptions::default()).unwrap();
    if let Err(error) = operator.run(options).await {
        panic!("{error}");
    }
}
