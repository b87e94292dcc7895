//! Trees without a cluster: order, conditions, keys, and what nodes hand to each other.

mod access;
mod data;
mod keyed;
mod kind;
mod order;
mod role;
