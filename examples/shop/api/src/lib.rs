//! The kinds of shop.

mod shop;

pub use shop::{BackendSpec, DatabaseSpec, Schedule, Shop, ShopSpec};
