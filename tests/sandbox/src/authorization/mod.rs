//! Authorizes requests by role-based access control (RBAC).

pub(crate) use attributes::{AccessTarget, Attributes};
pub(crate) use authorizer::{authorize, decide, may};
pub(crate) use escalation::check as check_escalation;
pub(crate) use rbac::{Decision, RbacCache};
pub(crate) use review::answer as review;
pub(crate) use rule::quoted;

pub(crate) mod aggregation;
mod attributes;
mod authorizer;
mod escalation;
mod rbac;
mod review;
mod rule;
