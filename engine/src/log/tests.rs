use std::sync::Arc;

use object_store::memory::InMemory;
use object_store::path::Path;

use super::*;
use crate::store::StoreKind;

fn log(folder: &str) -> Log {
    let store = Store::from_object_store(StoreKind::Memory, Arc::new(InMemory::new()));
    Log::new(store, Path::parse(folder).unwrap())
}

#[test]
fn newer_entries_have_smaller_keys() {
    let log = log("branches/main");
    assert_eq!(log.key(Seq(0)).as_ref(), "branches/main/ffffffffffffffff.json");
    assert_eq!(log.key(Seq(255)).as_ref(), "branches/main/ffffffffffffff00.json");
    assert_eq!(log.key(Seq(u64::MAX)).as_ref(), "branches/main/0000000000000000.json");
    let mut keys: Vec<_> = [0, 1, 9, 10, 15, 16, 4096, u64::MAX].map(|seq| log.key(Seq(seq))).into();
    keys.reverse();
    assert!(keys.is_sorted());
}

#[test]
fn keys_are_read_back_and_nothing_else_is() {
    let log = log("branches/a=2Fb");
    for seq in [0, 1, 41, u64::MAX - 1] {
        assert_eq!(log.seq_of(&log.key(Seq(seq))), Some(Seq(seq)));
    }
    for name in [
        "branches/a=2Fb",
        "branches/a=2Fb/0000000000000000.json",
        "branches/a=2Fb/ffffffffffffffff",
        "branches/a=2Fb/FFFFFFFFFFFFFFFF.json",
        "branches/a=2Fb/fffffffffffffff.json",
        "branches/a=2Fb/+ffffffffffffff0.json",
        "branches/a=2Fb/sub/ffffffffffffffff.json",
        "branches/a=2Fb/ffffffffffffffff.json/x",
        "branches/a/ffffffffffffffff.json",
    ] {
        assert_eq!(log.seq_of(&Path::parse(name).unwrap()), None, "{name}");
    }
}
