//! `CompressedObjects`: the objects of a list response, compressed in memory, from which the pages of the list are read.

use super::joined_objects::JoinedObjects;
use lz4_flex::block;

/// The size of the JSON that is compressed together, in bytes. Objects of one kind have most of their JSON in common. A page has at most
/// the objects of one block, which limits the memory of a page and of its copies.
const BLOCK_SIZE: usize = 16 * 1024;

/// The JSON of objects, in the order in which they were added.
///
/// A list is kept until its last page is read. If it were not compressed, it would take more memory than the cache of its reader.
#[derive(Debug, Default)]
pub(super) struct CompressedObjects {
    blocks: Vec<CompressedBlock>,
    /// The last objects, which are too few for a block.
    rest: JoinedObjects,
}

/// The objects of a block.
#[derive(Debug)]
struct CompressedBlock {
    /// The number of the objects before it.
    start: usize,
    sizes: Box<[usize]>,
    compressed: Box<[u8]>,
}

impl CompressedObjects {
    /// Adds an object. The objects since the last block are compressed as a block once they have [`BLOCK_SIZE`] bytes.
    pub(super) fn push(&mut self, json: &[u8]) {
        self.rest.push(json);
        if self.rest.json.len() >= BLOCK_SIZE {
            let start = self.rest_start();
            self.blocks.push(CompressedBlock::new(start, &self.rest));
            self.rest.clear();
        }
    }

    /// Returns the number of objects.
    pub(super) fn len(&self) -> usize {
        self.rest_start() + self.rest.len()
    }

    /// Returns the objects from the index `start` on: at most `limit`, and at most those up to the end of their block.
    ///
    /// # Errors
    /// Fails if a block can't be decompressed, which would be a defect.
    pub(super) fn page(&self, start: usize, limit: usize) -> Result<JoinedObjects, block::DecompressError> {
        let next_block = self.blocks.partition_point(|block| block.start <= start);
        let block =
            next_block.checked_sub(1).and_then(|last| self.blocks.get(last)).filter(|block| start < block.end());
        let (first, mut objects) = match block {
            Some(block) => (block.start, block.objects()?),
            None => (self.rest_start(), self.rest.clone()),
        };
        objects.keep(start.saturating_sub(first), limit);
        Ok(objects)
    }

    /// Returns all objects.
    ///
    /// # Errors
    /// As [`page`](Self::page).
    pub(super) fn all(&self) -> Result<JoinedObjects, block::DecompressError> {
        let mut all = JoinedObjects::default();
        for block in &self.blocks {
            all.append(block.objects()?);
        }
        all.append(self.rest.clone());
        Ok(all)
    }

    /// Returns the number of the objects in blocks, which is the index of the first object that is not compressed yet.
    fn rest_start(&self) -> usize {
        self.blocks.last().map_or(0, CompressedBlock::end)
    }
}

impl CompressedBlock {
    /// Compresses objects, the first of which has the index `start`.
    fn new(start: usize, objects: &JoinedObjects) -> Self {
        Self { start, sizes: objects.sizes().into(), compressed: block::compress(&objects.json).into() }
    }

    /// Returns the number of the objects up to its last one.
    fn end(&self) -> usize {
        self.start + self.sizes.len()
    }

    /// Decompresses the objects of the block. The decompressed size is that of the objects and the commas between them.
    fn objects(&self) -> Result<JoinedObjects, block::DecompressError> {
        let commas = self.sizes.len().saturating_sub(1);
        let json = block::decompress(&self.compressed, self.sizes.iter().sum::<usize>() + commas)?;
        Ok(JoinedObjects::new(json, self.sizes.to_vec()))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Returns the JSON of an object, whose size depends on its number.
    fn object(number: usize) -> Vec<u8> {
        format!(r#"{{"spec":{{"text":"{}","number":{number}}}}}"#, "x".repeat(number % 7 * 400)).into_bytes()
    }

    /// Returns the objects with these numbers, joined without compression.
    fn joined(numbers: std::ops::Range<usize>) -> JoinedObjects {
        let mut objects = JoinedObjects::default();
        numbers.for_each(|number| objects.push(&object(number)));
        objects
    }

    /// Returns `count` objects, compressed.
    fn compressed(count: usize) -> CompressedObjects {
        let mut compressed = CompressedObjects::default();
        (0..count).for_each(|number| compressed.push(&object(number)));
        compressed
    }

    #[test]
    fn pages_have_all_objects_in_their_order_and_no_more_than_the_limit() {
        for count in [0, 1, 63, 200, 1000] {
            let compressed = compressed(count);
            assert_eq!(compressed.len(), count);
            assert_eq!(compressed.all().unwrap(), joined(0..count));
            for limit in [1, 10, 500, usize::MAX] {
                let mut read = 0;
                while read < count {
                    let page = compressed.page(read, limit).unwrap();
                    assert!((1..=limit).contains(&page.len()), "{limit}: {}", page.len());
                    assert!(page.json.len() < BLOCK_SIZE + object(6).len());
                    assert_eq!(page, joined(read..read + page.len()), "{count} objects, at most {limit} a page");
                    read += page.len();
                }
                assert_eq!(compressed.page(count, limit).unwrap(), JoinedObjects::default());
                assert_eq!(compressed.page(count + 1, limit).unwrap(), JoinedObjects::default());
            }
        }
    }

    #[test]
    fn objects_of_one_kind_take_a_fraction_of_their_json() {
        let compressed = compressed(1000);
        let size: usize = compressed.blocks.iter().map(|block| block.compressed.len()).sum();
        assert!(size * 2 < joined(0..1000).json.len(), "{size}");
    }
}
