//! Tells changes of objects that the operator wrote itself from those of other clients.

use super::{ObjectKey, PerObject, ResourceVersion, Uid};
use parking_lot::Mutex;

/// Own writes of objects that the watch has not shown yet, and what it shows of an object during a pass.
///
/// A watch may show a write before the answer to it arrives. So what is shown during a pass is judged at its end, when the
/// versions of all own writes are known; no other pass over the object can begin before that.
///
/// `C` says what a change comes to; its default is nothing.
#[derive(Debug)]
pub(crate) struct Echoes<C>(Mutex<PerObject<Echo<C>>>);

#[derive(Debug, PartialEq)]
struct Echo<C> {
    in_pass: bool,
    /// The versions of own writes that were not shown yet.
    written: Vec<ResourceVersion>,
    /// What was shown during the pass, and what it comes to unless it is an own write.
    shown: Vec<(ResourceVersion, C)>,
}

impl<C> Default for Echo<C> {
    fn default() -> Self {
        Self { in_pass: false, written: Vec::new(), shown: Vec::new() }
    }
}

impl<C: PartialEq> Default for Echoes<C> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<C: Copy + Default + Ord> Echoes<C> {
    /// A pass over an object begins.
    pub(crate) fn begin(&self, key: &ObjectKey, uid: &Uid) {
        self.0.lock().update(key, uid, |echo| echo.in_pass = true);
    }

    /// The object has a version by an own write.
    pub(crate) fn wrote(&self, key: &ObjectKey, uid: &Uid, version: &ResourceVersion) {
        self.0.lock().update(key, uid, |echo| {
            if !echo.written.contains(version) {
                echo.written.push(version.clone());
            }
        });
    }

    /// What a change comes to that the watch shows: `own` at most if it is an own write. During a pass it is nothing, and
    /// [`Echoes::end`] says it.
    pub(crate) fn show(&self, key: &ObjectKey, uid: &Uid, version: &ResourceVersion, means: C, own: C) -> C {
        let mut all = self.0.lock();
        if all.get(key, uid).is_none() {
            return means;
        }
        all.update(key, uid, |echo| {
            if echo.in_pass {
                echo.shown.push((version.clone(), means));
                return C::default();
            }
            echo.judge(version, means, own)
        })
    }

    /// A pass ends that began with a version of the object: what was shown meanwhile comes to this.
    pub(crate) fn end(&self, key: &ObjectKey, uid: &Uid, began: &ResourceVersion, own: C) -> C {
        self.0.lock().update(key, uid, |echo| {
            echo.in_pass = false;
            // A write that changed nothing is answered with the version from before, which no watch shows again.
            echo.written.retain(|version| version != began);
            let shown = std::mem::take(&mut echo.shown);
            shown.into_iter().map(|(version, means)| echo.judge(&version, means, own)).max().unwrap_or_default()
        })
    }

    /// The object is gone.
    pub(crate) fn forget(&self, key: &ObjectKey) {
        self.0.lock().forget(key);
    }
}

impl<C: Copy + Ord> Echo<C> {
    fn judge(&mut self, version: &ResourceVersion, means: C, own: C) -> C {
        let is_own = self.written.contains(version);
        // Those before it may have been skipped by a new list.
        self.written.retain(|written| written > version || written.partial_cmp(version).is_none());
        if is_own { means.min(own) } else { means }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: u8 = 1;
    const OF_OTHERS: u8 = 9;

    struct Scene {
        echoes: Echoes<u8>,
        key: ObjectKey,
        uid: Uid,
    }

    impl Scene {
        fn new() -> Self {
            Self { echoes: Echoes::default(), key: ObjectKey::namespaced("shop", "a"), uid: Uid::from("1") }
        }

        fn begin(&self) {
            self.echoes.begin(&self.key, &self.uid);
        }

        fn wrote(&self, version: u64) {
            self.echoes.wrote(&self.key, &self.uid, &version.into());
        }

        fn show(&self, version: u64) -> u8 {
            self.echoes.show(&self.key, &self.uid, &version.into(), OF_OTHERS, OWN)
        }

        fn end(&self) -> u8 {
            self.echoes.end(&self.key, &self.uid, &1.into(), OWN)
        }

        fn is_blank(&self) -> bool {
            *self.echoes.0.lock() == PerObject::default()
        }
    }

    #[test]
    fn an_own_write_is_known_whether_it_is_shown_before_its_answer_or_after_the_pass() {
        let scene = Scene::new();
        scene.begin();
        assert_eq!(scene.show(2), 0, "nobody knows yet");
        scene.wrote(2);
        scene.wrote(3);
        assert_eq!(scene.end(), OWN);
        assert_eq!(scene.show(3), OWN);
        assert!(scene.is_blank());
        assert_eq!(scene.show(4), OF_OTHERS);
    }

    #[test]
    fn what_another_client_writes_during_a_pass_is_told_at_its_end() {
        let scene = Scene::new();
        scene.begin();
        scene.wrote(2);
        assert_eq!((scene.show(2), scene.show(3)), (0, 0));
        assert_eq!(scene.end(), OF_OTHERS);
        scene.begin();
        assert_eq!(scene.end(), 0);
        assert!(scene.is_blank());
    }

    #[test]
    fn writes_that_are_never_shown_are_not_kept() {
        let scene = Scene::new();
        scene.begin();
        // One that changed nothing, and one that a new list skips.
        scene.wrote(1);
        scene.wrote(2);
        assert_eq!(scene.end(), 0);
        assert_eq!(scene.show(3), OF_OTHERS);
        assert!(scene.is_blank());
    }
}
