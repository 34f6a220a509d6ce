//! The requests whose effect is in a branch log: at most the last 4,096, each as twelve bytes of its hash with where it landed,
//! and how far back they are complete.

use std::collections::VecDeque;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use super::base64;
use crate::ids::Seq;

/// How many requests a log remembers at most; a graph of very many tables remembers fewer, and another version may remember
/// more.
const CAPACITY: usize = 4096;

/// How many requests a log has room for, however many tables there are.
pub(super) const ENSURED: usize = 512;

/// The fewest characters that one request takes in a record.
const LEAST_TEXT: usize = 18;

/// Ninety-six bits of a request id's hash: enough that two ids never meet among 4,096, short enough for a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RequestHash([u8; 12]);

impl RequestHash {
    /// The hash of a request id.
    #[must_use]
    pub fn of(request_id: &str) -> Self {
        let digest = blake3::derive_key("pleach request id v1", request_id.as_bytes());
        let mut short = [0; 12];
        short.copy_from_slice(&digest[..12]);
        Self(short)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Landed {
    request: RequestHash,
    seq: Seq,
    change: u32,
}

/// Remembers the last requests of one log. It outlives the branch's incarnations: a deletion asked for twice must not delete
/// the branch that was created in between.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RequestRing {
    landed: VecDeque<Landed>,
    /// The position of the last request that was forgotten.
    forgotten: Option<Seq>,
}

impl RequestRing {
    /// Whether no request was ever remembered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.landed.is_empty() && self.forgotten.is_none()
    }

    /// How many requests are remembered.
    #[must_use]
    pub fn len(&self) -> usize {
        self.landed.len()
    }

    /// Remembers that `request` is change number `change` of the commit at `seq`, and forgets the oldest beyond 4,096.
    pub fn push(&mut self, request: RequestHash, seq: Seq, change: u32) {
        self.landed.push_back(Landed { request, seq, change });
        self.forget(self.landed.len().saturating_sub(CAPACITY));
    }

    /// Forgets so many of the oldest requests that at least `bytes` of a record become free, and an eighth of the rest as
    /// long as [`ENSURED`] stay, so that the next records fit without more ado. Those of `current`, the commit that is being
    /// made, are kept. Tells whether there was anything to forget.
    pub(super) fn make_room(&mut self, bytes: usize, current: Seq) -> bool {
        let old = self.landed.partition_point(|landed| landed.seq < current);
        let needed = bytes.div_ceil(LEAST_TEXT).min(old);
        let rest = self.landed.len() - needed;
        let more = (rest / 8).min(rest.saturating_sub(ENSURED)).min(old - needed);
        self.forget(needed + more);
        old > 0
    }

    fn forget(&mut self, count: usize) {
        if let Some(last) = self.landed.drain(..count.min(self.landed.len())).next_back() {
            self.forgotten = Some(last.seq);
        }
    }

    /// The latest position that is mentioned.
    pub(super) fn latest(&self) -> Option<Seq> {
        self.landed.back().map(|landed| landed.seq).max(self.forgotten)
    }

    /// Where a request landed: the commit's position and the number of the change in it.
    #[must_use]
    pub fn find(&self, request: RequestHash) -> Option<(Seq, u32)> {
        self.landed.iter().rev().find(|landed| landed.request == request).map(|landed| (landed.seq, landed.change))
    }

    /// Every request of later positions is still remembered; `None` while nothing was ever forgotten.
    #[must_use]
    pub const fn complete_after(&self) -> Option<Seq> {
        self.forgotten
    }

