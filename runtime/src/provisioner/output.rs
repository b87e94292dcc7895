//! Defines `Output`: the objects or the value that a tree node has produced, as later nodes read them in the same pass.

use crate::{
    context::Context,
    error::{Error, Result},
    kind::kind_of,
    managed::Owner,
    provisioner::build::ResourceField,
    shape::Provisioner,
};
use std::{
    fmt,
    hash::{DefaultHasher, Hash, Hasher},
    sync::{Arc, OnceLock},
};

/// The output of an earlier node: `K`, `Option<K>` or `Vec<K>` of a resource node, as its field has it, or the value that a
/// hand-written node sets. The objects are in the last state that the API server returned, with defaults and status.
///
/// # Example
///
/// ```
/// # use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
/// # use opgen::prelude::*;
/// // Counts the entries of a ConfigMap that another node of the parent group builds.
/// #[derive(Provisioner)]
/// #[provisioner(access(), inputs(settings: ConfigMap), output = usize)]
/// struct CountEntries;
///
/// impl Provision<Foreign<Namespace>> for CountEntries {
///     async fn provision(cx: &Context<'_, Foreign<Namespace>, Self>) -> Result<()> {
///         // The inputs are a tuple with one `Output` for each entry of `inputs(...)`.
///         let settings = cx.inputs().0.get()?;
///         cx.set_output(settings.data.as_ref().map_or(0, |data| data.len()));
///         Ok(())
///     }
///
///     async fn deprovision(_: &Teardown<'_, Foreign<Namespace>, Self>) -> Result<()> {
///         Ok(())
///     }
/// }
/// ```
pub struct Output<T>(Arc<OutputValue<T>>);

enum OutputValue<T> {
    /// The value of a hand-written node.
    Value(Arc<T>),
    /// The objects of a resource node. They are decoded on first use, since in most passes nothing has changed and no node uses
    /// them.
    Objects { decoded: OnceLock<T>, objects: Vec<Arc<[u8]>>, decode: fn(&[Arc<[u8]>]) -> Result<T>, version: u64 },
}

impl<T> Output<T> {
    /// Returns the value, and decodes it on the first call.
    ///
    /// # Errors
    /// Fails if an object can't be decoded as its kind.
    pub fn get(&self) -> Result<&T> {
        match &*self.0 {
            OutputValue::Value(value) => Ok(value),
            OutputValue::Objects { decoded, objects, decode, .. } => match decoded.get() {
                Some(value) => Ok(value),
                None => {
                    let value = decode(objects)?;
                    Ok(decoded.get_or_init(|| value))
                }
            },
        }
    }

    /// Returns the hash of the uids and the resourceVersions of the objects, for [`inputs_digest`]. `None` for the value of a hand-written
    /// node, which has no version.
    pub(crate) fn version(&self) -> Option<u64> {
        match &*self.0 {
            OutputValue::Value(_) => None,
            OutputValue::Objects { version, .. } => Some(*version),
        }
    }
}

impl<T> Clone for Output<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> fmt::Debug for Output<T> {
    /// Omits the value, which may be a Secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Output")
    }
}

/// Returns the objects of the resource node at `path`, which is relative to the group of `cx`. They are decoded when they are used.
///
/// # Errors
/// A yield if the objects don't exist yet.
pub fn read<T: ResourceField<M> + Send + Sync, M, O: Owner, P: Provisioner>(
    cx: &Context<'_, O, P>,
    path: &str,
) -> Result<Output<T>> {
    let node = node_at(cx, path);
    let objects = cx.core().output_objects(&node, &kind_of::<T::Kind>())?;
    if !T::fits(objects.len()) {
        return Err(Error::yielding("NotMadeYet", format!("{node} does not exist yet")));
    }
    let mut hasher = DefaultHasher::new();
    let mut bytes = Vec::with_capacity(objects.len());
    for object in objects {
        (&object.uid, &object.version).hash(&mut hasher);
        bytes.push(object.json);
    }
    // Runs at the first use of the output, since most outputs are not used in a pass without changes.
    let decode = |objects: &[Arc<[u8]>]| -> Result<T> {
        let decoded: Vec<T::Kind> =
            objects.iter().map(|json| Ok(serde_json::from_slice(json)?)).collect::<Result<_>>()?;
        T::from_objects(decoded).ok_or_else(|| Error::unexpected("the objects of a node changed while they were read"))
    };
    let decoded = OnceLock::new();
    Ok(Output(Arc::new(OutputValue::Objects { decoded, objects: bytes, decode, version: hasher.finish() })))
}

/// Returns the output that the hand-written node at `path` has set in this pass. The path is relative to the group of `cx`.
///
/// # Errors
/// A yield if the node has not set an output yet.
pub fn node_output<C: HasOutput, O: Owner, P: Provisioner>(
    cx: &Context<'_, O, P>,
    path: &str,
) -> Result<Output<C::Output>> {
    let node = node_at(cx, path);
    let value = cx.core().outputs.value(&node);
    match value.and_then(|value| value.downcast::<C::Output>().ok()) {
        Some(value) => Ok(Output(Arc::new(OutputValue::Value(value)))),
        None => Err(Error::yielding("NoOutputYet", format!("node {node} has no output yet"))),
    }
}

/// Returns the path of a node from the root of the tree, by its path relative to the group of `cx`.
fn node_at<O: Owner, P: Provisioner>(cx: &Context<'_, O, P>, path: &str) -> String {
    if cx.path().is_root() { path.to_owned() } else { format!("{}/{path}", cx.path()) }
}

/// A hand-written node with an output: its attribute has `output = ...`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no output to read",
    label = "has no `output`",
    note = "a hand-written node declares `output = Type` and calls `cx.set_output(...)`; read a child of a group with `from(group.child)`"
)]
pub trait HasOutput: Provisioner {}

/// Returns the hash of the inputs of a build function: the inputs that its group shares, such as the version of the owner, and the versions
/// `read` of the outputs that the function reads. `None` if an input has no version; then the function runs in every pass.
pub fn inputs_digest<O: Owner, P: Provisioner>(cx: &Context<'_, O, P>, read: &[Option<u64>]) -> Option<u64> {
    let mut hasher = DefaultHasher::new();
    cx.inputs_digest()?.hash(&mut hasher);
    for version in read {
        (*version)?.hash(&mut hasher);
    }
    Some(hasher.finish())
}

/// Returns the version of an output that a node reads, for [`inputs_digest`].
pub fn version<T>(output: &Output<T>) -> Option<u64> {
    output.version()
}
