//! Tests of the API over a bucket in memory.

mod apply;
mod claims;
mod differential;
mod faults;
mod foreign;
mod harness;
mod lists;
mod positions;
mod watches;
mod writes;