    /// First 0 if nothing was ever forgotten, else one more than the position after which the ring is complete. Then per
    /// request: its hash, how far its position is from the one before (the first: from that mark), and its change number. All
    /// but the hash are variable-length integers.
    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.landed.len() * 14 + 16);
        put_varint(&mut bytes, self.forgotten.map_or(0, |seq| seq.next().0));
        let mut before = self.forgotten.map_or(0, |seq| seq.0);
        for landed in &self.landed {
            bytes.extend_from_slice(&landed.request.0);
            put_varint(&mut bytes, landed.seq.0.saturating_sub(before));
            put_varint(&mut bytes, u64::from(landed.change));
            before = landed.seq.0;
        }
        bytes
    }

    fn from_bytes(mut bytes: &[u8]) -> Option<Self> {
        let forgotten = take_varint(&mut bytes)?.checked_sub(1);
        let mut ring = Self { landed: VecDeque::new(), forgotten: forgotten.map(Seq) };
        let mut seq = forgotten.unwrap_or(0);
        while let Some((hash, rest)) = bytes.split_first_chunk::<12>() {
            bytes = rest;
            seq = seq.checked_add(take_varint(&mut bytes)?).filter(|seq| *seq < u64::MAX)?;
            let change = u32::try_from(take_varint(&mut bytes)?).ok()?;
            ring.landed.push_back(Landed { request: RequestHash(*hash), seq: Seq(seq), change });
        }
        bytes.is_empty().then_some(ring)
    }
}

impl Serialize for RequestRing {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&base64::encode(&self.to_bytes()))
    }
}

impl<'de> Deserialize<'de> for RequestRing {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        base64::decode(&text)
            .and_then(|bytes| Self::from_bytes(&bytes))
            .ok_or_else(|| D::Error::custom("the list of request ids is damaged"))
    }
}

/// Appends `value`, seven bits a byte, the lowest first, the highest bit set on all bytes but the last.
pub(super) fn put_varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    bytes.push((value & 0x7f) as u8);
}

