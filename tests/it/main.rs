//! All integration tests, in one binary: linking a second one would cost more than it tells.
