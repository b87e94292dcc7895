//! Objects that the source does not show: deleted, or outside the controller's selection.
//!
//! Only the API server knows which. It is asked once; the answer holds until the watch shows the object.

use crate::{
    cache::ObjectKey,
    error::{Error, Result},
    informer::source::Stray,
    reconcile::{Loop, Next},
};
use parking_lot::Mutex;
use std::collections::HashMap;

/// Keys outside the selection for which the API server said that nothing is to be done.
///
/// An object outside the selection becomes the controller's concern again only after the watch has shown it, and that makes its
/// key forgotten here. So one question answers all wakes in between, of which there may be many: those of children and of mapped
/// objects name objects of every class.
#[derive(Debug, Default)]
pub(crate) struct Settled(Mutex<HashMap<ObjectKey, Question>>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Question {
    /// The answer is on its way.
    Asked,
    /// Nothing is to be done.
    Answered,
}

/// More keys than these are not remembered: about 10 MB. A wake costs a question then.
const MOST: usize = 65_536;

impl Settled {
    /// Begins a question, unless the key is settled. A key has one pass at a time, and so one question.
    fn ask(&self, key: &ObjectKey) -> bool {
        let mut questions = self.0.lock();
        if questions.get(key) == Some(&Question::Answered) {
            return false;
        }
        if questions.len() >= MOST {
            questions.clear();
        }
        questions.insert(key.clone(), Question::Asked);
        true
    }

    /// Nothing is to be done, unless the watch has shown the object since the question.
    fn settle(&self, key: &ObjectKey) {
        if let Some(question) = self.0.lock().get_mut(key) {
            *question = Question::Answered;
        }
    }

    /// The watch has shown the object, or it is known to need something.
    pub(crate) fn forget(&self, key: &ObjectKey) {
        self.0.lock().remove(key);
    }
}

impl Loop {
    /// The watch has shown another state of an object.
    pub(crate) fn was_shown(&self, key: &ObjectKey) {
        if self.source.selects() {
            self.settled.forget(key);
        }
    }

    /// One pass over an object that the cache does not have. One that is there and left the selection is let go as if it were
    /// deleted.
    pub(crate) async fn pass_over_stray(&self, key: &ObjectKey) -> Result<Next> {
        if !self.source.selects() {
            return self.vanished(key).await;
        }
        if !self.settled.ask(key) {
            return Ok(Next::AwaitChange);
        }
        let json = match self.source.stray(key).await? {
            Stray::Gone => {
                let next = self.vanished(key).await?;
                self.settled.settle(key);
                return Ok(next);
            }
            // The watch will show it, and that wakes it.
            Stray::Meant => {
                self.settled.settle(key);
                return Ok(Next::AwaitChange);
            }
            Stray::Left(json) => json,
        };
        let entry = self.source.objects().apart(&json).map_err(Error::unexpected)?;
        if !entry.header.finalizers.contains(&self.finalizer) {
            // Another install may hold references in its name.
            self.forget(key);
            self.settled.settle(key);
            return Ok(Next::AwaitChange);
        }
        match self.open(&entry) {
            Ok(opened) => self.tear_down(&entry, opened.as_ref()).await,
            Err(error) => self.tear_down_unread(&entry, error).await,
        }
    }

    async fn vanished(&self, key: &ObjectKey) -> Result<Next> {
        self.forget(key);
        self.release_vanished(key).await?;
        Ok(Next::AwaitChange)
    }

    /// The objects that left the selection while no operator ran, and still hold the finalizer.
    pub(crate) async fn strays(&self) -> Result<Vec<ObjectKey>> {
        let strays = if self.source.selects() { self.source.strays(&self.finalizer).await? } else { Vec::new() };
        strays.iter().for_each(|key| self.settled.forget(key));
        Ok(strays)
    }
}

#[cfg(test)]
mod tests {
    use super::Settled;
    use crate::cache::ObjectKey;

    /// Every order of eight steps: a question, its answer, and the watch that shows the object.
    #[test]
    fn a_key_is_settled_only_by_an_answer_to_a_question_after_the_object_was_last_shown() {
        let key = ObjectKey::namespaced("web", "a");
        for order in 0..3_usize.pow(8) {
            let (settled, mut asking, mut answered) = (Settled::default(), false, false);
            for step in 0..8 {
                match order / 3_usize.pow(step) % 3 {
                    0 => {
                        assert_eq!(settled.ask(&key), !answered, "step {step} of {order}");
                        asking |= !answered;
                    }
                    1 => {
                        settled.settle(&key);
                        answered |= asking;
                    }
                    _ => {
                        settled.forget(&key);
                        (asking, answered) = (false, false);
                    }
                }
            }
        }
    }
}
