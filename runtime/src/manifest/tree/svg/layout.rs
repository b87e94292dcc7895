//! Computes the positions of the boxes of tree nodes in an SVG image: one column for each depth of the tree, from left to right, and each
//! node at the middle height of its children.

use super::canvas::Area;

/// The size of a box, before it has a position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    pub(super) parent: Option<usize>,
    pub(super) width: i32,
    pub(super) height: i32,
}

/// A box with its position.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlacedBox {
    pub(super) area: Area,
    pub(super) depth: usize,
    /// The top and the bottom of its tree.
    pub(super) top: i32,
    pub(super) bottom: i32,
}

/// The positions of all boxes, and the columns.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) boxes: Vec<PlacedBox>,
    /// The left and the right end of each column.
    pub(super) columns: Vec<(i32, i32)>,
    pub(super) bottom: i32,
}

/// The space between two boxes of a column, with room for an arrow.
pub(super) const GAP: i32 = 26;
/// The space between two trees.
const TREE_GAP: i32 = 64;
/// The space between two columns.
const GUTTER: i32 = 56;
/// The additional space between two columns for each line that runs there.
pub(super) const LANE_WIDTH: i32 = 14;

/// Places the boxes of several trees, which are listed with parents before their children, with the upper left corner at `left` and `top`.
/// The boxes of one depth form a column. A box stands at the middle height of its children, and trees lie below each other. `lanes` is the
/// number of lines that run behind each column and need space.
pub(super) fn place_boxes(sizes: &[Size], lanes: &[usize], left: i32, top: i32) -> Layout {
    let depths = depths(sizes);
    let columns = columns(sizes, &depths, lanes, left);
    let mut tops = vec![0; sizes.len()];
    let mut outlines = vec![Outline::default(); sizes.len()];
    // Children come after their parent in the list, so from its end every subtree has its position before its root gets one.
    for index in (0..sizes.len()).rev() {
        let children: Vec<_> = (index + 1..sizes.len()).filter(|child| sizes[*child].parent == Some(index)).collect();
        let mut outline = Outline::default();
        for child in &children {
            let offset = outline.offset_below(&outlines[*child]);
            shift(sizes, &mut tops, *child, offset);
            outline.add(&outlines[*child], offset);
        }
        let middle = |child: &usize| tops[*child] + sizes[*child].height / 2;
        let middles = children.first().map(middle).zip(children.last().map(middle));
        tops[index] = middles.map_or(0, |(first, last)| (first + last) / 2 - sizes[index].height / 2);
        outline.0.insert(0, (tops[index], tops[index] + sizes[index].height));
        outlines[index] = outline;
    }
    // Each tree lies below the one before it. `next` is the top of the next tree, and `offset` moves the current one to its place.
    let mut boxes: Vec<PlacedBox> = Vec::with_capacity(sizes.len());
    let (mut next, mut offset) = (top, 0);
    for (index, size) in sizes.iter().enumerate() {
        let (mut tree_top, mut tree_bottom) =
            boxes.last().map_or((top, top), |placed_box| (placed_box.top, placed_box.bottom));
        if size.parent.is_none() {
            let (first, last) = outlines[index].extent();
            offset = next - first;
            (tree_top, tree_bottom) = (next, last + offset);
            next = tree_bottom + TREE_GAP;
        }
        let (x, right) = columns[depths[index]];
        let area = Area { x, y: tops[index] + offset, width: right - x, height: size.height };
        boxes.push(PlacedBox { area, depth: depths[index], top: tree_top, bottom: tree_bottom });
    }
    let bottom = boxes.iter().map(|placed_box| placed_box.bottom).max().unwrap_or(top);
    Layout { boxes, columns, bottom }
}

/// The top and the bottom of a subtree in each column, from the column of its root on.
#[derive(Clone, Debug, Default)]
struct Outline(Vec<(i32, i32)>);

impl Outline {
    /// Returns the offset by which the subtree `other` has to move down, so that it lies below this subtree with a gap in every column that
    /// they share.
    fn offset_below(&self, other: &Self) -> i32 {
        self.0.iter().zip(&other.0).map(|((_, bottom), (top, _))| bottom + GAP - top).max().unwrap_or(0)
    }

