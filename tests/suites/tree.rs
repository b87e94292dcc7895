//! Trees without a cluster: order, conditions, keys, and what nodes hand to each other.

mod data;
mod foreign;
mod keyed;
mod kind;
mod manifest;
mod order;
