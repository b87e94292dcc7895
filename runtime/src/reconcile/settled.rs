//! `Settled`: keys outside the selection for which nothing is to be done.

use crate::reconcile::ObjectKey;
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
    pub(super) fn ask(&self, key: &ObjectKey) -> bool {
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
    pub(super) fn settle(&self, key: &ObjectKey) {
        if let Some(question) = self.0.lock().get_mut(key) {
            *question = Question::Answered;
        }
    }

    /// The watch has shown the object, or it is known to need something.
    pub(crate) fn forget(&self, key: &ObjectKey) {
        self.0.lock().remove(key);
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
