#[serde(rename_all = "camelCase")]
pub enum Source {
    GitRepository(Git),
    #[serde(rename = "oci")]
    Image(Box<Image>),
    Nothing,
    Inline { text: String },
    Two(String, String),
}
