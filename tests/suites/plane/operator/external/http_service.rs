//! A DNS service with sockets, which cuts connections at a byte of the request or of the response, and its client.
//!
//! | request | response |
//! |---|---|
//! | `POST /records` with `text` and `token` | 201 with the record |
//! | `GET /records?token=TOKEN`, `GET /records/ID` | 200 with the record, or 404 |
//! | `PUT /records/ID` with `text` | 200 with the record, or 404 |
//! | `DELETE /records/ID` | 200 with the record, or 404 |

use std::{
    collections::BTreeMap,
    io,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use opgen::prelude::*;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
    time::timeout,
};

/// The time after which the client gives up a call.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The largest request that the service reads.
const MAX_REQUEST: usize = 4096;

/// Where the service cuts the connection of the first creation of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CutPosition {
    /// After it has read this number of bytes of the request. It creates nothing.
    Request(usize),
    /// After it has created the record and sent this number of bytes of the response.
    Response(usize),
}

/// A record in the service.
#[derive(Clone, Debug)]
struct StoredRecord {
    token: String,
    text: String,
}

#[derive(Debug, Default)]
struct Records {
    by_id: BTreeMap<String, StoredRecord>,
    created: usize,
    /// By the text of the record.
    cuts: BTreeMap<String, CutPosition>,
}

/// The running service.
#[derive(Debug)]
pub(super) struct HttpService {
    address: SocketAddr,
    records: Arc<Mutex<Records>>,
    task: JoinHandle<()>,
}

impl Drop for HttpService {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl HttpService {
    /// Starts the service on a port of the loopback address.
    pub(super) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port for the DNS service");
        let address = listener.local_addr().expect("the address of the DNS service");
        let records = Arc::new(Mutex::new(Records::default()));
        let shared = records.clone();
        let task = tokio::spawn(async move {
            loop {
                let Ok((stream, _)) = listener.accept().await else { continue };
                tokio::spawn(respond(stream, shared.clone()));
            }
        });
        Self { address, records, task }
    }

    /// Returns a client of the service.
    pub(super) fn client(&self) -> HttpClient {
        HttpClient { address: self.address }
    }

    /// Cuts the connection of the first creation of a record with a text.
    pub(super) fn cut(&self, text: &str, cut: CutPosition) {
        lock(&self.records).cuts.insert(text.to_owned(), cut);
    }

    /// Returns the number of cuts that have not happened yet.
    pub(super) fn remaining_cuts(&self) -> usize {
        lock(&self.records).cuts.len()
    }

    /// Returns the number of records that were ever created.
    pub(super) fn created(&self) -> usize {
        lock(&self.records).created
    }

    /// Returns the texts of all records, sorted.
    pub(super) fn texts(&self) -> Vec<String> {
        let mut texts: Vec<_> = lock(&self.records).by_id.values().map(|record| record.text.clone()).collect();
        texts.sort();
        texts
    }
}

fn lock(records: &Mutex<Records>) -> MutexGuard<'_, Records> {
    records.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the number of bytes of the response to a creation. It is the same for all texts and tokens of one length.
pub(super) fn length_of_creation(text: &str, token: &str) -> usize {
    let record = StoredRecord { token: token.to_owned(), text: text.to_owned() };
    response("201 Created", &of_record(&id(0), &record)).len()
}

fn id(number: usize) -> String {
    format!("record-{number:05}")
}

fn of_record(id: &str, record: &StoredRecord) -> Value {
    json!({"id": id, "token": record.token, "text": record.text})
}

fn response(status: &str, body: &Value) -> Vec<u8> {
    let body = body.to_string();
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    [head, body].concat().into_bytes()
}

/// A request that has arrived, and its length in bytes.
struct ArrivedRequest {
    method: String,
    target: String,
    body: Value,
    length: usize,
}

impl ArrivedRequest {
    /// Parses a request; `None` if it has not arrived as a whole.
    fn parse(bytes: &[u8]) -> Option<Self> {
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
        let head = std::str::from_utf8(&bytes[..end]).ok()?;
        let mut lines = head.lines();
        let mut words = lines.next()?.split(' ');
        let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
        let headers = lines.filter_map(|line| line.split_once(':'));
        let mut lengths = headers.filter(|(name, _)| name.eq_ignore_ascii_case("content-length"));
        let body_length: usize = lengths.next().and_then(|(_, value)| value.trim().parse().ok()).unwrap_or_default();
        let body = bytes.get(end..end + body_length)?;
        let body = serde_json::from_slice(body).unwrap_or_default();
        Some(Self { method, target, body, length: end + body_length })
    }

