//! Work that recurses as deep as a statement is long, on a thread whose stack has room for it: the caller's may have two megabytes.

use datafusion::error::DataFusionError;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

/// Bytes of such a stack. Only what is used of it becomes memory. In a debug build 140 clauses, or 25 nodes in a path, overflowed 8 MiB.
const STACK: usize = 256 << 20;

/// Runs `work`, which makes a future, to its end.
pub(super) async fn run<T, F>(work: impl FnOnce() -> F + Send + 'static) -> Result<T, DataFusionError>
where
    T: Send + 'static,
    F: Future<Output = Result<T, DataFusionError>>,
{
    let runtime = Handle::current();
    let (sender, receiver) = oneshot::channel();
    std::thread::Builder::new()
        .name("pleach-plan".to_owned())
        .stack_size(STACK)
        .spawn(move || {
            // Nobody waits any more when the statement was let go of.
            let _ = sender.send(runtime.block_on(work()));
        })
        .map_err(|error| DataFusionError::ResourcesExhausted(format!("no thread to plan it on: {error}")))?;
    receiver.await.map_err(|_| DataFusionError::Internal("the thread that planned the statement died".to_owned()))?
}
