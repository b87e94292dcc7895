#[valid(crate = "my::facade")]
pub struct Pool {
    #[valid(immutable)]
    pub class: String,
}
