//! Making a graph.
//!
//! Order of effects: probe the store · stage the tables, the catalog · barrier · put `graph.json` if absent, the commit
//! point · put the first record of `main`.
//!
//! What a crash leaves behind: before the commit point, tables and a catalog that nothing names, over which a graph can be
//! made; after it, a graph whose first record is written by whoever first finds that log empty.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::future::try_join_all;
use object_store::path::Path;

use super::file::{GRAPH_FILE, GraphFile, Probed};
use super::{Core, Graph, GraphBuilder, GraphError};
use crate::branch::{BRANCHES, BranchName, Catalogs};
use crate::clock::Clock;
use crate::error::Error;
use crate::ids::{ChangeId, GraphId, IncarnationId, Seq};
use crate::log::Appended;
use crate::publish::Stamp;
use crate::record::{Change, ChangeKind, Extensions, FORMAT, Lineage, Record, RequestRing, check_room};
use crate::schema::{Catalog, SchemaError, SchemaHash, encode_catalog, parse_ddl};
use crate::store::{Created, ProbeOptions, Store, StoreKind, probe};
use crate::table::{Layout, StagedVersion, Tables};

/// The folder of tags: logs like those of branches.
const TAGS: &str = "tags";

/// How [`Graph::init`] makes a graph.
#[derive(Debug, Clone, Default)]
pub struct InitOptions {
    /// Who makes it.
    pub author: String,
    /// Goes on although the store failed the probe.
    pub allow_unsafe_store: bool,
}

impl GraphBuilder {
    /// Makes a graph over a given store.
    ///
    /// # Errors
    /// When there is a graph or what is left of one, when the schema is wrong, or when the store is unsafe.
    pub async fn init_on(&self, store: Store, ddl: &str, options: InitOptions) -> Result<Graph, Error> {
        let catalog = parse_ddl(ddl, self.clock())?;
        if catalog.tables.is_empty() {
            return Err(SchemaError::Empty.into());
        }
        self.found(store, catalog, options).await
    }

    /// Makes a graph with the tables of `catalog`.
    pub(crate) async fn found(&self, store: Store, catalog: Catalog, options: InitOptions) -> Result<Graph, Error> {
        let clock = self.clock();
        check_room(catalog.tables.len())?;
        refuse_leftovers(&store).await?;
        let probed = try_out(&store, options.allow_unsafe_store).await?;
        let tables = Tables::new(&store);
        let (staged, hash) = stage(&store, &tables, &catalog).await?;
        let genesis = first_record(clock, GraphId::new(clock.ulid()), hash, &staged, &options.author);
        let file = GraphFile::new(probed, &genesis)?;
        let uri = || store.uri().to_owned();
        match store.create(&Path::from(GRAPH_FILE), &file.encode()?).await? {
            Created::Ours => {}
            Created::Theirs(_) => return Err(GraphError::Exists { uri: uri() }.into()),
            Created::Unknown(source) => return Err(GraphError::OutcomeUnknown { uri: uri(), source }.into()),
        }
        let core = Core::new(store, clock.clone(), file, None, self.settings().clone());
        begin_main(&core, genesis, catalog).await?;
        Ok(Graph::over(Arc::new(core)))
    }
}

/// Refuses a place where records of a graph are, whether or not it has its root.
async fn refuse_leftovers(store: &Store) -> Result<(), Error> {
    let uri = store.uri().to_owned();
    let [root, branches, tags] = [GRAPH_FILE, BRANCHES, TAGS].map(Path::from);
    let (root, mut found, tagged) =
        futures::try_join!(store.read(&root), store.first_keys(&branches, 3), store.first_keys(&tags, 3),)?;
    if root.is_some() {
        return Err(GraphError::Exists { uri }.into());
    }
    found.extend(tagged);
    if found.is_empty() {
        return Ok(());
    }
    Err(GraphError::Leftovers { uri, leftovers: found.iter().map(ToString::to_string).collect() }.into())
}

/// Finds out whether the store keeps its promises. Memory and local folders do so by construction.
async fn try_out(store: &Store, allow_unsafe: bool) -> Result<Option<Probed>, Error> {
    if store.kind() != StoreKind::S3 {
        return Ok(None);
    }
    let report = probe(store, ProbeOptions::short()).await?;
    if !report.safe && !allow_unsafe {
        let broken = report.broken().map(|check| check.promise.to_owned()).collect();
        return Err(GraphError::UnsafeStore { uri: store.uri().to_owned(), broken }.into());
    }
    Ok(Some(Probed::of(&report)))
}

/// Stages an empty version of every table and the catalog, side by side, and waits until all are durable.
async fn stage(store: &Store, tables: &Tables, catalog: &Catalog) -> Result<(Vec<StagedVersion>, SchemaHash), Error> {
    let (bytes, hash) = encode_catalog(catalog);
    let path = Catalogs::path(hash);
    store.staging().put(&path, bytes.into());
    let created = catalog.tables.iter().map(|table| {
        let layout = Layout::new(catalog, table);
        async move { tables.create(&layout).await }
    });
    let staged = try_join_all(created).await?;
    let files: Vec<Path> = staged.iter().flat_map(|staged| staged.files.iter().cloned()).chain([path]).collect();
    let durable = store.staging().barrier(&files).await;
    store.staging().release(&files);
    durable?;
    Ok((staged, hash))
}

fn first_record(clock: &Clock, graph: GraphId, schema: SchemaHash, staged: &[StagedVersion], author: &str) -> Record {
    let stamp = Stamp::after(clock, None);
    Record {
        format: FORMAT,
        features: Vec::new(),
        graph,
        branch: BranchName::main(),
        incarnation: IncarnationId::new(clock.ulid_at(stamp.time)),
        seq: Seq::FIRST,
        commit: stamp.commit,
        time: stamp.time,
        previous: None,
        parents: Vec::new(),
        schema,
        tables: staged.iter().map(|staged| (staged.table, staged.version.clone())).collect(),
        lineage: Lineage::default(),
        requests: RequestRing::default(),
        changes: vec![Change {
            id: ChangeId::new(clock.ulid_at(stamp.time)),
            kind: ChangeKind::Create,
            author: author.to_owned(),
            author_time: None,
            message: String::new(),
            request_id: None,
            parents: Vec::new(),
            tables: BTreeMap::new(),
            deleted_keys: BTreeMap::new(),
            merged: BTreeMap::new(),
            extensions: Extensions::default(),
        }],
        spill: None,
        deleted: false,
        tombstone: None,
        extensions: Extensions::default(),
    }
}

/// Writes the first record of `main`, unless somebody who opened the graph already was faster.
async fn begin_main(core: &Core, genesis: Record, catalog: Catalog) -> Result<(), Error> {
    let authorities = core.authorities();
    authorities.catalogs().remember(genesis.schema, Arc::new(catalog)).await;
    match authorities.log(&genesis.branch).append_next(Seq::FIRST, core.file().genesis()).await {
        Ok(Appended::Ours) => authorities.advance(&Arc::new(genesis)).await,
        // The graph is made: whoever needs the record writes it, or finds out what keeps it from being written.
        Ok(Appended::Theirs(_) | Appended::Unknown(_)) | Err(_) => Ok(()),
    }
}
