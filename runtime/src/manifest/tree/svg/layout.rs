//! Where the boxes go: a column for each depth, children beside their parent, one below the other.

use super::canvas::Area;

/// A box before it has a place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    pub(super) parent: Option<usize>,
    pub(super) width: i32,
    pub(super) height: i32,
}

/// A box in its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot {
    pub(super) area: Area,
    pub(super) depth: usize,
    /// From where to where its whole tree reaches.
    pub(super) top: i32,
    pub(super) bottom: i32,
}

/// All boxes, and the columns they stand in.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) spots: Vec<Spot>,
    /// Left and right end of each column.
    pub(super) columns: Vec<(i32, i32)>,
    pub(super) bottom: i32,
}

/// Between two boxes of a column: room for an arrow.
pub(super) const GAP: i32 = 26;
/// Between two trees.
const TREE_GAP: i32 = 64;
/// Between two columns.
const GUTTER: i32 = 56;
/// More of it for each line that runs along it.
pub(super) const LANE: i32 = 14;

/// Places boxes that are listed parents first. `lanes` says how many lines run along the gutter behind each column.
pub(super) fn placed(sizes: &[Size], lanes: &[usize], left: i32, top: i32) -> Layout {
    let depths = depths(sizes);
    let columns = columns(sizes, &depths, lanes, left);
    let mut tops = vec![0; sizes.len()];
    let mut shapes = vec![Outline::default(); sizes.len()];
    // Children are listed behind their parent, so from the end everything below a box has its place already.
    for index in (0..sizes.len()).rev() {
        let children: Vec<_> = (index + 1..sizes.len()).filter(|child| sizes[*child].parent == Some(index)).collect();
        let mut outline = Outline::default();
        for child in &children {
            let by = outline.room_for(&shapes[*child]);
            shift(sizes, &mut tops, *child, by);
            outline.add(&shapes[*child], by);
        }
        let middle = |child: &usize| tops[*child] + sizes[*child].height / 2;
        let ends = children.first().map(middle).zip(children.last().map(middle));
        tops[index] = ends.map_or(0, |(first, last)| (first + last) / 2 - sizes[index].height / 2);
        outline.0.insert(0, (tops[index], tops[index] + sizes[index].height));
        shapes[index] = outline;
    }
    let mut spots: Vec<Spot> = Vec::with_capacity(sizes.len());
    let (mut next, mut by) = (top, 0);
    for (index, size) in sizes.iter().enumerate() {
        let (mut tree_top, mut tree_bottom) = spots.last().map_or((top, top), |spot| (spot.top, spot.bottom));
        if size.parent.is_none() {
            let (first, last) = shapes[index].ends();
            by = next - first;
            (tree_top, tree_bottom) = (next, last + by);
            next = tree_bottom + TREE_GAP;
        }
        let (x, right) = columns[depths[index]];
        let area = Area { x, y: tops[index] + by, width: right - x, height: size.height };
        spots.push(Spot { area, depth: depths[index], top: tree_top, bottom: tree_bottom });
    }
    let bottom = spots.iter().map(|spot| spot.bottom).max().unwrap_or(top);
    Layout { spots, columns, bottom }
}

/// From where to where a branch reaches in each column, from its own on.
#[derive(Clone, Debug, Default)]
struct Outline(Vec<(i32, i32)>);

impl Outline {
    /// How far down another branch has to go to lie below this one.
    fn room_for(&self, other: &Self) -> i32 {
        self.0.iter().zip(&other.0).map(|((_, bottom), (top, _))| bottom + GAP - top).max().unwrap_or(0)
    }

    fn add(&mut self, other: &Self, by: i32) {
        for (index, (top, bottom)) in other.0.iter().enumerate() {
            match self.0.get_mut(index) {
                Some(held) => *held = (held.0.min(top + by), held.1.max(bottom + by)),
                None => self.0.push((top + by, bottom + by)),
            }
        }
    }

    fn ends(&self) -> (i32, i32) {
        let top = self.0.iter().map(|(top, _)| *top).min().unwrap_or(0);
        (top, self.0.iter().map(|(_, bottom)| *bottom).max().unwrap_or(0))
    }
}

/// Moves a box and all below it, which are those behind it until one that is not below.
fn shift(sizes: &[Size], tops: &mut [i32], index: usize, by: i32) {
    tops[index] += by;
    for below in index + 1..sizes.len() {
        if sizes[below].parent.is_none_or(|parent| parent < index) {
            break;
        }
        tops[below] += by;
    }
}

pub(super) fn depths(sizes: &[Size]) -> Vec<usize> {
    let mut depths: Vec<usize> = Vec::with_capacity(sizes.len());
    for size in sizes {
        depths.push(size.parent.map_or(0, |parent| depths[parent] + 1));
    }
    depths
}

/// Every box of a column is as wide as the widest.
fn columns(sizes: &[Size], depths: &[usize], lanes: &[usize], left: i32) -> Vec<(i32, i32)> {
    let mut columns = Vec::new();
    let mut x = left;
    for depth in 0..=depths.iter().copied().max().unwrap_or(0) {
        let widths = sizes.iter().zip(depths).filter(|(_, at)| **at == depth).map(|(size, _)| size.width);
        let right = x + widths.max().unwrap_or(0);
        columns.push((x, right));
        let lanes = i32::try_from(lanes.get(depth).copied().unwrap_or(0)).unwrap_or(0);
        x = right + GUTTER + LANE * lanes;
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_keep_apart_and_columns_line_up() {
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
        let plan = placed(&sizes, &[0, 2], 10, 20);
        for (index, spot) in plan.spots.iter().enumerate() {
            assert!(spot.top <= spot.area.y && spot.area.bottom() <= spot.bottom, "{index}: {spot:?}");
            assert!(spot.top >= 20, "{spot:?}");
            assert_eq!((spot.area.x, spot.area.right()), plan.columns[spot.depth]);
            for other in &plan.spots[index + 1..] {
                let apart = other.area.y >= spot.area.bottom() + GAP || spot.area.y >= other.area.bottom() + GAP;
                assert!(apart || spot.depth != other.depth, "{spot:?} and {other:?}");
            }
        }
        assert_eq!(plan.columns[1].0 - plan.columns[0].1, GUTTER);
        assert_eq!(plan.columns[2].0 - plan.columns[1].1, GUTTER + 2 * LANE);
        assert!(plan.spots[3].top > plan.spots[0].bottom);
        assert_eq!(plan.spots[0].area.middle(), (plan.spots[1].area.y + plan.spots[2].area.bottom()) / 2);
        let tight = plan.spots[6].area.y - plan.spots[4].area.bottom();
        assert_eq!(tight, GAP, "what has nothing below it lies close");
    }
}
