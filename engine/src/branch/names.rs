//! Which branch names there are, and which one a misspelt name was probably meant to be.

use object_store::ObjectStore as _;
use object_store::path::Path;

use super::authority::Authorities;
use super::{BRANCHES, BranchError, BranchName};
use crate::error::Error;
use crate::store::{RequestKind, StoreError};
use crate::syntax::nearest;

impl Authorities {
    /// The names of all branches that ever were, in their folded spelling: one LIST, whatever the history.
    pub(crate) async fn names(&self) -> Result<Vec<BranchName>, Error> {
        let folder = Path::from(BRANCHES);
        let listed = self.store().objects().list_with_delimiter(Some(&folder)).await;
        let listed = listed.map_err(|error| StoreError::of(self.store().uri(), RequestKind::List, &folder, error))?;
        let names = listed.common_prefixes.iter().filter_map(Path::filename).filter_map(BranchName::of_folder);
        Ok(names.collect())
    }

    /// What to say of a name that was never used. Two requests more, which only a refusal costs.
    pub(crate) async fn unknown(&self, name: &BranchName) -> Error {
        // That the store does not answer now does not change what is refused.
        let like = self.like(name).await.unwrap_or_default();
        BranchError::NotFound { name: name.clone(), like }.into()
    }

    /// The living branch whose name is most like `name`, in its own spelling, if one is like it at all.
    async fn like(&self, name: &BranchName) -> Result<Option<String>, Error> {
        let names = self.names().await?;
        let near = nearest(name.as_str(), names.iter().map(BranchName::as_str));
        let Some(near) = names.iter().find(|name| Some(name.as_str()) == near) else { return Ok(None) };
        let head = self.fresh(near).await?;
        Ok(head.filter(|head| !head.deleted).map(|head| head.branch.to_string()))
    }
}
