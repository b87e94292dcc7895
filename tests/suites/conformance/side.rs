//! The two servers, asked alike.

use std::{collections::HashMap, time::Duration};

use bytes::Bytes;
use futures::{StreamExt as _, stream::BoxStream};
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::BodyExt as _;
use kube::Client;
use opgen_sandbox::{Sandbox, User};
use serde_json::{Map, Value, json};

/// How long anything may take to answer.
const PATIENCE: Duration = Duration::from_secs(20);

/// One of the servers.
#[derive(Clone)]
pub(crate) enum Server {
    /// The real kube-apiserver, by an administrator who may act for everybody.
    Real(Client),
    /// The sandbox.
    Sandbox(Sandbox),
}

/// Who asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Asker {
    pub(crate) name: String,
    pub(crate) groups: Vec<String>,
}

/// The head of an answer, and its body as it comes.
pub(crate) struct Heard {
    pub(crate) code: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: BoxStream<'static, Bytes>,
}

impl Asker {
    /// `null`, a name, or `{name, groups}`.
    pub(crate) fn of(written: &Value) -> Option<Self> {
        let name = written.as_str().or_else(|| written.get("name")?.as_str())?;
        let more = written.get("groups").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        Some(Self { name: name.to_owned(), groups: more.map(str::to_owned).collect() })
    }

    /// With the groups that authentication adds by itself.
    fn user(self) -> User {
        let Self { name, mut groups } = self;
        if let Some((namespace, _)) = name.strip_prefix("system:serviceaccount:").and_then(|name| name.split_once(':'))
        {
            groups.push("system:serviceaccounts".to_owned());
            groups.push(format!("system:serviceaccounts:{namespace}"));
        }
        let known = if name == "system:anonymous" { "system:unauthenticated" } else { "system:authenticated" };
        groups.push(known.to_owned());
        let mut user = User::named(&name, &[]);
        user.groups = groups;
        user
    }
}

impl Server {
    /// Sends a request.
    pub(crate) async fn ask(&self, asker: Option<Asker>, mut request: Request<Bytes>) -> Result<Heard, String> {
        match self {
            Self::Real(client) => {
                if let Some(Asker { name, groups }) = asker {
                    let header = |text: &str| text.parse::<http::HeaderValue>().map_err(|error| error.to_string());
                    request.headers_mut().insert("impersonate-user", header(&name)?);
                    for group in groups {
                        request.headers_mut().append("impersonate-group", header(&group)?);
                    }
                }
                let sent = client.send(request.map(|body| kube::client::Body::from(body.to_vec())));
                let answer = tokio::time::timeout(PATIENCE, sent).await.map_err(|_| "no answer".to_owned())?;
                Ok(Heard::of(answer.map_err(|error| format!("{error:?}"))?))
            }
            Self::Sandbox(sandbox) => {
                // The token of the administrator has an id on the real side.
                let mut administrator = User::admin("admin");
                "admin".clone_into(&mut administrator.uid);
                let user = asker.map_or(administrator, Asker::user);
                let sandbox = sandbox.clone();
                // A panic of the sandbox is a difference, not the end of the run.
                let called = tokio::spawn(async move { Heard::of(sandbox.call(user, request).await) });
                let answer = tokio::time::timeout(PATIENCE, called).await.map_err(|_| "no answer".to_owned())?;
                answer.map_err(|error| format!("the sandbox broke: {error}"))
            }
        }
    }
}

impl Heard {
    fn of<B>(response: Response<B>) -> Self
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Send,
    {
        let (head, body) = response.into_parts();
        let pieces = body.into_data_stream().filter_map(async |piece| piece.ok());
        Self { code: head.status, headers: head.headers, body: pieces.boxed() }
    }

    /// The whole body.
    pub(crate) async fn whole(self) -> Result<Vec<u8>, String> {
        let all = self.body.fold(Vec::new(), async |mut all, piece| {
            all.extend_from_slice(&piece);
            all
        });
        tokio::time::timeout(PATIENCE, all).await.map_err(|_| "the body does not end".to_owned())
    }
}

/// A watch, read line by line.
pub(crate) struct Watch {
    body: BoxStream<'static, Bytes>,
    rest: Vec<u8>,
}

impl Watch {
    pub(crate) fn new(heard: Heard) -> Self {
        Self { body: heard.body, rest: Vec::new() }
    }

    /// So many events, or fewer if the stream ends or falls silent before.
    pub(crate) async fn events(&mut self, most: usize, silence: Duration) -> Vec<Value> {
        let mut events = Vec::new();
        while events.len() < most {
            match tokio::time::timeout(silence, self.event()).await {
                Ok(Some(event)) => events.push(event),
                Ok(None) => {
                    events.push(json!("the end"));
                    break;
                }
                Err(_) => {
                    events.push(json!("silence"));
                    break;
                }
            }
        }
        events
    }

    async fn event(&mut self) -> Option<Value> {
        loop {
            if let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.rest.drain(..=end).collect();
                let text = || Value::String(String::from_utf8_lossy(&line).into_owned());
                return Some(serde_json::from_slice(&line).unwrap_or_else(|_| text()));
            }
            self.rest.extend_from_slice(&self.body.next().await?);
        }
    }
}

/// The watches that a script left open, by name.
pub(crate) type Watches = HashMap<String, Watch>;

/// Variables that every script has.
pub(crate) fn variables(namespace: &str) -> Map<String, Value> {
    let group = format!("{namespace}.example.com");
    let of = |group: &str| format!("/apis/{group}/namespaces/{namespace}");
    let known = [
        ("ns", namespace.to_owned()),
        ("group", group.clone()),
        ("core", format!("/api/v1/namespaces/{namespace}")),
        ("apps", of("apps/v1")),
        ("batch", of("batch/v1")),
        ("net", of("networking.k8s.io/v1")),
        ("policy", of("policy/v1")),
        ("coord", of("coordination.k8s.io/v1")),
        ("scaling", of("autoscaling/v2")),
        ("roles", of("rbac.authorization.k8s.io/v1")),
        ("rbac", "/apis/rbac.authorization.k8s.io/v1".to_owned()),
        ("adm", "/apis/admissionregistration.k8s.io/v1".to_owned()),
        ("authz", "/apis/authorization.k8s.io/v1".to_owned()),
        ("crds", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions".to_owned()),
        ("address", address(namespace)),
        ("big", "x".repeat(300_000)),
        ("own", of(&format!("{group}/v1"))),
    ];
    known.into_iter().map(|(name, value)| (name.to_owned(), Value::String(value))).collect()
}

/// An address that no other namespace has.
fn address(namespace: &str) -> String {
    let sum = namespace.bytes().fold(7_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    format!("172.{}.{}.{}", 16 + sum % 16, sum / 16 % 256, 1 + sum / 4096 % 250)
}
