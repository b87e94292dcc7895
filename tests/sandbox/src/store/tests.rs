//! Tests that readers don't see a write before it is on disk.
#![allow(clippy::unwrap_used)]

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use bytes::Bytes;
use http::{Method, Request, StatusCode};
use http_body_util::BodyExt as _;
use redb::{Database, StorageBackend, backends::InMemoryBackend};
use serde_json::{Value, json};

use super::{Store, journal::Journal};
use crate::{Sandbox, User};

/// A disk that may be full.
#[derive(Debug)]
struct Disk {
    content: InMemoryBackend,
    is_full: Arc<AtomicBool>,
}

impl Disk {
    fn room(&self) -> io::Result<()> {
        if self.is_full.load(Ordering::SeqCst) { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }
}

impl StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        self.content.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.content.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.room().and_then(|()| self.content.set_len(len))
    }

    fn sync_data(&self) -> io::Result<()> {
        self.room().and_then(|()| self.content.sync_data())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.room().and_then(|()| self.content.write(offset, data))
    }
}

async fn ask(sandbox: &Sandbox, method: Method, name: &str) -> (StatusCode, Value) {
    let maps = "/api/v1/namespaces/default/configmaps";
    let (uri, body) = match method {
        Method::POST => (maps.to_owned(), json!({"metadata": {"name": name}}).to_string()),
        _ if name.is_empty() => (maps.to_owned(), String::new()),
        _ => (format!("{maps}/{name}"), String::new()),
    };
    let request = Request::builder().method(method).uri(uri).header("content-type", "application/json");
    let answer = sandbox.call(User::admin("somebody"), request.body(Bytes::from(body)).unwrap()).await;
    let (head, body) = answer.into_parts();
    (head.status, serde_json::from_slice(&body.collect().await.unwrap().to_bytes()).unwrap_or_default())
}

#[tokio::test]
async fn a_write_that_a_full_disk_refuses_is_not_shown() {
    let is_full = Arc::new(AtomicBool::new(false));
    let disk = Disk { content: InMemoryBackend::new(), is_full: is_full.clone() };
    let database = Database::builder().create_with_backend(disk).unwrap();
    let store = Store::new(100);
    store.load_journal(Journal::start(database, || Ok(vec![1])).unwrap());
    let sandbox = Sandbox::builder().seed(1).start_with(store);
    assert_eq!(ask(&sandbox, Method::POST, "first").await.0, StatusCode::CREATED);
    assert_eq!(ask(&sandbox, Method::GET, "first").await.0, StatusCode::OK);

    is_full.store(true, Ordering::SeqCst);
    let uri = "/api/v1/namespaces/default/configmaps?watch=true&fieldSelector=metadata.name=second";
    let request = Request::get(uri).body(Bytes::new()).unwrap();
    let watch = sandbox.call(User::admin("somebody"), request).await;
    let (code, refused) = ask(&sandbox, Method::POST, "second").await;
    assert_eq!(code, StatusCode::INTERNAL_SERVER_ERROR);
    assert!(refused["message"].as_str().unwrap().contains("the data file can't be written"), "{refused}");
    for name in ["", "second"] {
        let (code, shown) = ask(&sandbox, Method::GET, name).await;
        assert_eq!(code, StatusCode::INTERNAL_SERVER_ERROR, "{shown}");
    }
    // The watch ends without an event.
    assert_eq!(watch.into_body().collect().await.unwrap().to_bytes(), Bytes::new());
}
