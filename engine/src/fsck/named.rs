//! Checks the objects that records name besides tables: schemas, lineage chunks, changes that were too long for their record.
//!
//! Whatever is missing or damaged is told once, by its path, with what can be done about it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bytes::Bytes;
use object_store::path::Path;
use sha2::{Digest as _, Sha256};

use crate::branch::Catalogs;
use crate::error::Error;
use crate::fsck::problems::{Problems, with_causes};
use crate::graph::Core;
use crate::publish::{changes_path, chunk_path};
use crate::record::lineage::{Chunk, ChunkHash};
use crate::record::{Change, Record, Spill};
use crate::schema::{Catalog, SchemaHash, decode_catalog};
use crate::table::Layout;
use crate::write::shape::Shapes;

/// The objects that were looked at; each is read once, however many records name it.
pub(super) struct Named<'a> {
    core: &'a Arc<Core>,
    schemas: BTreeMap<[u8; 32], Option<Schema>>,
    chunks: BTreeSet<ChunkHash>,
}

/// A schema that can be used.
#[derive(Clone)]
pub(super) struct Schema {
    pub(super) catalog: Arc<Catalog>,
    pub(super) shapes: Arc<Shapes>,
}

/// What the objects of one record hold, as far as they could be read.
pub(super) struct Found {
    pub(super) schema: Option<Schema>,
    /// Those that do not stand in the record itself.
    pub(super) changes: Vec<Change>,
}

/// An object that is not there, or not what its name promises.
struct Fault<'a> {
    code: &'static str,
    path: &'a Path,
    what: String,
    /// What cannot be done as long as it is so.
    until: &'static str,
}

impl Fault<'_> {
    fn missing<'a>(path: &'a Path, until: &'static str) -> Fault<'a> {
        Fault { code: "missing-file", path, what: "is missing".to_owned(), until }
    }

    fn tell(self, place: &str, problems: &mut Problems) {
        let Self { code, path, what, until } = self;
        // Nothing else holds what was in it, so that there is no other way.
        let detail = format!("{path} {what}: put it back from a copy of the store; until then {until}");
        problems.add(code, place, detail);
    }
}

impl<'a> Named<'a> {
    pub(super) fn new(core: &'a Arc<Core>) -> Self {
        Self { core, schemas: BTreeMap::new(), chunks: BTreeSet::new() }
    }

    /// Checks the objects a record names.
    pub(super) async fn check(
        &mut self,
        record: &Record,
        place: &str,
        problems: &mut Problems,
    ) -> Result<Found, Error> {
        for chunk in record.lineage.chunks() {
            self.chunk(chunk.hash, place, problems).await?;
        }
        let changes = match &record.spill {
            Some(spill) => self.changes(spill, place, problems).await?,
            None => Vec::new(),
        };
        let schema = self.schema(record.schema, place, problems).await?;
        Ok(Found { schema, changes })
    }

    async fn schema(
        &mut self,
        hash: SchemaHash,
        place: &str,
        problems: &mut Problems,
    ) -> Result<Option<Schema>, Error> {
        const UNTIL: &str = "no commit with this schema can be read";
        if let Some(known) = self.schemas.get(&hash.0) {
            return Ok(known.clone());
        }
        let path = &Catalogs::path(hash);
        let damaged = |what| Fault { code: "schema-damaged", path, what, until: UNTIL };
        let schema = match self.read(path).await? {
            None => Err(Fault::missing(path, UNTIL)),
            Some(bytes) if <[u8; 32]>::from(Sha256::digest(&bytes)) != hash.0 => {
                Err(damaged("does not have the hash that is its name".to_owned()))
            }
            Some(bytes) => usable(&bytes).map_err(|reason| damaged(format!("cannot be used ({reason})"))),
        };
        let schema = schema.map_err(|fault| fault.tell(place, problems)).ok();
        self.schemas.insert(hash.0, schema.clone());
        Ok(schema)
    }

    async fn chunk(&mut self, hash: ChunkHash, place: &str, problems: &mut Problems) -> Result<(), Error> {
        const UNTIL: &str = "what this commit contains cannot be told, and creating a branch from it may fail";
        if !self.chunks.insert(hash) {
            return Ok(());
        }
        let path = &chunk_path(hash);
        match self.read(path).await?.map(|bytes| Chunk::decode(hash, &bytes)) {
            None => Fault::missing(path, UNTIL).tell(place, problems),
            Some(Ok(_)) => {}
            Some(Err(error)) => {
                let what = format!("cannot be read ({})", with_causes(&error));
                Fault { code: "lineage-damaged", path, what, until: UNTIL }.tell(place, problems);
            }
        }
        Ok(())
    }

    async fn changes(&self, spill: &Spill, place: &str, problems: &mut Problems) -> Result<Vec<Change>, Error> {
        const UNTIL: &str = "who made this commit, and why, cannot be told, though its rows can be read";
        let path = &changes_path(spill.object);
        let damaged = |what| Fault { code: "changes-damaged", path, what, until: UNTIL };
        let fault = match self.read(path).await?.map(|bytes| Record::decode_spilled(&bytes, place)) {
            None => Fault::missing(path, UNTIL),
            Some(Err(error)) => damaged(format!("cannot be read ({})", with_causes(&error))),
            Some(Ok(changes)) if changes.len() != spill.changes as usize => {
                damaged(format!("has {} changes, not {}", changes.len(), spill.changes))
            }
            Some(Ok(changes)) => return Ok(changes),
        };
        fault.tell(place, problems);
        Ok(Vec::new())
    }

    async fn read(&self, path: &Path) -> Result<Option<Bytes>, Error> {
        Ok(self.core.store().read(path).await?)
    }
}

/// A stored schema, decoded and compiled; else what is wrong with it, in words.
fn usable(bytes: &[u8]) -> Result<Schema, String> {
    let catalog = decode_catalog(bytes).map_err(|error| with_causes(&error))?;
    let shapes = Shapes::new(&catalog, |table| Layout::new(&catalog, table)).map_err(|error| with_causes(&error))?;
    Ok(Schema { catalog: Arc::new(catalog), shapes: Arc::new(shapes) })
}
