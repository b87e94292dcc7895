//! The kinds of database.

pub mod database;