    fn field(&self, name: &str) -> String {
        self.body[name].as_str().unwrap_or_default().to_owned()
    }
}

/// Reads one request of a connection and responds to it. An error ends the connection.
async fn respond(mut stream: TcpStream, records: Arc<Mutex<Records>>) -> io::Result<()> {
    let request = peek_request(&stream).await?;
    let cut = match request.method.as_str() {
        "POST" => lock(&records).cuts.remove(&request.field("text")),
        _ => None,
    };
    let mut bytes = vec![0; request.length];
    if let Some(CutPosition::Request(length)) = cut {
        // The drop of a connection with unread bytes resets it.
        stream.read_exact(&mut bytes[..length]).await?;
        return Ok(());
    }
    stream.read_exact(&mut bytes).await?;
    let response = lock(&records).respond(&request);
    let length = match cut {
        Some(CutPosition::Response(length)) => length,
        _ => response.len(),
    };
    stream.write_all(&response[..length]).await?;
    stream.shutdown().await
}

/// Waits until a request has arrived, and does not read it.
async fn peek_request(stream: &TcpStream) -> io::Result<ArrivedRequest> {
    let mut bytes = vec![0; MAX_REQUEST];
    loop {
        let length = stream.peek(&mut bytes).await?;
        if length == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if let Some(request) = ArrivedRequest::parse(&bytes[..length]) {
            return Ok(request);
        }
        tokio::task::yield_now().await;
    }
}

impl Records {
    /// Executes a request.
    fn respond(&mut self, request: &ArrivedRequest) -> Vec<u8> {
        if request.method == "POST" {
            let record = StoredRecord { token: request.field("token"), text: request.field("text") };
            self.created += 1;
            let id = id(self.created);
            let response = response("201 Created", &of_record(&id, &record));
            self.by_id.insert(id, record);
            return response;
        }
        let found = match request.target.split_once("?token=") {
            Some((_, token)) => self.by_id.iter().find(|(_, record)| record.token == token),
            None => self.by_id.get_key_value(request.target.trim_start_matches("/records/")),
        };
        let Some((id, mut record)) = found.map(|(id, record)| (id.clone(), record.clone())) else {
            return response("404 Not Found", &json!({}));
        };
        match request.method.as_str() {
            "DELETE" => drop(self.by_id.remove(&id)),
            "PUT" => {
                record.text = request.field("text");
                self.by_id.insert(id.clone(), record.clone());
            }
            _ => {}
        }
        response("200 OK", &of_record(&id, &record))
    }
}

/// A client of the service, with one connection for each call.
#[derive(Clone, Debug)]
pub(super) struct HttpClient {
    address: SocketAddr,
}

impl Default for HttpClient {
    /// A client of no service.
    fn default() -> Self {
        Self { address: SocketAddr::from(([127, 0, 0, 1], 0)) }
    }
}

impl HttpClient {
    /// Makes a call. Returns the record in the response; `None` if there is none.
    pub(super) async fn call(&self, method: Method, target: &str, body: Option<Value>) -> Result<Option<Value>> {
        let exchange = async {
            let stream = TcpStream::connect(self.address).await?;
            let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
            // It ends with the sender, or with the connection.
            tokio::spawn(async move { drop(connection.await) });
            let content = body.map(|body| body.to_string()).unwrap_or_default();
            let request = Request::builder().method(method).uri(target).header("host", "dns.test");
            let response = sender.send_request(request.body(Full::new(Bytes::from(content)))?).await?;
            let status = response.status();
            let bytes = response.into_body().collect().await?.to_bytes();
            Ok::<_, Error>((status, bytes))
        };
        let (status, bytes) = timeout(TIMEOUT, exchange).await??;
        match status {
            StatusCode::NOT_FOUND => Ok(None),
            status if status.is_success() => Ok(Some(serde_json::from_slice(&bytes)?)),
            status => Err(io::Error::other(format!("the DNS service answered with {status}")).into()),
        }
    }
}
