//! No test file is forgotten: each is named by a `mod` of the file above it.

use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn every_test_file_is_compiled() {
    let root = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").expect("run by Cargo")).join("it");
    let mut forgotten = Vec::new();
    walk(&root, &root.join("main.rs"), &mut forgotten);
    assert!(forgotten.is_empty(), "no `mod` names {forgotten:?}");
}

/// Collects the modules of `folder` that `parent` does not declare.
fn walk(folder: &Path, parent: &Path, forgotten: &mut Vec<PathBuf>) {
    let declared = fs::read_to_string(parent).unwrap_or_default();
    for entry in fs::read_dir(folder).expect("a folder of tests") {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
        let is_code = path.extension().is_some_and(|extension| extension == "rs");
        if path.is_dir() {
            let inner = [path.join("mod.rs"), path.with_extension("rs")].into_iter().find(|file| file.exists());
            if let Some(inner) = inner {
                walk(&path, &inner, forgotten);
            } else if holds_code(&path) {
                forgotten.push(path.clone());
            }
        }
        let is_module = (is_code && path != *parent) || path.join("mod.rs").exists();
        if is_module && !declared.lines().any(|line| line.trim().ends_with(&format!("mod {name};"))) {
            forgotten.push(path);
        }
    }
}

/// Whether a folder that is no module holds Rust files all the same (a folder of data does not).
fn holds_code(folder: &Path) -> bool {
    fs::read_dir(folder)
        .expect("a folder of tests")
        .any(|entry| entry.is_ok_and(|entry| entry.path().extension().is_some_and(|extension| extension == "rs")))
}
