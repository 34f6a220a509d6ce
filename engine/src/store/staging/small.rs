//! Small data files are read more than once soon after they were written: for their keys, for rows, to be folded. What was staged or read
//! whole is kept for that, up to a bound for all of them.
//!
//! A data file is never written again under its name, so a copy is what the store has for as long as it has it.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use futures::stream::{self, StreamExt};
use object_store::path::Path;
use object_store::{GetOptions, GetResult, GetResultPayload};

use super::state::{Copy, State};
use crate::clock::Timestamp;

/// A file of more than one in this many of the bound is not kept: a few such would drive out all others.
pub(super) const SHARE: usize = 16;

/// Whether `path` is a data file of a table: `tables/<id>/data/<unique name>.lance`.
pub(super) fn is_data_file(path: &Path) -> bool {
    path.extension() == Some("lance") && path.parent().is_some_and(|folder| folder.filename() == Some("data"))
}

/// Whether a plain get asks for a whole file.
pub(super) fn is_whole(options: &GetOptions) -> bool {
    options.range.is_none() && !options.head
}

/// The same answer, which is kept in `state` once its body has been read to the end.
pub(super) fn kept(state: Arc<State>, path: &Path, answer: GetResult, read: Timestamp) -> GetResult {
    if answer.range != (0..answer.meta.size) || !state.keeps(answer.meta.size) {
        return answer;
    }
    let GetResult { payload, meta, range, attributes, extensions } = answer;
    let size = meta.size;
    let GetResultPayload::Stream(body) = payload else {
        return GetResult { payload, meta, range, attributes, extensions };
    };
    let reading = (body, Vec::<Bytes>::new(), state, path.clone());
    let body = stream::try_unfold(reading, move |(mut body, mut parts, state, path)| async move {
        if let Some(part) = body.next().await.transpose()? {
            parts.push(part.clone());
            return Ok(Some((part, (body, parts, state, path))));
        }
        // A body that ends early is for its reader to find.
        if parts.iter().map(|part| part.len() as u64).sum::<u64>() == size {
            // Copied: a part may hold on to a larger buffer.
            let mut whole = BytesMut::new();
            for part in &parts {
                whole.extend_from_slice(part);
            }
            state.keep(&path, Copy { bytes: whole.freeze(), staged: read });
        }
        Ok(None)
    });
    GetResult { payload: GetResultPayload::Stream(body.boxed()), meta, range, attributes, extensions }
}
