//! Routes the lines of dependencies between columns, around the boxes.

use super::layout::{GAP, LANE_WIDTH, Layout};

/// A dependency of the node `to` on the node `from`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dependency {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) is_read: bool,
}

/// A dependency with the lanes of its line: each is the column in front of the lane, and the number of the lane there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Route {
    dependency: Dependency,
    exit_lane: (usize, usize),
    entry_lane: (usize, usize),
}

/// The distance of the first lane from its column, in pixels.
const FIRST_LANE: i32 = 16;

/// The vertical space between lines that run above or below a tree, in pixels.
const DETOUR_GAP: i32 = 6;

/// Assigns each dependency its own lanes. Also returns the number of lanes behind each column.
///
/// A line enters a node from the right. It leaves a source in the same column to the right, and a deeper source to the left. A
/// longer line gets an outer lane, so that it goes around the shorter ones.
pub(super) fn routes(dependencies: &[Dependency], depths: &[usize]) -> (Vec<Route>, Vec<usize>) {
    let mut lanes = vec![0; depths.len()];
    let mut take = |gutter: usize| {
        lanes[gutter] += 1;
        (gutter, lanes[gutter] - 1)
    };
    let mut by_length: Vec<&Dependency> = dependencies.iter().collect();
    by_length.sort_by_key(|dependency| (dependency.from.abs_diff(dependency.to), dependency.to, dependency.from));
    let routes = by_length.into_iter().map(|dependency| {
        let (from, to) = (depths[dependency.from], depths[dependency.to]);
        let entry_lane = take(to);
        let exit_lane = if from > to + 1 { take(from - 1) } else { entry_lane };
        Route { dependency: *dependency, exit_lane, entry_lane }
    });
    let mut routes: Vec<_> = routes.collect();
    routes.sort_by_key(|route| (route.dependency.to, route.dependency.from));
    (routes, lanes)
}

/// Returns the dependency and the points of each route, in a layout that has room for the lanes.
pub(super) fn lines(routes: &[Route], layout: &Layout) -> Vec<(Dependency, Vec<(i32, i32)>)> {
    let lane = |(gutter, number): (usize, usize)| {
        layout.columns[gutter].1 + FIRST_LANE + LANE_WIDTH * i32::try_from(number).unwrap_or(0)
    };
    let mut ports = Ports { routes, layout };
    let line = |(index, route): (usize, &Route)| {
        let (from, to) = (layout.boxes[route.dependency.from], layout.boxes[route.dependency.to]);
        let start_x = if from.depth > to.depth { from.area.x } else { from.area.right() };
        let (start, end) = ((start_x, ports.exit_y(index)), (to.area.right(), ports.entry_y(index)));
        let (first, second) = (lane(route.exit_lane), lane(route.entry_lane));
        let mut points = vec![start, (first, start.1)];
        if first != second {
            // There are no boxes above and below the tree.
            let distance = GAP / 2 + DETOUR_GAP * i32::try_from(route.entry_lane.1).unwrap_or(0);
            let detour_y =
                if to.area.middle() < (to.top + to.bottom) / 2 { to.top - distance } else { to.bottom + distance };
            points.extend([(first, detour_y), (second, detour_y)]);
        }
        points.extend([(second, end.1), end]);
        (route.dependency, points)
    };
    routes.iter().enumerate().map(line).collect()
}

/// Computes the heights at which lines meet boxes: entries above the middle, exits below it, so that no two meet.
struct Ports<'a> {
    routes: &'a [Route],
    layout: &'a Layout,
}

impl Ports<'_> {
    fn exit_y(&mut self, index: usize) -> i32 {
        let (share, area) = self.share(index, |route| route.dependency.from);
        area.0 + area.1 * share.0 / share.1
    }

    fn entry_y(&mut self, index: usize) -> i32 {
        let (share, area) = self.share(index, |route| route.dependency.to);
        area.0 - area.1 * share.0 / share.1
    }

    /// Returns the rank of a line among those at the same box, their number plus 1, and the middle of the box with half its
    /// height.
    fn share(&self, index: usize, end: impl Fn(&Route) -> usize) -> ((i32, i32), (i32, i32)) {
        let node = end(&self.routes[index]);
        let count =
            |routes: &[Route]| i32::try_from(routes.iter().filter(|route| end(route) == node).count()).unwrap_or(0);
        let (before, all) = (count(&self.routes[..index]), count(self.routes));
        let area = self.layout.boxes[node].area;
        ((before + 1, all + 1), (area.middle(), area.height / 2))
    }
}

#[cfg(test)]
mod tests {
    use super::super::layout::{Size, depths, place_boxes};
    use super::*;

    /// A root with two branches of three, each over a leaf; the leaf of each is read by the other branch's top.
    #[test]
    fn a_line_from_far_down_goes_around_the_tree() {
        let size = |parent| Size { parent, width: 100, height: 60 };
        let sizes = [None, Some(0), Some(1), Some(2), Some(2), Some(0), Some(5), Some(6), Some(0)].map(size);
        let dependency = |from, to| Dependency { from, to, is_read: true };
        let (routes, lanes) =
            routes(&[dependency(3, 5), dependency(3, 8), dependency(7, 1), dependency(4, 6)], &depths(&sizes));
        let layout = place_boxes(&sizes, &lanes, 30, 100);
        for (dependency, points) in lines(&routes, &layout) {
            for pair in points.windows(2) {
                let ((x, y), (to_x, to_y)) = (pair[0], pair[1]);
                assert!(x == to_x || y == to_y, "{dependency:?} is straight: {points:?}");
                let (left, right) = (x.min(to_x), x.max(to_x));
                let (top, bottom) = (y.min(to_y), y.max(to_y));
                let is_hit = |area: super::super::canvas::Area| {
                    left < area.right()
                        && area.x < right.max(left + 1)
                        && top < area.bottom()
                        && area.y < bottom.max(top + 1)
                };
                let hit = layout.boxes.iter().find(|spot| is_hit(spot.area));
                assert!(hit.is_none(), "{dependency:?} goes through {hit:?}: {points:?}");
            }
            let (from, to) = (layout.boxes[dependency.from], layout.boxes[dependency.to]);
            assert_eq!(
                (points.first().map(|p| p.0), points.last().map(|p| p.0)),
                (Some(from.area.x), Some(to.area.right()))
            );
        }
    }
}
