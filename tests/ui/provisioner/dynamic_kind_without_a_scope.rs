opgen::dynamic_kind! {
    Certificate: "cert-manager.io/v1", "certificates", everywhere;
}

fn main() {}
