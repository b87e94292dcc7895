//! The sample of a shop.

use shop_api::{BackendSpec, DatabaseSpec, Schedule, Shop, ShopSpec};

/// A shop with all optional parts.
pub fn sample() -> Shop {
    let database = DatabaseSpec { image: "example.com/database:1".to_owned(), replicas: 1, storage: "1Gi".to_owned() };
    let settings = [("currency".to_owned(), "EUR".to_owned())].into();
    let backend = BackendSpec { image: "example.com/backend:1".to_owned(), replicas: 2, port: 8080, settings };
    let report = Schedule {
        name: "report".to_owned(),
        cron: "0 4 * * *".to_owned(),
        command: ["report", "--yesterday"].map(str::to_owned).into(),
    };
    let host = Some("books.example.com".to_owned());
    Shop::new("books", ShopSpec { database, backend, host, schedules: vec![report] })
}
