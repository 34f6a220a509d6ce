//! Lineages against a plain map, whatever is folded when.

use std::collections::BTreeMap;

use bytes::Bytes;
use proptest::prelude::*;

use super::*;

fn entry(incarnation: u64, seq: u64) -> Entry {
    let bytes = u128::from(incarnation).to_be_bytes();
    Entry {
        incarnation: IncarnationId::from_bytes(bytes),
        seq: Seq(seq),
        commit: CommitId::from_bytes(((u128::from(incarnation) << 64) | u128::from(seq)).to_be_bytes()),
        log: BranchName::parse(&format!("Branch-{incarnation}")).unwrap(),
    }
}

/// Chunk objects as a store would hold them.
#[derive(Default)]
struct Objects(BTreeMap<ChunkHash, Bytes>);

impl Objects {
    fn read(&self, hashes: impl IntoIterator<Item = ChunkHash>) -> BTreeMap<ChunkHash, Chunk> {
        hashes.into_iter().map(|hash| (hash, Chunk::decode(hash, &self.0[&hash]).unwrap())).collect()
    }

    fn fold(&mut self, lineage: &Lineage) -> Lineage {
        let read = self.read(lineage.to_unite().unwrap_or_default());
        let folded = lineage.fold(&read).unwrap();
        self.0.extend(folded.chunk);
        assert!(folded.lineage.chunks.len() <= MAX_CHUNKS && folded.lineage.recent.len() <= MAX_INLINE);
        folded.lineage
    }

    fn contents(&self, lineage: &Lineage) -> Contents {
        lineage.contents(&self.read(lineage.chunks().iter().map(|chunk| chunk.hash))).unwrap()
    }
}

#[derive(Debug, Clone)]
enum Step {
    Add { side: bool, incarnation: u64, seq: u64 },
    Merge { into: bool },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let add = (any::<bool>(), 0_u64..700, 0_u64..50).prop_map(|(side, incarnation, seq)| Step::Add {
        side,
        incarnation,
        seq,
    });
    prop::collection::vec(prop_oneof![30 => add, 1 => any::<bool>().prop_map(|into| Step::Merge { into })], 0..1200)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn two_lineages_that_take_each_other_in_never_forget(steps in steps()) {
        let mut objects = Objects::default();
        let mut lineages = [Lineage::default(), Lineage::default()];
        let mut models = [BTreeMap::<u64, u64>::new(), BTreeMap::new()];
        for step in steps {
            match step {
                Step::Add { side, incarnation, seq } => {
                    let side = usize::from(side);
                    lineages[side] = objects.fold(&lineages[side].clone().with(entry(incarnation, seq)));
                    let known = models[side].entry(incarnation).or_default();
                    *known = seq.max(*known);
                }
                Step::Merge { into } => {
                    let (into, from) = (usize::from(into), usize::from(!into));
                    lineages[into] = objects.fold(&lineages[into].clone().union(&lineages[from]));
                    for (incarnation, seq) in models[from].clone() {
                        let known = models[into].entry(incarnation).or_default();
                        *known = seq.max(*known);
                    }
                }
            }
        }
        for (lineage, model) in lineages.iter().zip(&models) {
            let expected: Contents = model.iter().map(|(i, s)| (entry(*i, *s).incarnation, entry(*i, *s))).collect();
            prop_assert_eq!(&objects.contents(lineage), &expected);
        }
        let both = common(&objects.contents(&lineages[0]), &objects.contents(&lineages[1]));
        for (incarnation, seq) in &models[0] {
            let expected = models[1].get(incarnation).map(|other| (*seq).min(*other));
            prop_assert_eq!(both.get(&entry(*incarnation, 0).incarnation).map(|e| e.seq.0), expected);
        }
    }

