//! Serves the sandbox (an API server in the test process) over HTTPS from a separate thread, so that it can outlive the test that started
//! it.

use std::{
    fs::{File, OpenOptions},
    io::Write as _,
    net::{Ipv4Addr, SocketAddr},
    sync::{Mutex, PoisonError, atomic::AtomicU64, atomic::Ordering},
    thread::JoinHandle,
};

use opgen_sandbox::{Builder, Record, Sandbox, ServeOptions, Serving, User};
use serde_json::json;
use tokio::sync::mpsc;

use super::options::Options;
use crate::{
    credentials::{ADMIN, AUDITOR, Authority, CONTROLLERS, KUBELET},
    folder::Folder,
    server,
};

/// A request of the plane to the thread of the sandbox, which replies after the request is done.
#[derive(Debug)]
enum Request {
    /// Listen on the port.
    Serve,
    /// End all connections and free the port, as in an outage.
    Cut,
    /// Drop the history that watches resume from.
    Compact,
}

/// Sends a request, with the sender of its reply.
type Requests = mpsc::UnboundedSender<(Request, std::sync::mpsc::Sender<()>)>;

/// The thread of a sandbox.
#[derive(Debug)]
pub(super) struct ServedSandbox {
    requests: Option<Requests>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl ServedSandbox {
    /// Starts the sandbox on a thread of its own, with the tokens of the administrators and an audit log file. It does not listen on its
    /// port before [`serve`](Self::serve).
    pub(super) fn start(folder: &Folder, port: u16, authority: &Authority, options: &Options) -> Self {
        let builder = builder(options).audit(log(folder));
        let builder = [ADMIN, CONTROLLERS, KUBELET, AUDITOR]
            .into_iter()
            .fold(builder, |builder, user| builder.token(authority.token(user), User::admin(user)));
        let (certificate, key) = (authority.read("apiserver.crt"), authority.read("apiserver.key"));
        let (requests, mut receiver) = mpsc::unbounded_channel::<(Request, std::sync::mpsc::Sender<()>)>();
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let serve = ServeOptions::default().address(address).certificate(certificate, key);
        let body = move || {
            let mut runtime = tokio::runtime::Builder::new_multi_thread();
            let runtime = runtime.worker_threads(1).enable_all().build().expect("a tokio runtime");
            // Handles one request after the other, until the sender is dropped.
            runtime.block_on(async {
                let sandbox = builder.start();
                let mut serving: Option<Serving> = None;
                while let Some((request, done)) = receiver.recv().await {
                    handle(request, &sandbox, &serve, &mut serving).await;
                    let _ = done.send(());
                }
            });
            // An open watch must not block the end of the thread.
            runtime.shutdown_background();
        };
        let thread = std::thread::Builder::new().name("sandbox".into()).spawn(body).expect("a thread");
        Self { requests: Some(requests), thread: Mutex::new(Some(thread)) }
    }

    pub(super) fn serve(&self) {
        self.request(Request::Serve);
    }

    pub(super) fn cut(&self) {
        self.request(Request::Cut);
    }

    pub(super) fn compact(&self) {
        self.request(Request::Compact);
    }

    /// Sends a request to the thread of the sandbox, and blocks until the thread has handled it.
    fn request(&self, request: Request) {
        let (done, finished) = std::sync::mpsc::channel();
        let requests = self.requests.as_ref().expect("the sandbox runs");
        requests.send((request, done)).expect("the sandbox runs");
        finished.recv().expect("the sandbox broke");
    }
}

impl Drop for ServedSandbox {
    /// Ends the thread by closing the channel of its requests, and waits for its end.
    fn drop(&mut self) {
        drop(self.requests.take());
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        thread.map(JoinHandle::join);
    }
}

/// Handles a request to the thread of the sandbox: starts or stops its HTTPS server, which is in `serving` while it runs, or drops the
/// history of the objects.
async fn handle(request: Request, sandbox: &Sandbox, options: &ServeOptions, serving: &mut Option<Serving>) {
    match request {
        Request::Serve => {
            let served = sandbox.serve(options.clone()).await;
            *serving = Some(served.unwrap_or_else(|error| panic!("the sandbox can't be served: {error}")));
        }
        Request::Cut => {
            if let Some(serving) = serving.take() {
                serving.stop().await;
            }
        }
        Request::Compact => sandbox.compact(),
    }
}

/// Returns the builder of a sandbox with these options. It gets the addresses of the webhook Services from the options, since it has
/// no EndpointSlices.
///
/// # Panics
/// If a flag of kube-apiserver has no counterpart in the sandbox.
pub(super) fn builder(options: &Options) -> Builder {
    let builder = Sandbox::builder().workloads(options.kubelet);
    let services = options.webhook_services.iter();
    let builder =
        services.fold(builder, |builder, (namespace, name, address)| builder.service(namespace, name, *address));
    options.apiserver_flags.iter().fold(builder, |builder, flag| match flag.as_str() {
        "--enable-admission-plugins=OwnerReferencesPermissionEnforcement" => builder.owner_permissions(true),
        _ => panic!("the sandbox has nothing like kube-apiserver's {flag}; use `case_on_controlplane`"),
    })
}

/// Returns a function that writes each request to the audit log, at the path that kube-apiserver uses.
fn log(folder: &Folder) -> impl Fn(&Record) + Send + Sync + 'static {
    let path = server::audit_log(folder.path());
    let log = OpenOptions::new().create(true).append(true).open(&path);
    let log = Mutex::new(log.unwrap_or_else(|error| panic!("{} can't be opened: {error}", path.display())));
    let number = AtomicU64::new(0);
    move |record| write_event(&log, record, number.fetch_add(1, Ordering::Relaxed))
}

/// Writes a request of the sandbox to the audit log, as a line in the format of kube-apiserver with the fields that the harness reads.
fn write_event(log: &Mutex<File>, record: &Record, number: u64) {
    let event = json!({
        "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata", "stage": "ResponseComplete",
        "auditID": number.to_string(), "requestURI": record.uri, "verb": record.verb,
        "user": {"username": record.user}, "userAgent": record.user_agent,
        "objectRef": {"apiGroup": record.group, "resource": record.resource, "subresource": record.subresource,
                      "namespace": record.namespace, "name": record.name},
        "responseStatus": {"code": record.code, "message": record.message},
    });
    let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
    // One write for the whole line, since readers ignore incomplete lines.
    log.write_all(format!("{event}\n").as_bytes()).expect("the audit log can be written");
}
