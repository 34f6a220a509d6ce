//! The command line of Pleach.

fn main() {}
