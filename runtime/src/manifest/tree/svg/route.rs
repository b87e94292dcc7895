//! Where the lines go that say what has to be there before: along the gutters between the columns, never through a box.

use super::layout::{GAP, LANE, Layout};

/// A line from a node to one that comes after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wish {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) is_read: bool,
}

/// A wish with the lanes it runs on: the gutter behind a column, and the number of the lane there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Route {
    wish: Wish,
    leaves: (usize, usize),
    enters: (usize, usize),
}

/// Where the first lane of a gutter is.
const FIRST: i32 = 16;

/// Gives every wish lanes of its own; the second value is how many there are behind each column.
///
/// A node is entered from its right. A source beside it is left to the right, too; one further down the tree to the left.
/// The longer a line, the farther out its lane, so that it goes around the shorter ones.
pub(super) fn routes(wishes: &[Wish], depths: &[usize]) -> (Vec<Route>, Vec<usize>) {
    let mut lanes = vec![0; depths.len()];
    let mut take = |gutter: usize| {
        lanes[gutter] += 1;
        (gutter, lanes[gutter] - 1)
    };
    let mut by_length: Vec<&Wish> = wishes.iter().collect();
    by_length.sort_by_key(|wish| (wish.from.abs_diff(wish.to), wish.to, wish.from));
    let routes = by_length.into_iter().map(|wish| {
        let (from, to) = (depths[wish.from], depths[wish.to]);
        let enters = take(to);
        let leaves = if from > to + 1 { take(from - 1) } else { enters };
        Route { wish: *wish, leaves, enters }
    });
    let mut routes: Vec<_> = routes.collect();
    routes.sort_by_key(|route| (route.wish.to, route.wish.from));
    (routes, lanes)
}

/// The points of each route, in a plan that has room for their lanes.
pub(super) fn lines(routes: &[Route], plan: &Layout) -> Vec<(Wish, Vec<(i32, i32)>)> {
    let lane =
        |(gutter, number): (usize, usize)| plan.columns[gutter].1 + FIRST + LANE * i32::try_from(number).unwrap_or(0);
    let mut ports = Ports { routes, plan };
    let line = |(index, route): (usize, &Route)| {
        let (from, to) = (plan.spots[route.wish.from], plan.spots[route.wish.to]);
        let start_x = if from.depth > to.depth { from.area.x } else { from.area.right() };
        let (start, end) = ((start_x, ports.leaving(index)), (to.area.right(), ports.entering(index)));
        let (first, second) = (lane(route.leaves), lane(route.enters));
        let mut points = vec![start, (first, start.1)];
        if first != second {
            // Above and below the tree there is nothing in the way.
            let aside = GAP / 2 + 6 * i32::try_from(route.enters.1).unwrap_or(0);
            let around = if to.area.middle() < (to.top + to.bottom) / 2 { to.top - aside } else { to.bottom + aside };
            points.extend([(first, around), (second, around)]);
        }
        points.extend([(second, end.1), end]);
        (route.wish, points)
    };
    routes.iter().enumerate().map(line).collect()
}

/// The heights at which lines meet boxes: entries above the middle, exits below it, so that no two meet.
struct Ports<'a> {
    routes: &'a [Route],
    plan: &'a Layout,
}

impl Ports<'_> {
    fn leaving(&mut self, index: usize) -> i32 {
        let (share, area) = self.share(index, |route| route.wish.from);
        area.0 + area.1 * share.0 / share.1
    }

    fn entering(&mut self, index: usize) -> i32 {
        let (share, area) = self.share(index, |route| route.wish.to);
        area.0 - area.1 * share.0 / share.1
    }

    /// Which of how many lines at that end of the box this is, and the box's middle with half its height.
    fn share(&self, index: usize, end: impl Fn(&Route) -> usize) -> ((i32, i32), (i32, i32)) {
        let node = end(&self.routes[index]);
        let count =
            |routes: &[Route]| i32::try_from(routes.iter().filter(|route| end(route) == node).count()).unwrap_or(0);
        let (before, all) = (count(&self.routes[..index]), count(self.routes));
        let area = self.plan.spots[node].area;
        ((before + 1, all + 1), (area.middle(), area.height / 2))
    }
}

#[cfg(test)]
mod tests {
    use super::super::layout::{Size, depths, placed};
    use super::*;

    /// A root with two branches of three, each over a leaf; the leaf of each is read by the other branch's top.
    #[test]
    fn a_line_from_far_down_goes_around_the_tree() {
        let size = |parent| Size { parent, width: 100, height: 60 };
        let sizes = [None, Some(0), Some(1), Some(2), Some(2), Some(0), Some(5), Some(6), Some(0)].map(size);
        let wish = |from, to| Wish { from, to, is_read: true };
        let (routes, lanes) = routes(&[wish(3, 5), wish(3, 8), wish(7, 1), wish(4, 6)], &depths(&sizes));
        let plan = placed(&sizes, &lanes, 30, 100);
        for (wish, points) in lines(&routes, &plan) {
            for pair in points.windows(2) {
                let ((x, y), (to_x, to_y)) = (pair[0], pair[1]);
                assert!(x == to_x || y == to_y, "{wish:?} is straight: {points:?}");
                let (left, right) = (x.min(to_x), x.max(to_x));
                let (top, bottom) = (y.min(to_y), y.max(to_y));
                let is_hit = |area: super::super::canvas::Area| {
                    left < area.right()
                        && area.x < right.max(left + 1)
                        && top < area.bottom()
                        && area.y < bottom.max(top + 1)
                };
                let hit = plan.spots.iter().find(|spot| is_hit(spot.area));
                assert!(hit.is_none(), "{wish:?} goes through {hit:?}: {points:?}");
            }
            let (from, to) = (plan.spots[wish.from], plan.spots[wish.to]);
            assert_eq!(
                (points.first().map(|p| p.0), points.last().map(|p| p.0)),
                (Some(from.area.x), Some(to.area.right()))
            );
        }
    }
}