    #[test]
    fn chunks_survive(incarnations in prop::collection::btree_map(any::<u64>(), 0..u64::MAX, 0..50)) {
        let chunk = Chunk::of(incarnations.into_iter().map(|(i, s)| entry(i, s)).collect());
        let (hash, bytes) = chunk.encode();
        prop_assert_eq!(Chunk::decode(hash, &bytes), Ok(chunk));
        let mut damaged = bytes.to_vec();
        damaged[0] ^= 1;
        prop_assert_eq!(Chunk::decode(hash, &damaged), Err(InvalidChunk::Damaged { hash }));
    }
}

#[test]
fn ten_thousand_merges_write_a_few_bytes_each() {
    let mut objects = Objects::default();
    let mut lineage = Lineage::default();
    let mut written = 0;
    for incarnation in 0..10_000 {
        let read = objects.read(lineage.clone().with(entry(incarnation, 1)).to_unite().unwrap_or_default());
        let folded = lineage.with(entry(incarnation, 1)).fold(&read).unwrap();
        written += folded.chunk.as_ref().map_or(0, |(_, bytes)| bytes.len());
        objects.0.extend(folded.chunk);
        lineage = folded.lineage;
    }
    assert_eq!(objects.contents(&lineage).len(), 10_000);
    // An entry takes 44 bytes; it is written once for each doubling of what it lies with.
    assert!(written / 10_000 < 44 * 9, "{} bytes a merge", written / 10_000);
}

#[test]
fn a_lineage_within_its_bounds_is_left_alone() {
    let lineage = (0..MAX_INLINE as u64).fold(Lineage::default(), |lineage, i| lineage.with(entry(i, i)));
    assert_eq!(lineage.to_unite(), None);
    let folded = lineage.fold(&BTreeMap::new()).unwrap();
    assert_eq!((folded.lineage, folded.chunk), (lineage.clone(), None));
    assert_eq!(lineage.with(entry(1000, 0)).to_unite(), Some(Vec::new()), "the 65th entry makes the first chunk");
}

#[test]
fn the_bytes_of_a_chunk_are_fixed() {
    let (hash, bytes) = Chunk::of(vec![entry(1, 300)]).encode();
    let mut expected = vec![1, 1];
    expected.extend_from_slice(&1_u128.to_be_bytes());
    expected.extend_from_slice(&[0xac, 0x02]);
    expected.extend_from_slice(&((1_u128 << 64) | 0x12c).to_be_bytes());
    expected.extend_from_slice(b"\x08Branch-1");
    assert_eq!(bytes, expected);
    assert_eq!(Chunk::decode(hash, &expected).unwrap().entries(), [entry(1, 300)]);
}

#[test]
fn a_chunk_of_another_format_is_named_and_one_that_nothing_could_follow_refused() {
    let decode = |bytes: &[u8]| {
        let hash = ChunkHash::of(bytes);
        (hash, Chunk::decode(hash, bytes))
    };
    let (hash, newer) = decode(b"\x02novel");
    assert_eq!(newer, Err(InvalidChunk::Format { hash, found: 2 }));
    let (_, bytes) = Chunk::of(vec![entry(1, u64::MAX)]).encode();
    for bytes in [&bytes[..], b""] {
        let (hash, damaged) = decode(bytes);
        assert_eq!(damaged, Err(InvalidChunk::Damaged { hash }));
    }
    let (_, last) = Chunk::of(vec![entry(1, u64::MAX - 1)]).encode();
    assert!(decode(&last).1.is_ok());
}

#[test]
fn a_chunk_that_was_not_read_is_missed_and_not_taken_for_empty() {
    let mut objects = Objects::default();
    let full = (0..=MAX_INLINE as u64).fold(Lineage::default(), |lineage, i| lineage.with(entry(i, i)));
    let folded = objects.fold(&full);
    let hash = folded.chunks()[0].hash;
    assert_eq!(folded.contents(&BTreeMap::new()), Err(MissingChunk { hash }));
    let outgrown = (100..200).fold(folded, |lineage, i| lineage.with(entry(i, i)));
    assert_eq!(outgrown.fold(&BTreeMap::new()), Err(MissingChunk { hash }));
}
