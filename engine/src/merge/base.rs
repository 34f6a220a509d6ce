//! Merge bases: of all that both heads contain, the commits that no other of them contains.
//!
//! History is not walked. Both lineages tell what is contained; the latest common commit is a base, since commit ids rise from what is
//! contained to what contains it; its own lineage tells which of the others it covers; and so on with what is left. That costs one
//! record for each base, however many commits are common. A chunk that both lineages share is common as a whole: it is only read
//! if no base found so far has it as well.
//!
//! The order of ids only saves reads: whatever it is, what another base contains is sorted out at the end.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::error::Error;
use crate::graph::Core;
use crate::ids::CommitId;
use crate::record::lineage::{Chunk, ChunkHash, Contents, Entry, common, raise_all};
use crate::record::{Lineage, Parent, Record};

/// What a search for bases reads.
pub(super) trait Ancestry: Sync {
    /// The record of a commit.
    fn record(&self, commit: &Entry) -> impl Future<Output = Result<Arc<Record>, Error>> + Send;

    /// Chunks of lineages.
    fn chunks(&self, hashes: Vec<ChunkHash>) -> impl Future<Output = Result<BTreeMap<ChunkHash, Chunk>, Error>> + Send;
}

impl Ancestry for Arc<Core> {
    async fn record(&self, commit: &Entry) -> Result<Arc<Record>, Error> {
        let Entry { incarnation, seq, commit, log } = commit.clone();
        self.authorities().parent(&Parent { log, incarnation, seq, commit }).await
    }

    async fn chunks(&self, hashes: Vec<ChunkHash>) -> Result<BTreeMap<ChunkHash, Chunk>, Error> {
        self.read_chunks(hashes).await
    }
}

/// The merge bases of two commits, the latest first. Where one contains the other, that is the only one.
pub(super) async fn bases(
    ancestry: &impl Ancestry,
    one: &Arc<Record>,
    other: &Arc<Record>,
) -> Result<Vec<Arc<Record>>, Error> {
    bases_between(ancestry, std::slice::from_ref(one), std::slice::from_ref(other)).await
}

/// The merge bases of what some commits contain together and what others do, the latest first.
pub(super) async fn bases_between(
    ancestry: &impl Ancestry,
    ones: &[Arc<Record>],
    others: &[Arc<Record>],
) -> Result<Vec<Arc<Record>>, Error> {
    let contained =
        |heads: &[Arc<Record>]| heads.iter().fold(Lineage::default(), |all, head| all.union(&head.contained()));
    let mut search = Search::begin(ancestry, &contained(ones), &contained(others)).await?;
    let mut found: Vec<Base> = Vec::new();
    while let Some(latest) = search.next(ancestry, &found).await? {
        let at_hand = ones.iter().chain(others).find(|head| head.commit == latest.commit);
        let record = match at_hand {
            Some(head) => head.clone(),
            None => ancestry.record(&latest).await?,
        };
        let mut base = Base::new(record);
        search.cover(ancestry, &mut base).await?;
        found.push(base);
    }
    maximal(ancestry, found).await
}

/// A commit with what it contains.
struct Base {
    record: Arc<Record>,
    lineage: Lineage,
    /// The entries that stand in the record, and those of the chunks once they were read.
    contents: Contents,
    chunks_read: bool,
}

impl Base {
    fn new(record: Arc<Record>) -> Self {
        let lineage = record.contained();
        let mut contents = Contents::new();
        raise_all(&mut contents, lineage.recent());
        Self { record, lineage, contents, chunks_read: false }
    }

    fn has_chunk(&self, hash: ChunkHash) -> bool {
        self.lineage.chunks().iter().any(|chunk| chunk.hash == hash)
    }

    /// Whether it contains a commit, as far as is known.
    fn covers(&self, entry: &Entry) -> bool {
        self.contents.get(&entry.incarnation).is_some_and(|known| known.seq >= entry.seq)
    }

    async fn read_chunks(&mut self, ancestry: &impl Ancestry) -> Result<(), Error> {
        if !std::mem::replace(&mut self.chunks_read, true) {
            let hashes = self.lineage.chunks().iter().map(|chunk| chunk.hash).collect();
            for chunk in ancestry.chunks(hashes).await?.values() {
                raise_all(&mut self.contents, chunk.entries());
            }
        }
        Ok(())
    }
}

/// The common commits that no base covers so far.
struct Search {
    open: BTreeMap<CommitId, Entry>,
    /// Chunks of which all is common, unread.
    shared: BTreeSet<ChunkHash>,
}

impl Search {
    async fn begin(ancestry: &impl Ancestry, one: &Lineage, other: &Lineage) -> Result<Self, Error> {
        let hashes = |lineage: &Lineage| lineage.chunks().iter().map(|chunk| chunk.hash).collect::<BTreeSet<_>>();
        let (of_one, of_other) = (hashes(one), hashes(other));
        let apart = of_one.symmetric_difference(&of_other).copied().collect();
        let read = ancestry.chunks(apart).await?;
        // Besides what lies in shared chunks. Where only one side tells more of an incarnation than a shared chunk does, the lower of
        // both is in the chunk.
        let entries = |lineage: &Lineage| {
            let mut entries = Contents::new();
            for chunk in lineage.chunks().iter().filter_map(|chunk| read.get(&chunk.hash)) {
                raise_all(&mut entries, chunk.entries());
            }
            raise_all(&mut entries, lineage.recent());
            entries
        };
        let open = common(&entries(one), &entries(other)).into_values().map(|entry| (entry.commit, entry)).collect();
        Ok(Self { open, shared: of_one.intersection(&of_other).copied().collect() })
    }

    /// The latest common commit that is not covered by those in `found`.
    async fn next(&mut self, ancestry: &impl Ancestry, found: &[Base]) -> Result<Option<Entry>, Error> {
        if self.open.is_empty() && !self.shared.is_empty() {
            let read = ancestry.chunks(std::mem::take(&mut self.shared).into_iter().collect()).await?;
            let mut entries: Vec<Entry> = read.values().flat_map(|chunk| chunk.entries().iter().cloned()).collect();
            for base in found {
                entries.retain(|entry| !base.covers(entry));
            }
            self.open.extend(entries.into_iter().map(|entry| (entry.commit, entry)));
        }
        Ok(self.open.pop_last().map(|(_, latest)| latest))
    }

    /// Takes away what `base` contains.
    async fn cover(&mut self, ancestry: &impl Ancestry, base: &mut Base) -> Result<(), Error> {
        self.shared.retain(|hash| !base.has_chunk(*hash));
        self.open.retain(|_, entry| !base.covers(entry));
        if !(self.open.is_empty() && self.shared.is_empty()) {
            base.read_chunks(ancestry).await?;
            self.open.retain(|_, entry| !base.covers(entry));
        }
        Ok(())
    }
}

/// Those that no other contains.
async fn maximal(ancestry: &impl Ancestry, mut found: Vec<Base>) -> Result<Vec<Arc<Record>>, Error> {
    if found.len() > 1 {
        for base in &mut found {
            base.read_chunks(ancestry).await?;
        }
    }
    let contained = |base: &Base| {
        let Some(own) = base.lineage.recent().iter().find(|entry| entry.commit == base.record.commit) else {
            return false;
        };
        found.iter().any(|other| other.record.commit != base.record.commit && other.covers(own))
    };
    Ok(found.iter().filter(|base| !contained(base)).map(|base| base.record.clone()).collect())
}
