my_lib::operator()
