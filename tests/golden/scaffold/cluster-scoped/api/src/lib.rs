//! The kinds of web-shop.

mod http_shop;

pub use http_shop::{HTTPShop, HTTPShopSpec};
