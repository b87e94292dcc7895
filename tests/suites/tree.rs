//! Trees without a cluster: order, conditions, keys, and what nodes hand to each other.

mod acceptance;
mod access;
mod conditional;
mod data;
mod external;
mod foreign;
mod keyed;
mod kind;
mod manifest;
mod order;
mod random;
mod resource;
mod role;
mod serial;
mod shape;
