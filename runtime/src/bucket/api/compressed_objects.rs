//! `CompressedObjects`: the objects of a list response, compressed in memory, from which the pages of the list are read.

use lz4_flex::block;
use std::mem;

/// The number of objects that are compressed together. Objects of one kind have most of their JSON in common.
const BLOCK_OBJECTS: usize = 64;

/// The JSON of objects, in the order in which they were added.
///
/// A list is kept until its last page is read. If it were not compressed, it would take more memory than the cache of its reader.
#[derive(Debug, Default)]
pub(super) struct CompressedObjects {
    blocks: Vec<CompressedBlock>,
    /// The last objects, which are too few for a block.
    rest: Vec<Vec<u8>>,
}

/// [`BLOCK_OBJECTS`] objects.
#[derive(Debug)]
struct CompressedBlock {
    /// The size of the JSON of each object, in bytes.
    sizes: Box<[usize]>,
    compressed: Box<[u8]>,
}

impl CompressedObjects {
    /// Adds an object.
    pub(super) fn push(&mut self, json: Vec<u8>) {
        self.rest.push(json);
        if self.rest.len() == BLOCK_OBJECTS {
            self.blocks.push(CompressedBlock::new(&mem::take(&mut self.rest)));
        }
    }

    /// Returns the number of objects.
    pub(super) fn len(&self) -> usize {
        self.blocks.len() * BLOCK_OBJECTS + self.rest.len()
    }

    /// Returns at most `limit` objects, the first of which has this index.
    ///
    /// # Errors
    /// Fails if a block can't be decompressed, which would be a defect.
    pub(super) fn page(&self, start: usize, limit: usize) -> Result<Vec<Vec<u8>>, block::DecompressError> {
        let end = start.saturating_add(limit).min(self.len());
        let mut page = Vec::with_capacity(end.saturating_sub(start));
        let mut next = start;
        while next < end {
            let (number, from) = (next / BLOCK_OBJECTS, next % BLOCK_OBJECTS);
            let to = (from + end - next).min(BLOCK_OBJECTS);
            match self.blocks.get(number) {
                Some(block) => page.extend(block.objects()?.drain(from..to)),
                None => page.extend_from_slice(&self.rest[from..to]),
            }
            next += to - from;
        }
        Ok(page)
    }
}

impl CompressedBlock {
    fn new(objects: &[Vec<u8>]) -> Self {
        let sizes = objects.iter().map(Vec::len).collect();
        Self { sizes, compressed: block::compress(&objects.concat()).into() }
    }

    /// Decompresses the block, and splits it into its objects.
    fn objects(&self) -> Result<Vec<Vec<u8>>, block::DecompressError> {
        let json = block::decompress(&self.compressed, self.sizes.iter().sum())?;
        let mut rest = json.as_slice();
        let objects = self.sizes.iter().map(|size| {
            let (object, others) = rest.split_at((*size).min(rest.len()));
            rest = others;
            object.to_vec()
        });
        Ok(objects.collect())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn object(number: usize) -> Vec<u8> {
        format!(r#"{{"spec":{{"text":"{}","number":{number}}}}}"#, "x".repeat(number % 7)).into_bytes()
    }

    #[test]
    fn a_page_has_the_objects_from_its_start_up_to_its_limit() {
        for count in [0, 1, 63, 64, 65, 200] {
            let objects: Vec<_> = (0..count).map(object).collect();
            let mut compressed = CompressedObjects::default();
            objects.iter().for_each(|object| compressed.push(object.clone()));
            assert_eq!(compressed.len(), count);
            for (start, limit) in [(0, usize::MAX), (0, 10), (60, 10), (63, 1), (64, 64), (190, 100), (500, 1)] {
                let expected: Vec<_> = objects.iter().skip(start).take(limit).cloned().collect();
                assert_eq!(compressed.page(start, limit).unwrap(), expected, "{count} objects, {limit} from {start}");
            }
        }
    }

    #[test]
    fn objects_of_one_kind_take_a_fraction_of_their_json() {
        let mut compressed = CompressedObjects::default();
        let objects: Vec<_> = (0..10 * BLOCK_OBJECTS).map(object).collect();
        objects.iter().for_each(|object| compressed.push(object.clone()));
        let size: usize = compressed.blocks.iter().map(|block| block.compressed.len()).sum();
        assert!(compressed.rest.is_empty() && size * 2 < objects.concat().len(), "{size}");
    }
}
