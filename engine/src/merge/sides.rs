//! The commits that a merge brings together: looked up once, the source beside the search for the target.

use std::pin::pin;
use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::{BoxFuture, Shared, poll_immediate, try_join_all};

use super::base;
use super::plan::Sides;
use super::ties::open_ahead;
use crate::branch::Reference;
use crate::error::Error;
use crate::graph::{Core, ParentInfo};
use crate::publish::Snapshot;

/// The source, looked up once; all who wait for it get the same answer.
pub(super) type Source = Shared<BoxFuture<'static, Result<Snapshot, Error>>>;

/// Begins to look the source up, so that it goes beside the search for the target.
pub(super) fn look_up(core: &Arc<Core>, reference: Reference) -> Source {
    let core = core.clone();
    let found = async move {
        let authorities = core.authorities();
        authorities.snapshot_of(authorities.resolve(&reference).await?).await
    };
    let source = found.boxed().shared();
    tokio::spawn(source.clone());
    source
}

/// Finds the bases of both sides.
///
/// # Errors
/// When records cannot be read.
pub(super) async fn sides(core: &Arc<Core>, source: Snapshot, target: Snapshot) -> Result<Sides, Error> {
    let bases = {
        let mut search = pin!(base::bases(core, &source.record, &target.record));
        // Where nothing has to be read for it, one side contains the other, and no table will be looked at.
        match poll_immediate(&mut search).await {
            Some(bases) => bases?,
            None => futures::join!(search, open_ahead(core, &source, &target)).0?,
        }
    };
    let bases = try_join_all(bases.into_iter().map(|base| core.authorities().snapshot_of(base))).await?;
    Ok(Sides { source, target, bases })
}

/// The bases as people name them.
pub(super) fn named_bases(sides: &Sides) -> Vec<ParentInfo> {
    super::named(&sides.bases.iter().map(|base| base.record.clone()).collect::<Vec<_>>())
}
