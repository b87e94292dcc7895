fn main() -> ::std::process::ExitCode {
    ::opgen::__private::main_with(|options: my_lib::Options| my_lib::operator(options))
}
