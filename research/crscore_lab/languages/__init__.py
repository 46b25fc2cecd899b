"""Programming languages whose programs `crscore code run` can run, one module for each."""
