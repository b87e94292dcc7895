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
#[allow(dead_code)]
const _: () = {
    fn reads(node: &Gate) {
        let _ = (node,);
    }
    #[automatically_derived]
    impl ::opgen::__private::Group for Gate {
        type Children = ::opgen::__private::NoChildren;
    }
};
