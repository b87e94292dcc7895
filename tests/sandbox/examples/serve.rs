//! Serves the in-process Kubernetes API server over HTTPS, and prints the `export KUBECONFIG` command that connects kubectl to it.
//!
//! `cargo run -p opgen-sandbox --example serve -- [PORT] [FOLDER]`
#![allow(clippy::print_stdout)]

use std::{env, error::Error, future::pending, net::Ipv4Addr};

use opgen_sandbox::{Sandbox, ServeOptions};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut words = env::args().skip(1);
    let port = words.next().map_or(Ok(0), |word| word.parse())?;
    let folder = words.next().map_or_else(env::temp_dir, Into::into);
    let sandbox = Sandbox::builder().workloads(true).start();
    let options = ServeOptions::default().address((Ipv4Addr::LOCALHOST, port).into()).folder(folder);
    let serving = sandbox.serve(options).await?;
    println!("export KUBECONFIG={}", serving.path().unwrap_or("".as_ref()).display());
    pending().await
}
