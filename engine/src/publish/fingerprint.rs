//! What a request asks for, in a few bytes: so that a request id that comes with another request is told from one that comes again.
//!
//! It stands in the `extensions` of the change, which every version may ignore: a change without one was made by a version, or by a
//! sort of request, that says no more than its kind.

use crate::record::{Change, base64};

/// The name of the extension.
const NAME: &str = "request";

/// A hundred and twenty-eight bits of the hash of all that a request asks for. Who asks, when and why is no part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fingerprint([u8; 16]);

/// Makes a [`Fingerprint`] part by part.
pub(crate) struct Fingerprinter(blake3::Hasher);

impl Fingerprinter {
    /// For a request of one `form`, such as `statement`: requests of different forms are never the same.
    pub(crate) fn new(form: &str) -> Self {
        Self(blake3::Hasher::new_derive_key("pleach request fingerprint v1")).with(form.as_bytes())
    }

    /// Takes in one part. Parts do not run into each other.
    #[must_use]
    pub(crate) fn with(mut self, part: &[u8]) -> Self {
        self.0.update(&(part.len() as u64).to_be_bytes()).update(part);
        self
    }

    /// Takes in more of a last part of unknown length.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub(crate) fn finish(&self) -> Fingerprint {
        let mut short = [0; 16];
        short.copy_from_slice(&self.0.finalize().as_bytes()[..16]);
        Fingerprint(short)
    }
}

impl Fingerprint {
    /// Writes it into a change.
    pub(crate) fn record(self, change: &mut Change) {
        change.extensions.set_text(NAME, &base64::encode(&self.0));
    }

    /// Whether a change was asked for by another request than this; `false` where it does not tell.
    pub(crate) fn contradicts(self, change: &Change) -> bool {
        let recorded = change.extensions.text(NAME).and_then(|text| base64::decode(&text));
        recorded.is_some_and(|recorded| recorded != self.0)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::graph::ChangeOptions;
    use crate::ids::ChangeId;
    use crate::publish::NewChange;
    use crate::record::ChangeKind;

    #[test]
    fn parts_do_not_run_into_each_other() {
        let of = |parts: &[&[u8]]| parts.iter().fold(Fingerprinter::new("x"), |print, part| print.with(part)).finish();
        assert_eq!(of(&[b"a", b"b"]), of(&[b"a", b"b"]));
        assert_ne!(of(&[b"a", b"b"]), of(&[b"ab"]));
        assert_ne!(of(&[b"ab", b""]), of(&[b"", b"ab"]));
        assert_ne!(Fingerprinter::new("x").finish(), Fingerprinter::new("y").finish());
    }

    #[test]
    fn a_change_tells_whether_another_request_made_it() {
        let id = ChangeId::from_bytes([3; 16]);
        let mut change =
            NewChange { id, kind: ChangeKind::Write, counts: BTreeMap::new() }.recorded(&ChangeOptions::default());
        let (ours, other) = (Fingerprinter::new("x").finish(), Fingerprinter::new("y").finish());
        assert!(!ours.contradicts(&change), "an older version made it");
        ours.record(&mut change);
        assert!(!ours.contradicts(&change) && other.contradicts(&change));
        let text = serde_json::to_string(&change).unwrap();
        let again: Change = serde_json::from_str(&text).unwrap();
        assert!(again == change && other.contradicts(&again), "{text}");
    }
}
