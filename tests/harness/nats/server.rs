//! `NatsServer`: a process of nats-server with its configuration, store and log.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
    time::Duration,
};

use rustix::process::Signal;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use super::binary::find;
use crate::{Port, Process, binaries::planes_folder, folder::Folder, wait};

/// The time in which a server is ready, on a busy machine.
const START: Duration = Duration::from_secs(60);

/// The settings of a [`NatsServer`].
#[derive(Clone, Debug, Default)]
pub struct NatsServerOptions {
    /// More lines of its configuration, for example users with permissions.
    pub configuration: String,
}

/// A server that can be stopped, started again with its store, and paused.
#[derive(Debug)]
pub struct NatsServer {
    name: String,
    clients: Port,
    monitor: Port,
    folder: Arc<Folder>,
    configuration: PathBuf,
    process: Option<Process>,
}

impl NatsServer {
    /// Starts a single server with an empty store in a new temporary folder, and waits until it is healthy.
    ///
    /// # Panics
    /// If there is no nats-server, or if it is not ready in time.
    pub async fn start(options: &NatsServerOptions) -> Self {
        let mut server = Self::prepare("single", Arc::new(Folder::new(&planes_folder())), &options.configuration);
        server.start_again();
        server.until_healthy().await;
        server
    }

    /// Reserves the ports of a server and writes its configuration file, with the lines `more` at the end. It does not start the server.
    pub(super) fn prepare(name: &str, folder: Arc<Folder>, more: &str) -> Self {
        let (clients, monitor) = (Port::reserve(), Port::reserve());
        let store = folder.path().join(format!("{name}.store"));
        let text = format!(
            "server_name: {name}\nlisten: \"{}\"\nhttp: \"{}\"\njetstream {{ store_dir: {store:?}, max_memory_store: 1GB, \
             max_file_store: 4GB }}\n{more}\n",
            clients.address(),
            monitor.address(),
        );
        let configuration = folder.path().join(format!("{name}.conf"));
        std::fs::write(&configuration, text)
            .unwrap_or_else(|error| panic!("{} can't be written: {error}", configuration.display()));
        Self { name: name.to_owned(), clients, monitor, folder, configuration, process: None }
    }

    /// Returns the name, as streams name their leader.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the address for clients.
    pub fn address(&self) -> SocketAddr {
        self.clients.address()
    }

    /// Returns the URL for clients.
    pub fn url(&self) -> String {
        format!("nats://{}", self.address())
    }

    /// Returns the folder of the server, where a test may put files.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Kills the server (SIGKILL) and waits for its end.
    pub fn stop(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill();
        }
    }

    /// Kills the server if it runs, and starts it on its ports and with the data in its store. It is not ready at once; see
    /// [`until_healthy`](Self::until_healthy).
    pub fn start_again(&mut self) {
        self.stop();
        let program = find().unwrap_or_else(|missing| panic!("this case needs nats-server, but {missing}"));
        let mut command = Command::new(program);
        command.arg("--config").arg(&self.configuration);
        let log = self.folder.path().join(format!("{}.log", self.name));
        self.process = Some(Process::spawn(&self.name, command, &log));
    }

    /// Pauses the server (SIGSTOP): it does nothing, while its connections stay open.
    pub fn pause(&mut self) {
        if let Some(process) = &mut self.process {
            process.pause();
        }
    }

    /// Lets a paused server run again.
    pub fn resume(&mut self) {
        self.signal(Signal::CONT);
    }

    /// Sends a signal to the server, if it was started.
    fn signal(&mut self, signal: Signal) {
        if let Some(process) = &mut self.process {
            process.signal(signal);
        }
    }

    /// Waits until the server reports at `/healthz` that it is ready, with the streams in its store.
    pub async fn until_healthy(&self) {
        wait::until(format!("{} is healthy", self.name), START, async || {
            let answer = self.monitoring("/healthz").await?;
            if answer.contains("\"ok\"") { Ok(()) } else { Err(format!("{answer}; {}", self.log_tail())) }
        })
        .await;
    }

    /// Gets a path from the HTTP port for monitoring, such as `/healthz`, and returns the body of the response.
    ///
    /// # Errors
    /// Fails if the server doesn't respond within five seconds.
    pub async fn monitoring(&self, path: &str) -> Result<String, String> {
        let fetch = async {
            let mut stream = TcpStream::connect(self.monitor.address()).await?;
            stream.write_all(format!("GET {path} HTTP/1.0\r\n\r\n").as_bytes()).await?;
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await?;
            Ok::<_, std::io::Error>(answer)
        };
        match tokio::time::timeout(Duration::from_secs(5), fetch).await {
            Ok(Ok(answer)) => Ok(answer.split_once("\r\n\r\n").map_or_else(String::new, |(_, body)| body.to_owned())),
            Ok(Err(error)) => Err(format!("{error}; {}", self.log_tail())),
            Err(_) => Err("it doesn't answer".to_owned()),
        }
    }

    fn log_tail(&self) -> String {
        self.process.as_ref().map_or_else(|| "it doesn't run".to_owned(), |process| process.log_tail(10))
    }
}
