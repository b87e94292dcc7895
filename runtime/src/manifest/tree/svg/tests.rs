//! Tests the SVG images of trees against golden files, and the layout of their boxes.

use super::{
    super::{example, svg},
    *,
};
use crate::manifest::{
    fixture,
    tree::svg::{forest::Forest, style::MARGIN},
};

fn example() -> (Canvas, Layout) {
    let project = example::project();
    draw(&project.name, &project.version, &Diagram::all(&project))
}

#[test]
fn no_text_leaves_the_drawing_and_none_leaves_its_box() {
    let (canvas, layout) = example();
    let (right, bottom) = (canvas.right + MARGIN, canvas.bottom + MARGIN);
    for (area, text) in &canvas.texts {
        assert!(area.x >= 0 && area.y >= 0 && area.right() <= right && area.bottom() <= bottom, "{text}: {area:?}");
        let holder = layout.boxes.iter().find(|spot| {
            (spot.area.x..=spot.area.right()).contains(&area.x)
                && (spot.area.y..=spot.area.bottom()).contains(&area.middle())
        });
        if let Some(holder) = holder {
            assert!(
                area.right() <= holder.area.right() && area.bottom() <= holder.area.bottom(),
                "{text} leaves its box"
            );
        }
    }
}

#[test]
fn no_two_texts_overlap() {
    let (canvas, _) = example();
    for (index, (one, said)) in canvas.texts.iter().enumerate() {
        for (other, text) in &canvas.texts[index + 1..] {
            let across = one.x < other.right() && other.x < one.right();
            // A line's room reaches from its capitals to its base line.
            let down = one.y + 2 < other.y + other.height * 3 / 4 && other.y + 2 < one.y + one.height * 3 / 4;
            assert!(!(across && down), "`{said}` is over `{text}`: {one:?} {other:?}");
        }
    }
}

#[test]
fn lines_go_through_no_box() {
    let project = example::project();
    let mut forest = Forest::default();
    Diagram::all(&project).iter().for_each(|diagram| forest.add_tree(diagram));
    assert!(forest.dependencies.len() >= 5, "{:?}", forest.dependencies);
    let sizes = forest.sizes();
    let (routes, lanes) = routes(&forest.dependencies, &layout::depths(&sizes));
    let layout = place_boxes(&sizes, &lanes, MARGIN, MARGIN);
    for (dependency, points) in lines(&routes, &layout) {
        for pair in points.windows(2) {
            let ((x, y), (to_x, to_y)) = (pair[0], pair[1]);
            assert!(x == to_x || y == to_y, "{dependency:?} is straight");
            for spot in &layout.boxes {
                let across = x.min(to_x) < spot.area.right() && spot.area.x < x.max(to_x);
                let down = y.min(to_y) < spot.area.bottom() && spot.area.y < y.max(to_y);
                let through = (across || (x == to_x && spot.area.x < x && x < spot.area.right()))
                    && (down || (y == to_y && spot.area.y < y && y < spot.area.bottom()));
                assert!(!through, "{dependency:?} goes through {:?}: {points:?}", spot.area);
            }
        }
    }
}

#[test]
fn the_drawing_is_well_formed_and_stands_alone() {
    let text = svg(&example::project());
    assert!(text.contains("shop.spec.tier != &quot;free&quot;") && text.contains("&amp;&amp;"), "{text}");
    let mut open = Vec::new();
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once('<') {
        assert!(!before.contains('>'), "{before}");
        let (tag, next) = after.split_once('>').unwrap_or_else(|| panic!("{after}"));
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        match tag.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name.to_owned())),
            None if tag.ends_with('/') => {}
            None => open.push(tag.split(' ').next().unwrap_or_default().to_owned()),
        }
        rest = next;
    }
    assert!(open.is_empty(), "{open:?}");
    let outside = ["href", "url(", "@import", "<image", "<script", "@font-face"];
    assert!(outside.iter().all(|word| !text.contains(word)), "{text}");
    assert_eq!(text.matches("http").count(), 1, "the namespace alone");
}

#[test]
fn the_same_tree_gives_the_same_bytes() {
    for (name, project) in [("widget", fixture::project()), ("shop", example::project())] {
        let path = format!("{}/src/manifest/tree/svg/{name}.golden.svg", env!("CARGO_MANIFEST_DIR"));
        let draw = svg(&project);
        assert_eq!(draw, svg(&project));
        if std::env::var_os("OPGEN_BLESS").is_some_and(|value| value == "1") {
            std::fs::write(&path, &draw).unwrap_or_else(|error| panic!("{path}: {error}"));
        }
        let golden = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(draw == golden, "{path} is not what is drawn; `cargo bless` writes it anew");
    }
}