/// Takes what [`put_varint`] appended off the front of `bytes`; `None` for anything else.
pub(super) fn take_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let bits = u64::from(byte & 0x7f);
        if shift == 63 && bits > 1 {
            return None;
        }
        value |= bits << shift;
        if byte & 0x80 == 0 {
            // A padded spelling would give one value two.
            return (*byte != 0 || shift == 0).then_some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_oldest_request_is_forgotten_and_the_newest_kept() {
        let mut ring = RequestRing::default();
        for number in 0..4097_u64 {
            assert_eq!(ring.complete_after(), None);
            ring.push(RequestHash::of(&number.to_string()), Seq(number), 3);
        }
        assert_eq!(ring.find(RequestHash::of("0")), None);
        assert_eq!(ring.find(RequestHash::of("1")), Some((Seq(1), 3)));
        assert_eq!(ring.find(RequestHash::of("4096")), Some((Seq(4096), 3)));
        assert_eq!(ring.complete_after(), Some(Seq(0)));
    }

    #[test]
    fn the_bytes_of_a_ring_are_fixed() {
        let mut ring = RequestRing { landed: VecDeque::new(), forgotten: Some(Seq(299)) };
        ring.landed.push_back(Landed { request: RequestHash([1; 12]), seq: Seq(299), change: 1 });
        ring.landed.push_back(Landed { request: RequestHash([2; 12]), seq: Seq(600), change: 0 });
        let mut expected = vec![0xac, 0x02];
        expected.extend_from_slice(&[1; 12]);
        expected.extend_from_slice(&[0, 1]);
        expected.extend_from_slice(&[2; 12]);
        expected.extend_from_slice(&[0xad, 0x02, 0]);
        assert_eq!(ring.to_bytes(), expected);
        assert_eq!(RequestRing::from_bytes(&expected), Some(ring));
        let hash = RequestHash::of("r-1").0.map(|byte| format!("{byte:02x}")).concat();
        assert_eq!(hash, "96d01f96ac0c430de50b65b2");
    }

    #[test]
    fn a_ring_of_another_capacity_is_read_and_says_how_far_it_is_complete() {
        let mut longer = RequestRing::default();
        for number in 0..5000_u64 {
            longer.landed.push_back(Landed { request: RequestHash([0; 12]), seq: Seq(number), change: 0 });
        }
        let shorter = RequestRing { landed: VecDeque::new(), forgotten: Some(Seq(7)) };
        for ring in [longer.clone(), shorter.clone()] {
            let text = serde_json::to_string(&ring).unwrap();
            assert_eq!(serde_json::from_str::<RequestRing>(&text).unwrap(), ring);
        }
        assert!(!shorter.is_empty(), "or the mark would not be stored");
        assert_eq!((shorter.complete_after(), longer.complete_after()), (Some(Seq(7)), None));
        longer.push(RequestHash([1; 12]), Seq(5000), 0);
        assert_eq!((longer.len(), longer.complete_after()), (4096, Some(Seq(904))));
    }

    #[test]
    fn room_is_made_at_the_old_end_and_never_of_the_commit_being_made() {
        let mut ring = RequestRing::default();
        for number in 0..1000_u64 {
            ring.push(RequestHash::of(&number.to_string()), Seq(number), 0);
        }
        let before = serde_json::to_string(&ring).unwrap().len();
        assert!(ring.make_room(1000, Seq(999)));
        assert!(serde_json::to_string(&ring).unwrap().len() <= before - 1000);
        assert_eq!(
            (ring.len(), ring.complete_after()),
            (826, Some(Seq(173))),
            "56 had to go, and an eighth of 944 went"
        );
        assert!(ring.make_room(1, Seq(999)) && ring.make_room(1, Seq(999)) && ring.make_room(1, Seq(999)));
        assert!(ring.make_room(1, Seq(999)) && ring.make_room(1, Seq(999)));
        assert_eq!(ring.len(), 511, "beyond what is ensured, only what had to go went");
        assert!(ring.make_room(1_000_000, Seq(999)));
        assert_eq!((ring.len(), ring.find(RequestHash::of("999"))), (1, Some((Seq(999), 0))));
        assert!(!ring.make_room(1, Seq(999)));
    }

    #[test]
    fn a_full_ring_takes_less_than_80_kib_of_a_record() {
        let mut ring = RequestRing::default();
        for number in 0..4096_u64 {
            ring.push(RequestHash::of(&number.to_string()), Seq(u64::MAX / 2 + number * 100), 255);
        }
        let text = serde_json::to_string(&ring).unwrap();
        assert!(text.len() < 84 * 1024, "{}", text.len());
        assert_eq!(serde_json::from_str::<RequestRing>(&text).unwrap(), ring);
    }

    #[test]
    fn a_damaged_ring_is_refused() {
        let entry = |mark: &[u8], tail: &[u8]| base64::encode(&[mark, &[0; 12], tail].concat());
        let last = &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1];
        let last_but_one = &[0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0];
        assert!(RequestRing::from_bytes(&base64::decode(&entry(&[0], last_but_one)).unwrap()).is_some());
        for text in [
            String::new(),
            "AAAA".to_owned(),
            "!".to_owned(),
            entry(&[0], &[0x80, 0x80]),
            entry(&[0], &[&last[..], &[0]].concat()),
            entry(last, &[1, 0]),
        ] {
            assert!(serde_json::from_str::<RequestRing>(&format!("\"{text}\"")).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn varints_survive(value: u64, tail: Vec<u8>) {
            let mut bytes = Vec::new();
            put_varint(&mut bytes, value);
            bytes.extend_from_slice(&tail);
            let mut rest = bytes.as_slice();
            prop_assert_eq!(take_varint(&mut rest), Some(value));
            prop_assert_eq!(rest, tail.as_slice());
        }

        #[test]
        fn rings_survive(steps: Vec<(u32, u32)>, forgotten in proptest::option::of(0_u64..9)) {
            let mut ring = RequestRing { landed: VecDeque::new(), forgotten: forgotten.map(Seq) };
            let mut seq = 9;
            for (number, (step, change)) in steps.iter().enumerate() {
                seq += u64::from(*step);
                ring.push(RequestHash::of(&number.to_string()), Seq(seq), *change);
            }
            let text = serde_json::to_string(&ring).unwrap();
            prop_assert_eq!(serde_json::from_str::<RequestRing>(&text).unwrap(), ring);
        }
    }
}
