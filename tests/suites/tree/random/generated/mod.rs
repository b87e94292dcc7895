//! Written by the test beside it; `cargo bless` writes it anew.

mod part00;
mod part01;
mod part02;
mod part03;
mod part04;
mod part05;
mod part06;
mod part07;
mod part08;

use super::sample::{Begin, begin, shape};
use opgen::shape::Shape;

/// All trees, in the order of their plans.
pub(super) fn trees() -> Vec<Begin> {
    vec![
        begin::<part00::Tree0>,
        begin::<part00::Tree1>,
        begin::<part00::Tree2>,
        begin::<part00::Tree3>,
        begin::<part01::Tree4>,
        begin::<part01::Tree5>,
        begin::<part01::Tree6>,
        begin::<part01::Tree7>,
        begin::<part02::Tree8>,
        begin::<part02::Tree9>,
        begin::<part02::Tree10>,
        begin::<part02::Tree11>,
        begin::<part03::Tree12>,
        begin::<part03::Tree13>,
        begin::<part03::Tree14>,
        begin::<part04::Tree15>,
        begin::<part04::Tree16>,
        begin::<part04::Tree17>,
        begin::<part05::Tree18>,
        begin::<part05::Tree19>,
        begin::<part05::Tree20>,
        begin::<part06::Tree21>,
        begin::<part06::Tree22>,
        begin::<part06::Tree23>,
        begin::<part06::Tree24>,
        begin::<part07::Tree25>,
        begin::<part07::Tree26>,
        begin::<part07::Tree27>,
        begin::<part08::Tree28>,
        begin::<part08::Tree29>,
    ]
}

/// Their shapes.
pub(super) fn shapes() -> Vec<&'static Shape> {
    vec![
        shape::<part00::Tree0>(),
        shape::<part00::Tree1>(),
        shape::<part00::Tree2>(),
        shape::<part00::Tree3>(),
        shape::<part01::Tree4>(),
        shape::<part01::Tree5>(),
        shape::<part01::Tree6>(),
        shape::<part01::Tree7>(),
        shape::<part02::Tree8>(),
        shape::<part02::Tree9>(),
        shape::<part02::Tree10>(),
        shape::<part02::Tree11>(),
        shape::<part03::Tree12>(),
        shape::<part03::Tree13>(),
        shape::<part03::Tree14>(),
        shape::<part04::Tree15>(),
        shape::<part04::Tree16>(),
        shape::<part04::Tree17>(),
        shape::<part05::Tree18>(),
        shape::<part05::Tree19>(),
        shape::<part05::Tree20>(),
        shape::<part06::Tree21>(),
        shape::<part06::Tree22>(),
        shape::<part06::Tree23>(),
        shape::<part06::Tree24>(),
        shape::<part07::Tree25>(),
        shape::<part07::Tree26>(),
        shape::<part07::Tree27>(),
        shape::<part08::Tree28>(),
        shape::<part08::Tree29>(),
    ]
}