    /// Extends this outline by the subtree `other`, moved down by `offset`.
    fn add(&mut self, other: &Self, offset: i32) {
        for (index, (top, bottom)) in other.0.iter().enumerate() {
            match self.0.get_mut(index) {
                Some(range) => *range = (range.0.min(top + offset), range.1.max(bottom + offset)),
                None => self.0.push((top + offset, bottom + offset)),
            }
        }
    }

    /// Returns the top and the bottom of the subtree over all its columns.
    fn extent(&self) -> (i32, i32) {
        let top = self.0.iter().map(|(top, _)| *top).min().unwrap_or(0);
        (top, self.0.iter().map(|(_, bottom)| *bottom).max().unwrap_or(0))
    }
}

/// Moves a box and its descendants, which follow it in the list, down by `offset`.
fn shift(sizes: &[Size], tops: &mut [i32], index: usize, offset: i32) {
    tops[index] += offset;
    for descendant in index + 1..sizes.len() {
        // The first later box whose parent precedes `index` is outside of the subtree.
        if sizes[descendant].parent.is_none_or(|parent| parent < index) {
            break;
        }
        tops[descendant] += offset;
    }
}

/// Returns the depth of each box in the tree. A parent precedes its children in the list, and a box without a parent has depth 0.
pub(super) fn depths(sizes: &[Size]) -> Vec<usize> {
    let mut depths: Vec<usize> = Vec::with_capacity(sizes.len());
    for size in sizes {
        depths.push(size.parent.map_or(0, |parent| depths[parent] + 1));
    }
    depths
}

/// Returns the left and the right end of each column. A column is as wide as its widest box, and the space behind it has room for its lines
/// (`lanes`).
fn columns(sizes: &[Size], depths: &[usize], lanes: &[usize], left: i32) -> Vec<(i32, i32)> {
    let mut columns = Vec::new();
    let mut x = left;
    for depth in 0..=depths.iter().copied().max().unwrap_or(0) {
        let widths = sizes.iter().zip(depths).filter(|(_, box_depth)| **box_depth == depth).map(|(size, _)| size.width);
        let right = x + widths.max().unwrap_or(0);
        columns.push((x, right));
        let lanes = i32::try_from(lanes.get(depth).copied().unwrap_or(0)).unwrap_or(0);
        x = right + GUTTER + LANE_WIDTH * lanes;
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_of_a_column_have_gaps_and_trees_do_not_overlap() {
        let size = |parent, width, height| Size { parent, width, height };
        // Two trees: a parent that is taller than its children, and one that is lower.
        let sizes = [
            size(None, 100, 300),
            size(Some(0), 80, 40),
            size(Some(0), 120, 40),
            size(None, 90, 50),
            size(Some(3), 60, 70),
            size(Some(4), 60, 20),
            size(Some(3), 60, 70),
        ];
        let layout = place_boxes(&sizes, &[0, 2], 10, 20);
        for (index, placed_box) in layout.boxes.iter().enumerate() {
            assert!(
                placed_box.top <= placed_box.area.y && placed_box.area.bottom() <= placed_box.bottom,
                "{index}: {placed_box:?}"
            );
            assert!(placed_box.top >= 20, "{placed_box:?}");
            assert_eq!((placed_box.area.x, placed_box.area.right()), layout.columns[placed_box.depth]);
            for other in &layout.boxes[index + 1..] {
                let has_gap =
                    other.area.y >= placed_box.area.bottom() + GAP || placed_box.area.y >= other.area.bottom() + GAP;
                assert!(has_gap || placed_box.depth != other.depth, "{placed_box:?} and {other:?}");
            }
        }
        assert_eq!(layout.columns[1].0 - layout.columns[0].1, GUTTER);
        assert_eq!(layout.columns[2].0 - layout.columns[1].1, GUTTER + 2 * LANE_WIDTH);
        assert!(layout.boxes[3].top > layout.boxes[0].bottom);
        assert_eq!(layout.boxes[0].area.middle(), (layout.boxes[1].area.y + layout.boxes[2].area.bottom()) / 2);
        let distance = layout.boxes[6].area.y - layout.boxes[4].area.bottom();
        assert_eq!(distance, GAP, "what has nothing below it lies close");
    }
}
