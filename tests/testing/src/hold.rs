//! Deletion while others hold what is to go.

use serde_json::Value;

use crate::{
    course::Propagation,
    install,
    life::{Trouble, World, setup, text},
    remade::named,
    state::ANOTHER,
};

impl World<'_> {
    /// Deletes all while others hold it, or of what was made the N-th alone, then lets go.
    pub(crate) async fn hold(&mut self, which: usize) -> Result<(), Trouble> {
        let (name, manifests) = (&self.prepared.name, &self.prepared.manifests);
        let state = self.state();
        let children = state.children(name, &manifests.samples).zip(1..);
        let children = children.filter(|(_, number)| which == 0 || which == *number);
        let children: Vec<Value> = children.map(|(kept, _)| kept.origin.clone()).collect();
        for child in &children {
            self.finalize(child, &[ANOTHER]).await?;
        }
        let samples = manifests.samples.clone();
        self.rest("others hold the objects").await?;
        self.delete(&samples, Propagation::Background).await?;
        // Whoever waits may ask again and again.
        self.rests_within(self.prepared.pause * 10, "the samples were deleted, others hold them").await?;
        let state = self.state();
        let (mut let_go, mut waits) = (None, false);
        for sample in &samples {
            let what = format!("{} {}", text(sample, "/kind"), text(sample, "/metadata/name"));
            let Some(now) = state.sample(sample) else { return Err(Trouble::Overwritten(what)) };
            let finalizers: Vec<_> = now["metadata"]["finalizers"].as_array().into_iter().flatten().collect();
            if !finalizers.iter().any(|one| **one == ANOTHER) {
                return Err(Trouble::Overwritten(what));
            }
            waits |= finalizers.len() > 1;
            if finalizers.len() == 1 {
                let_go.get_or_insert(what);
            }
        }
        // Which sample an object was made for is not known: any of them may wait for it.
        let mut held = state.children(name, &manifests.samples).filter(|kept| kept.is_unowned() && !kept.may_stay());
        if let (Some(what), Some(kept), false) = (let_go, held.next(), waits) {
            return Err(Trouble::Ungated(format!("{what} was let go while {} was still there", named(kept))));
        }
        for child in children.iter().chain(&samples) {
            self.release(child).await?;
        }
        Ok(())
    }

    async fn finalize(&self, object: &Value, finalizers: &[&str]) -> Result<(), Trouble> {
        let installed = &self.prepared.manifests.install;
        install::finalize(&self.sandbox, object, installed, finalizers)
            .await
            .map_err(|refused| setup("an object can't be held", refused))
    }

    /// Takes away what was [added](Self::finalize), if the object is still there.
    async fn release(&self, object: &Value) -> Result<(), Trouble> {
        let state = self.state();
        let Some(now) = state.sample(object) else { return Ok(()) };
        let others = now["metadata"]["finalizers"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let others: Vec<&str> = others.filter(|one| *one != ANOTHER).collect();
        let installed = &self.prepared.manifests.install;
        install::set_finalizers(&self.sandbox, object, installed, &others)
            .await
            .map_err(|refused| setup("an object can't be let go", refused))
    }
}
