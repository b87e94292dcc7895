//! `JoinedObjects`: the JSON of objects with commas between them, as in the `items` of a list response.

/// Objects with commas between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct JoinedObjects {
    pub(super) json: Vec<u8>,
    /// The size of the JSON of each object, in bytes.
    sizes: Vec<usize>,
}

impl JoinedObjects {
    /// Returns objects with commas between them, and these sizes.
    pub(super) fn new(json: Vec<u8>, sizes: Vec<usize>) -> Self {
        Self { json, sizes }
    }

    /// Adds an object.
    pub(super) fn push(&mut self, json: &[u8]) {
        if !self.sizes.is_empty() {
            self.json.push(b',');
        }
        self.json.extend_from_slice(json);
        self.sizes.push(json.len());
    }

    /// Returns the number of objects.
    pub(super) fn len(&self) -> usize {
        self.sizes.len()
    }

    /// Returns the size of each object, in bytes.
    pub(super) fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// Removes all objects.
    pub(super) fn clear(&mut self) {
        self.json.clear();
        self.sizes.clear();
    }

    /// Adds the objects of another list at the end.
    pub(super) fn append(&mut self, other: Self) {
        if !self.sizes.is_empty() && !other.sizes.is_empty() {
            self.json.push(b',');
        }
        self.json.extend(other.json);
        self.sizes.extend(other.sizes);
    }

    /// Keeps at most `limit` objects after the first `skipped` ones, and removes all others.
    pub(super) fn keep(&mut self, skipped: usize, limit: usize) {
        let skipped = skipped.min(self.len());
        let end = skipped.saturating_add(limit).min(self.len());
        // Each object is followed by a comma, except the last one of the list.
        let size = |sizes: &[usize]| sizes.iter().map(|size| size + 1).sum::<usize>();
        let (from, to) = (size(&self.sizes[..skipped]), size(&self.sizes[..end]));
        // The comma behind the last object that stays is cut off.
        self.json.truncate(to.saturating_sub(1));
        self.json.drain(..from.min(self.json.len()));
        self.sizes.truncate(end);
        self.sizes.drain(..skipped);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the texts as joined objects.
    fn joined(texts: &[&str]) -> JoinedObjects {
        let mut objects = JoinedObjects::default();
        texts.iter().for_each(|text| objects.push(text.as_bytes()));
        objects
    }

    #[test]
    fn objects_have_commas_between_them() {
        assert_eq!(joined(&[]).json, b"");
        assert_eq!(joined(&["1"]).json, b"1");
        assert_eq!(joined(&["1", "22", "3"]).json, b"1,22,3");
        let mut all = joined(&[]);
        [joined(&["1"]), joined(&[]), joined(&["22", "3"])].into_iter().for_each(|objects| all.append(objects));
        assert_eq!(all, joined(&["1", "22", "3"]));
    }

    #[test]
    fn the_objects_that_are_kept_have_commas_between_them() {
        let texts = ["1", "22", "", "4444"];
        for skipped in 0..6 {
            for limit in 0..6 {
                let mut objects = joined(&texts);
                objects.keep(skipped, limit);
                let expected: Vec<_> = texts.into_iter().skip(skipped).take(limit).collect();
                assert_eq!(objects, joined(&expected), "{limit} after {skipped}");
            }
        }
    }
}
