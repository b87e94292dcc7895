// Rules by their names, places and arguments.

//# unknown rule of a field
pub struct Pool {
    #[valid(imutable)]
    pub class: String,
}

//# unknown rule of a struct
#[valid(on_of(git, image))]
pub struct Source {
    pub git: Option<String>,
    pub image: Option<String>,
}

//# rule of a struct on a field
pub struct Source {
    #[valid(one_of(git, image))]
    pub git: Option<String>,
    pub image: Option<String>,
}

//# rule of a field on a struct
#[valid(immutable)]
pub struct Source {
    pub git: Option<String>,
}

//# no rules
pub struct Source {
    #[valid()]
    pub git: Option<String>,
}

//# a text in place of a rule
pub struct Source {
    #[valid("immutable")]
    pub git: Option<String>,
}

//# an argument of a rule without arguments
pub struct Source {
    #[valid(immutable(image))]
    pub git: Option<String>,
    pub image: Option<String>,
}

//# no other field
pub struct Range {
    #[valid(at_most)]
    pub from: i32,
    pub to: i32,
}

//# the field itself
pub struct Range {
    #[valid(at_most(from))]
    pub from: i32,
}

//# unknown fields
#[valid(one_of(gti, image))]
pub struct Source {
    #[valid(required_if(pub = "a"))]
    pub git: Option<String>,
    pub image: Option<String>,
}

//# one field of a choice
#[valid(one_of(git))]
pub struct Source {
    pub git: Option<String>,
}

//# one field twice
#[valid(one_of(git, git))]
pub struct Source {
    pub git: Option<String>,
}

//# a field that is always set
#[valid(one_of(git, image))]
pub struct Source {
    pub git: Option<String>,
    pub image: String,
    #[valid(set_once)]
    pub address: String,
    #[valid(required_if(image = "a"))]
    pub host: String,
}

//# a comparison of what is no number
pub struct Range {
    #[valid(at_most(to))]
    pub from: String,
    pub to: bool,
}

//# a value where none is compared
pub struct Range {
    #[valid(at_most(to = 3))]
    pub from: i32,
    pub to: i32,
}

//# a value of a type that no field has
pub struct Range {
    #[valid(required_if(to = 1.5))]
    pub from: Option<i32>,
    pub to: i32,
}

//# unique of what is no list, and with two keys
pub struct Pools {
    #[valid(unique)]
    pub name: String,
    #[valid(unique(name, port))]
    pub pools: Vec<Pool>,
    #[valid(unique(name = "a"))]
    pub others: Vec<Pool>,
}

//# a message that the API server refuses
pub struct Pools {
    #[valid(immutable(message = ""))]
    pub name: String,
    #[valid(immutable(message = "two\nlines"))]
    pub other: String,
}

//# an argument after the message
#[valid(one_of(git, message = "choose", image))]
pub struct Source {
    pub git: Option<String>,
    pub image: Option<String>,
}

//# a field that is not in JSON
pub struct Source {
    #[serde(skip)]
    #[valid(immutable)]
    pub git: Option<String>,
    #[serde(flatten)]
    pub rest: Rest,
    #[valid(required_if(rest))]
    pub image: Option<String>,
}

//# an enum, a tuple and a generic type
#[valid(immutable)]
pub enum Source {
    #[valid(immutable)]
    Git(Git),
}

//# a tuple
pub struct Source(Git);

//# a generic type
pub struct Source<T> {
    #[valid(immutable)]
    pub git: T,
}

//# an enum with a tag
#[serde(tag = "type")]
pub enum Source {
    Git(Git),
}

//# a rule of an enum
#[valid(one_of(git, image))]
pub enum Source {
    Git(Git),
    Image(Image),
}
