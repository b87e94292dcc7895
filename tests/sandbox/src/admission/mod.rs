//! Implements admission control: built-in plugins, admission policies and admission webhooks.

pub(crate) use cache::AdmissionCache;
pub(crate) use chain::{mutate, validate};
pub(crate) use plugin::quota_usage;
pub(crate) use review::{Operation, Review};

mod authorizer;
mod cache;
mod chain;
mod expression;
mod match_conditions;
mod match_rules;
mod matching;
mod plugin;
mod policy;
mod reinvocation;
mod review;
mod webhook;
