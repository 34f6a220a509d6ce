//! Branches: their names, how a reference finds a commit, and what this process knows of each.

mod authority;
mod catalogs;
mod error;
mod flights;
mod genesis;
mod name;
mod names;
mod reference;
mod resolve;
#[cfg(test)]
mod tests;

pub(crate) use authority::decode;
pub(crate) use authority::{Authorities, Capture, Head};
pub(crate) use catalogs::Catalogs;
pub use error::BranchError;
pub(crate) use genesis::Genesis;
pub use name::{BranchName, InvalidName, NameFault};
pub use reference::{At, InvalidReference, Reference};

/// The folder that holds a folder for each branch log.
pub(crate) const BRANCHES: &str = "branches";
