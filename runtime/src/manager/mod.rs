//! The process of an operator: starts controllers with their shared watches and the runnables of the user, supervises tasks, answers
//! probes, and shuts down.
//!
//! [`Runnable`] is work of your own beside the controllers. [`Operator::runnable`](crate::Operator::runnable) adds it to an operator,
//! and [`Runnables`] to one run, also while it runs. [`Manager`] runs several operators in one process.

pub(crate) mod buckets;
mod checks;
mod client_layers;
mod cluster_connector;
pub(crate) mod conditions;
mod deadline;
mod defined_kind;
mod describe;
mod extend;
pub(crate) mod extensions;
mod health;
mod informers;
mod leadership;
mod observed;
pub(crate) mod operator;
mod operators;
mod probed_lead;
pub(crate) mod probes;
mod replicas;
pub(crate) mod run;
pub(crate) mod run_error;
pub(crate) mod run_options;
mod runnable;
mod runnable_groups;
mod servers;
mod several;
mod sharded_lead;
mod shutdown;
pub(crate) mod signals;
mod spawn;
mod spec_guard;
mod storage_migration;
mod upgrade;
pub(crate) mod upgrade_hook;
pub(crate) mod upgrade_record;
mod webhooks;
pub(crate) mod wiring;

pub use conditions::ConditionsError;
pub use extensions::ExtensionError;
pub use runnable::{AddRunnableError, Runnable, RunnableContext, Runnables};
pub use several::Manager;
