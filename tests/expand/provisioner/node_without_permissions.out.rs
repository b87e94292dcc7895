#[automatically_derived]
impl ::opgen::Provisioner for Gate {
    type Takes = ();
    type Gives = ();
    const SHAPE: ::opgen::Shape = ::opgen::Shape {
        node: ::opgen::Node::Custom,
        access: &[],
        children: &[],
    };
}
const _: () = {
    #[allow(dead_code)]
    fn reads(node: &Gate) {
        let _ = (node,);
    }
};
