//! A second object beside each sample: what is made of one is nobody else's.

use serde_json::{Value, json};

use crate::{
    course::Propagation,
    install,
    life::{Lived, PAUSES, Trouble, World, setup, text},
};

/// The namespace of second objects that have the names of the first ones.
const ANOTHER_NAMESPACE: &str = "another-namespace";

const MADE: &str = "second objects were made";
const SECOND_GONE: &str = "the second objects were deleted";
const FIRST_GONE: &str = "the first objects were deleted and second ones stayed";

/// How many courses there are: second objects of each sample, and of all elsewhere; each time they go first or last.
pub(crate) fn courses(samples: &[Value]) -> usize {
    let is_namespaced = |sample: &Value| sample["metadata"]["namespace"].is_string();
    (samples.len() + usize::from(samples.iter().any(is_namespaced))) * 2
}

/// Samples and their second objects: of one sample, whose name then begins as its own does, or of all in another namespace.
fn pairs(samples: &[Value], way: usize) -> Vec<(Value, Value)> {
    if let Some(sample) = samples.get(way) {
        let mut second = sample.clone();
        second["metadata"]["name"] = json!(format!("{}-2", text(sample, "/metadata/name")));
        return vec![(sample.clone(), second)];
    }
    let namespaced = samples.iter().filter(|sample| sample["metadata"]["namespace"].is_string());
    let moved = namespaced.map(|sample| {
        let mut second = sample.clone();
        second["metadata"]["namespace"] = json!(ANOTHER_NAMESPACE);
        (sample.clone(), second)
    });
    moved.collect()
}

impl World<'_> {
    /// Makes the namespace of second objects, where the course has one.
    pub(crate) async fn prepare_beside(&mut self, course: usize) -> Result<(), Trouble> {
        if course / 2 < self.prepared.manifests.samples.len() {
            return Ok(());
        }
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": ANOTHER_NAMESPACE}});
        let made = install::create(&self.sandbox, &namespace, &[]).await;
        made.map(drop).map_err(|refused| setup("another namespace can't be made", refused))
    }

    /// Makes second objects, then deletes them or the first ones: whatever belongs to the others stays as it is.
    pub(crate) async fn beside(&mut self, course: usize, lived: &mut Lived) -> Result<(), Trouble> {
        let installed = &self.prepared.manifests.install;
        let (first, second): (Vec<_>, Vec<_>) = pairs(&self.prepared.manifests.samples, course / 2).into_iter().unzip();
        let before = self.state();
        for object in &second {
            if install::create(&self.sandbox, object, installed).await.is_err() {
                // There can be only one, and the server says so.
                return Ok(());
            }
        }
        // The second one may wait for what the first one has.
        self.rests_within(self.prepared.pause * PAUSES, MADE).await?;
        let with = self.state();
        lived.remade.extend(self.remade((&before, &with), None, MADE).await);
        let (going, after) = if course.is_multiple_of(2) { (&second, SECOND_GONE) } else { (&first, FIRST_GONE) };
        self.delete(going, Propagation::Background).await?;
        self.rests_within(self.prepared.pause * PAUSES, after).await?;
        let now = self.state();
        lived.remade.extend(self.remade((&with, &now), None, after).await);
        (lived.beside, lived.mended) = (Some(with), Some(now));
        self.delete(&second, Propagation::Background).await
    }
}
