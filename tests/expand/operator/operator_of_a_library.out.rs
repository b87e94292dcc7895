fn main() -> ::std::process::ExitCode {
    ::opgen::__private::main(my_lib::operator())
}
