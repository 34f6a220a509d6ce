//! What every command takes that changes a branch's content.

use pleach::ChangeOptions;

use crate::context::Context;

/// How a change is recorded and on what it depends.
#[derive(Debug, clap::Args)]
pub(super) struct Change {
    /// What the change is about
    #[arg(short, long, value_name = "TEXT")]
    message: Option<String>,
    /// Refuse unless this commit is the head of the branch that is changed
    #[arg(long, value_name = "REF")]
    if_head: Option<String>,
    /// A name for this request: however often it is sent, it takes effect once
    #[arg(long, value_name = "ID")]
    request_id: Option<String>,
}

impl Change {
    pub(super) fn options(self, context: &Context) -> ChangeOptions {
        ChangeOptions { if_head: self.if_head, request_id: self.request_id, ..context.change(self.message) }
    }
}
