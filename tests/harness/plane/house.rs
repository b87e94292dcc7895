//! The other form of a plane: the sandbox, behind HTTPS on a thread of its own, so that it lives as long as its plane
//! and not as the test that started it.

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

/// What the plane asks its sandbox to do; each is answered when it is done.
#[derive(Debug)]
enum Order {
    Serve,
    Cut,
    Compact,
}

type Orders = mpsc::UnboundedSender<(Order, std::sync::mpsc::Sender<()>)>;

/// The thread in which the sandbox lives.
#[derive(Debug)]
pub(super) struct House {
    orders: Option<Orders>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl House {
    /// Starts the sandbox, not yet on its port.
    pub(super) fn start(folder: &Folder, port: u16, authority: &Authority, options: &Options) -> Self {
        let builder = builder(options).audit(log(folder));
        let builder = [ADMIN, CONTROLLERS, KUBELET, AUDITOR]
            .into_iter()
            .fold(builder, |builder, user| builder.token(authority.token(user), User::admin(user)));
        let (certificate, key) = (authority.read("apiserver.crt"), authority.read("apiserver.key"));
        let (orders, mut asked) = mpsc::unbounded_channel::<(Order, std::sync::mpsc::Sender<()>)>();
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let serve = ServeOptions::default().address(address).certificate(certificate, key);
        let body = move || {
            let mut runtime = tokio::runtime::Builder::new_multi_thread();
            let runtime = runtime.worker_threads(1).enable_all().build().expect("a tokio runtime");
            runtime.block_on(async {
                let sandbox = builder.start();
                let mut serving: Option<Serving> = None;
                while let Some((order, done)) = asked.recv().await {
                    obey(order, &sandbox, &serve, &mut serving).await;
                    let _ = done.send(());
                }
            });
            // A watch that is still open must not hold the thread.
            runtime.shutdown_background();
        };
        let thread = std::thread::Builder::new().name("sandbox".into()).spawn(body).expect("a thread");
        Self { orders: Some(orders), thread: Mutex::new(Some(thread)) }
    }

    pub(super) fn serve(&self) {
        self.order(Order::Serve);
    }

    pub(super) fn cut(&self) {
        self.order(Order::Cut);
    }

    pub(super) fn compact(&self) {
        self.order(Order::Compact);
    }

    fn order(&self, order: Order) {
        let (done, finished) = std::sync::mpsc::channel();
        let orders = self.orders.as_ref().expect("the sandbox runs");
        orders.send((order, done)).expect("the sandbox runs");
        finished.recv().expect("the sandbox broke");
    }
}

impl Drop for House {
    fn drop(&mut self) {
        drop(self.orders.take());
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        thread.map(JoinHandle::join);
    }
}

async fn obey(order: Order, sandbox: &Sandbox, options: &ServeOptions, serving: &mut Option<Serving>) {
    match order {
        Order::Serve => {
            let served = sandbox.serve(options.clone()).await;
            *serving = Some(served.unwrap_or_else(|error| panic!("the sandbox can't be served: {error}")));
        }
        Order::Cut => {
            if let Some(serving) = serving.take() {
                serving.stop().await;
            }
        }
        Order::Compact => sandbox.compact(),
    }
}

/// A sandbox of these options.
pub(super) fn builder(options: &Options) -> Builder {
    let builder = Sandbox::builder().workloads(options.kubelet);
    options.apiserver_flags.iter().fold(builder, |builder, flag| match flag.as_str() {
        "--enable-admission-plugins=OwnerReferencesPermissionEnforcement" => builder.owner_permissions(true),
        _ => panic!("the sandbox has nothing like kube-apiserver's {flag}; use `case_on_controlplane`"),
    })
}

/// Writes down each request where kube-apiserver would.
fn log(folder: &Folder) -> impl Fn(&Record) + Send + Sync + 'static {
    let path = server::audit_log(folder.path());
    let log = OpenOptions::new().create(true).append(true).open(&path);
    let log = Mutex::new(log.unwrap_or_else(|error| panic!("{} can't be opened: {error}", path.display())));
    let number = AtomicU64::new(0);
    move |record| note(&log, record, number.fetch_add(1, Ordering::Relaxed))
}

/// As a line of kube-apiserver's own log, as far as anybody reads it.
fn note(log: &Mutex<File>, record: &Record, number: u64) {
    let event = json!({
        "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata", "stage": "ResponseComplete",
        "auditID": number.to_string(), "requestURI": record.uri, "verb": record.verb,
        "user": {"username": record.user}, "userAgent": record.user_agent,
        "objectRef": {"apiGroup": record.group, "resource": record.resource, "subresource": record.subresource,
                      "namespace": record.namespace, "name": record.name},
        "responseStatus": {"code": record.code},
    });
    let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
    // At once and whole: readers look at whole lines only.
    log.write_all(format!("{event}\n").as_bytes()).expect("the audit log can be written");
}
