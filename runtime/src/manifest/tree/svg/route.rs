//! Routes the lines of dependencies between columns, around the boxes.

use super::layout::{GAP, LANE_WIDTH, Layout};

/// A dependency of the node `to` on the node `from`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dependency {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) is_read: bool,
}

/// A dependency with the lanes of its line. A lane is a vertical track in the space behind a column, for one line; it is written as the
/// number of the column and the number of the lane behind it.
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

/// Assigns each dependency its own lanes (vertical tracks in the space behind a column of boxes), and returns the routes and the number of
/// lanes behind each column. `depths` has the column of each box.
///
/// A line enters a node from the right. It leaves a source in the same column to the right, and a deeper source to the left. A
/// longer line gets an outer lane, so that it goes around the shorter ones.
pub(super) fn routes(dependencies: &[Dependency], depths: &[usize]) -> (Vec<Route>, Vec<usize>) {
    let mut lanes = vec![0; depths.len()];
    let mut add_lane = |column: usize| {
        lanes[column] += 1;
        (column, lanes[column] - 1)
    };
    let mut by_length: Vec<&Dependency> = dependencies.iter().collect();
    by_length.sort_by_key(|dependency| (dependency.from.abs_diff(dependency.to), dependency.to, dependency.from));
    let routes = by_length.into_iter().map(|dependency| {
        let (from, to) = (depths[dependency.from], depths[dependency.to]);
        let entry_lane = add_lane(to);
        // A source two or more columns deeper has a lane of its own in front of its column.
        let exit_lane = if from > to + 1 { add_lane(from - 1) } else { entry_lane };
        Route { dependency: *dependency, exit_lane, entry_lane }
    });
    let mut routes: Vec<_> = routes.collect();
    routes.sort_by_key(|route| (route.dependency.to, route.dependency.from));
    (routes, lanes)
}

/// Returns each dependency with the points of its line, from the source along its lanes to the dependent node. The layout must have room
/// for the lanes. Between two lanes, a line runs above or below the whole tree.
pub(super) fn lines(routes: &[Route], layout: &Layout) -> Vec<(Dependency, Vec<(i32, i32)>)> {
    let lane_x = |(column, number): (usize, usize)| {
        layout.columns[column].1 + FIRST_LANE + LANE_WIDTH * i32::try_from(number).unwrap_or(0)
    };
    let mut ports = Ports { routes, layout };
    let line = |(index, route): (usize, &Route)| {
        let (from, to) = (layout.boxes[route.dependency.from], layout.boxes[route.dependency.to]);
        let start_x = if from.depth > to.depth { from.area.x } else { from.area.right() };
        let (start, end) = ((start_x, ports.exit_y(index)), (to.area.right(), ports.entry_y(index)));
        let (exit_x, entry_x) = (lane_x(route.exit_lane), lane_x(route.entry_lane));
        let mut points = vec![start, (exit_x, start.1)];
        if exit_x != entry_x {
            // There are no boxes directly above and below the tree.
            let distance = GAP / 2 + DETOUR_GAP * i32::try_from(route.entry_lane.1).unwrap_or(0);
            let detour_y =
                if to.area.middle() < (to.top + to.bottom) / 2 { to.top - distance } else { to.bottom + distance };
            points.extend([(exit_x, detour_y), (entry_x, detour_y)]);
        }
        points.extend([(entry_x, end.1), end]);
        (route.dependency, points)
    };
    routes.iter().enumerate().map(line).collect()
}

/// Computes the heights at which lines meet boxes: lines enter above the middle and leave below it, each at another height.
struct Ports<'a> {
    routes: &'a [Route],
    layout: &'a Layout,
}

impl Ports<'_> {
    /// Returns the height at which the line of the route `index` leaves its source.
    fn exit_y(&mut self, index: usize) -> i32 {
        let ((rank, parts), (middle, half_height)) = self.share(index, |route| route.dependency.from);
        middle + half_height * rank / parts
    }

    /// Returns the height at which the line of the route `index` enters the dependent node.
    fn entry_y(&mut self, index: usize) -> i32 {
        let ((rank, parts), (middle, half_height)) = self.share(index, |route| route.dependency.to);
        middle - half_height * rank / parts
    }

    /// Divides half the height of a box evenly between the lines that meet the box. `end` returns the box of a route: its source or its
    /// dependent node. Returns the rank (from 1) of the line `index` and the number of parts, then the middle and half the height of the
    /// box.
    fn share(&self, index: usize, end: impl Fn(&Route) -> usize) -> ((i32, i32), (i32, i32)) {
        let node = end(&self.routes[index]);
        let count =
            |routes: &[Route]| i32::try_from(routes.iter().filter(|route| end(route) == node).count()).unwrap_or(0);
        let (lines_before, all_lines) = (count(&self.routes[..index]), count(self.routes));
        let area = self.layout.boxes[node].area;
        ((lines_before + 1, all_lines + 1), (area.middle(), area.height / 2))
    }
}

#[cfg(test)]
mod tests {
    use super::super::layout::{Size, depths, place_boxes};
    use super::*;

    /// The tree has two deep branches below the root. A leaf of each is read by the top node of the other branch, so the lines cross the
    /// columns, and must be horizontal or vertical and meet no box.
    #[test]
    fn a_line_from_a_deep_node_goes_around_the_tree() {
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
                let hit = layout.boxes.iter().find(|placed_box| is_hit(placed_box.area));
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
