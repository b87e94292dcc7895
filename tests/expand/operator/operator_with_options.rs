|options: my_lib::Options| my_lib::operator(options)
