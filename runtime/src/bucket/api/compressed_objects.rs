//! `CompressedObjects`: the objects of a list response, compressed in memory, from which the pages of the list are read.

use lz4_flex::block;
use std::mem;

/// The size of the JSON that is compressed together, in bytes. Objects of one kind have most of their JSON in common. A page has at most
/// these objects and one more: it is copied a few times, and allocators keep the freed memory of larger copies in pieces.
const BLOCK_SIZE: usize = 64 * 1024;

/// The JSON of objects, in the order in which they were added.
///
/// A list is kept until its last page is read. If it were not compressed, it would take more memory than the cache of its reader.
#[derive(Debug, Default)]
pub(super) struct CompressedObjects {
    blocks: Vec<CompressedBlock>,
    /// The last objects, which are too few for a block.
    rest: Vec<Vec<u8>>,
    /// The size of the JSON of the last objects, in bytes.
    rest_size: usize,
}

/// The objects of a block.
#[derive(Debug)]
struct CompressedBlock {
    /// The number of the objects before it.
    start: usize,
    /// The size of the JSON of each object, in bytes.
    sizes: Box<[usize]>,
    compressed: Box<[u8]>,
}

impl CompressedObjects {
    /// Adds an object.
    pub(super) fn push(&mut self, json: Vec<u8>) {
        self.rest_size += json.len();
        self.rest.push(json);
        if self.rest_size >= BLOCK_SIZE {
            let objects = mem::take(&mut self.rest);
            self.rest_size = 0;
            self.blocks.push(CompressedBlock::new(self.rest_start(), &objects));
        }
    }

    /// Returns the number of objects.
    pub(super) fn len(&self) -> usize {
        self.rest_start() + self.rest.len()
    }

    /// Returns objects, the first of which has this index: at most `limit`, and at most those that are compressed together.
    ///
    /// # Errors
    /// Fails if a block can't be decompressed, which would be a defect.
    pub(super) fn page(&self, start: usize, limit: usize) -> Result<Vec<Vec<u8>>, block::DecompressError> {
        let after = self.blocks.partition_point(|block| block.start <= start);
        let block = after.checked_sub(1).and_then(|last| self.blocks.get(last)).filter(|block| start < block.end());
        let Some(block) = block else {
            return Ok(self.rest.iter().skip(start - self.rest_start().min(start)).take(limit).cloned().collect());
        };
        let mut objects = block.objects()?;
        objects.truncate((start - block.start).saturating_add(limit));
        objects.drain(..start - block.start);
        Ok(objects)
    }

    /// Returns all objects.
    ///
    /// # Errors
    /// As [`page`](Self::page).
    pub(super) fn all(&self) -> Result<Vec<Vec<u8>>, block::DecompressError> {
        let mut all = Vec::with_capacity(self.len());
        for block in &self.blocks {
            all.extend(block.objects()?);
        }
        all.extend_from_slice(&self.rest);
        Ok(all)
    }

    /// Returns the number of the objects in blocks.
    fn rest_start(&self) -> usize {
        self.blocks.last().map_or(0, CompressedBlock::end)
    }
}

impl CompressedBlock {
    fn new(start: usize, objects: &[Vec<u8>]) -> Self {
        let sizes = objects.iter().map(Vec::len).collect();
        Self { start, sizes, compressed: block::compress(&objects.concat()).into() }
    }

    /// Returns the number of the objects up to its last one.
    fn end(&self) -> usize {
        self.start + self.sizes.len()
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
        format!(r#"{{"spec":{{"text":"{}","number":{number}}}}}"#, "x".repeat(number % 7 * 400)).into_bytes()
    }

    #[test]
    fn pages_have_all_objects_in_their_order_and_none_more_than_its_limit() {
        for count in [0, 1, 63, 200, 1000] {
            let objects: Vec<_> = (0..count).map(object).collect();
            let mut compressed = CompressedObjects::default();
            objects.iter().for_each(|object| compressed.push(object.clone()));
            assert_eq!(compressed.len(), count);
            assert_eq!(compressed.all().unwrap(), objects);
            for limit in [1, 10, 500, usize::MAX] {
                let mut read = Vec::new();
                while read.len() < count {
                    let page = compressed.page(read.len(), limit).unwrap();
                    assert!((1..=limit).contains(&page.len()), "{limit}: {}", page.len());
                    assert!(page.concat().len() < BLOCK_SIZE + object(6).len());
                    read.extend(page);
                }
                assert_eq!(read, objects, "{count} objects, at most {limit} a page");
                assert_eq!(compressed.page(count, limit).unwrap(), Vec::<Vec<u8>>::new());
                assert_eq!(compressed.page(count + 1, limit).unwrap(), Vec::<Vec<u8>>::new());
            }
        }
    }

    #[test]
    fn objects_of_one_kind_take_a_fraction_of_their_json() {
        let mut compressed = CompressedObjects::default();
        let objects: Vec<_> = (0..1000).map(object).collect();
        objects.iter().for_each(|object| compressed.push(object.clone()));
        let size: usize = compressed.blocks.iter().map(|block| block.compressed.len()).sum();
        assert!(size * 2 < objects.concat().len(), "{size}");
    }
}
