//! Digests of rows and of tuples of values.
//!
//! A digest is the first 16 bytes of BLAKE3, keyed so that a row hash is never the digest of a tuple: the key is BLAKE3's
//! `derive_key` of a context string and no further material. What is hashed, in terms of the canonical encoding:
//!
//! * *a row* (`_hash`): the encodings of its ends and, in a `MULTI` table, of its hidden id as a UUID; the byte `ff`; then, in the
//!   order of property ids, 16 bytes of id and the encoding of the value, for each property that is neither null nor
//!   the same as its fill value;
//! * *a tuple* (a key, an edge's end, a unique tuple): the encodings of its values.

use std::cell::Cell;
use std::sync::LazyLock;

use super::Value;
use super::canonical::{END, encode};
use crate::ids::{Digest, PropertyId};
use crate::schema::Type;

static ROW_KEY: LazyLock<[u8; 32]> = LazyLock::new(|| blake3::derive_key("pleach: row hash, version 1", &[]));
static TUPLE_KEY: LazyLock<[u8; 32]> = LazyLock::new(|| blake3::derive_key("pleach: tuple digest, version 1", &[]));

/// A buffer that has grown beyond this for one large row is not kept for the next.
const KEPT_BYTES: usize = 1 << 20;

/// Computes digests, one after another, in buffers that it keeps.
#[derive(Default)]
pub(crate) struct Canonical {
    bytes: Vec<u8>,
    pairs: Vec<Pair>,
    sorted: Vec<u8>,
}

/// Where in the buffer a property's id and value are.
struct Pair {
    property: PropertyId,
    start: usize,
    end: usize,
}

impl Canonical {
    /// As the function [`digest_values`].
    pub(crate) fn digest_values<'a>(&mut self, values: impl IntoIterator<Item = (&'a Value, &'a Type)>) -> Digest {
        self.bytes.clear();
        for (value, _) in values {
            encode(value, &mut self.bytes);
        }
        keyed(&TUPLE_KEY, &self.bytes)
    }

    /// As the function [`hash_row`].
    pub(crate) fn hash_row<'a>(
        &mut self,
        ends: impl IntoIterator<Item = (&'a Value, &'a Type)>,
        properties: impl IntoIterator<Item = (PropertyId, &'a Value, &'a Type, Option<&'a Value>)>,
    ) -> Digest {
        self.bytes.clear();
        self.pairs.clear();
        for (value, _) in ends {
            encode(value, &mut self.bytes);
        }
        self.bytes.push(END);
        let head = self.bytes.len();
        for (property, value, _, fill) in properties {
            if value.is_null() || fill.is_some_and(|fill| value.is_same(fill)) {
                continue;
            }
            let start = self.bytes.len();
            self.bytes.extend_from_slice(&property.to_bytes());
            encode(value, &mut self.bytes);
            self.pairs.push(Pair { property, start, end: self.bytes.len() });
        }
        if self.pairs.is_sorted_by_key(|pair| pair.property) {
            return keyed(&ROW_KEY, &self.bytes);
        }
        self.pairs.sort_unstable_by_key(|pair| pair.property);
        self.sorted.clear();
        self.sorted.extend_from_slice(&self.bytes[..head]);
        for pair in &self.pairs {
            self.sorted.extend_from_slice(&self.bytes[pair.start..pair.end]);
        }
        keyed(&ROW_KEY, &self.sorted)
    }
}

fn keyed(key: &[u8; 32], bytes: &[u8]) -> Digest {
    let mut digest = [0; 16];
    digest.copy_from_slice(&blake3::keyed_hash(key, bytes).as_bytes()[..16]);
    Digest(digest)
}

/// Runs `digest` with the buffers of this thread. They are taken out meanwhile, so a digest within a digest has its own.
fn with_buffers(digest: impl FnOnce(&mut Canonical) -> Digest) -> Digest {
    thread_local! {
        static BUFFERS: Cell<Canonical> = Cell::default();
    }
    let mut buffers = BUFFERS.take();
    let result = digest(&mut buffers);
    if buffers.bytes.capacity() + buffers.sorted.capacity() <= KEPT_BYTES {
        BUFFERS.set(buffers);
    }
    result
}

/// Digest of a tuple of values (a key, a unique tuple). Values decide alone, not their types, so the end of an edge and the key of
/// the node it names have one digest, before and after either is widened.
pub(crate) fn digest_values<'a>(values: impl IntoIterator<Item = (&'a Value, &'a Type)>) -> Digest {
    with_buffers(|buffers| buffers.digest_values(values))
}

/// `_hash` of a row: its ends (always in), its hidden edge id (`MULTI`; the last of the ends, as a UUID), then the non-null
/// (property id, value) pairs in id order, pairs equal to the fill value left out. Properties may come in any order; in the order of
/// their ids they need not be sorted.
pub(crate) fn hash_row<'a>(
    ends: impl IntoIterator<Item = (&'a Value, &'a Type)>,
    properties: impl IntoIterator<Item = (PropertyId, &'a Value, &'a Type, Option<&'a Value>)>,
) -> Digest {
    with_buffers(|buffers| buffers.hash_row(ends, properties))
}

#[cfg(test)]
#[path = "digest_tests.rs"]
mod tests;
