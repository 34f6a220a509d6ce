//! The race: many clients put different bodies at one fresh key.

use std::collections::HashSet;

use futures::future::join_all;
use futures::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{PutMode, PutOptions};

use super::checks::{body, keys};
use super::{ProbeCheck, ProbeOptions};
use crate::store::Store;
use crate::store::error::{Cause, StoreError};
use crate::store::request::RequestKind;

/// Keys that are raced for at the same time.
const OVERLAPPING: usize = 4;

/// What one client was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    Won,
    Lost,
    /// The answer was lost: it may have won.
    Unsure,
}

/// What became of one key.
#[derive(Debug)]
struct Round {
    key: Path,
    told: Vec<Told>,
    /// The client whose body is there.
    there: Option<String>,
    /// The same, read once more after a late put-if-absent.
    later: Option<String>,
    late_accepted: bool,
}

/// Races for each key.
pub(super) async fn race(store: &Store, folder: &Path, options: ProbeOptions) -> Result<Vec<ProbeCheck>, StoreError> {
    let rounds: Vec<Round> = futures::stream::iter(0..options.keys.max(1))
        .map(|n| round(store, folder.clone().join(format!("{n:06}")), options.clients.max(2)))
        .buffer_unordered(OVERLAPPING)
        .try_collect()
        .await?;
    let mut winners = Vec::new();
    let mut bodies = Vec::new();
    let mut late = Vec::new();
    for round in &rounds {
        judge(round, &mut winners, &mut bodies);
        if round.late_accepted || round.later != round.there {
            late.push(format!("{}: a late put-if-absent was accepted or changed the body", round.key));
        }
    }
    let listed: HashSet<Path> = keys(store, folder).await?.into_iter().collect();
    let missing = rounds.iter().filter(|round| round.there.is_some() && !listed.contains(&round.key));
    let missing = missing.map(|round| format!("{}: not listed after the race", round.key)).collect();
    Ok(vec![
        ProbeCheck::of("one-winner", "of overlapping put-if-absents at one key exactly one wins", winners),
        ProbeCheck::of("winner-stays", "the winner's body is there, and stays", bodies),
        ProbeCheck::of("late-put-refused", "a put-if-absent after the race is refused", late),
        ProbeCheck::of("list-after-race", "every key that was raced for is listed", missing),
    ])
}

/// Exactly one client won, or none was told so and the body is that of one whose answer was lost.
fn judge(round: &Round, winners: &mut Vec<String>, bodies: &mut Vec<String>) {
    let won: Vec<usize> = (0..round.told.len()).filter(|n| round.told[*n] == Told::Won).collect();
    let unsure: Vec<usize> = (0..round.told.len()).filter(|n| round.told[*n] == Told::Unsure).collect();
    let there = round.there.as_deref();
    match won.as_slice() {
        [winner] => {
            if there != Some(body_of(*winner).as_str()) {
                bodies.push(format!("{}: client {winner} won, but {}", round.key, described(there)));
            }
        }
        [] if unsure.iter().any(|n| there == Some(body_of(*n).as_str())) => {}
        [] => winners.push(format!("{}: no winner; {}", round.key, described(there))),
        several => {
            winners.push(format!(
                "{}: {} winners: clients {several:?}; {}",
                round.key,
                several.len(),
                described(there)
            ));
        }
    }
}

fn described(there: Option<&str>) -> String {
    there.map_or_else(|| "nothing is there".to_owned(), |body| format!("the body is that of {body}"))
}

fn body_of(client: usize) -> String {
    format!("client {client}")
}

async fn round(store: &Store, key: Path, clients: usize) -> Result<Round, StoreError> {
    // Tasks of their own, so that they overlap on a runtime with threads.
    let all: Vec<_> = (0..clients)
        .map(|client| {
            let (store, key) = (store.clone(), key.clone());
            tokio::spawn(async move { put(&store, &key, body_of(client)).await })
        })
        .collect();
    let mut told = Vec::with_capacity(clients);
    for answer in join_all(all).await {
        // A task that panicked has told nothing.
        told.push(answer.unwrap_or(Ok(Told::Unsure))?);
    }
    let there = body(store, &key).await?;
    let late_accepted = put(store, &key, body_of(clients)).await? == Told::Won;
    let later = body(store, &key).await?;
    Ok(Round { key, told, there, later, late_accepted })
}

async fn put(store: &Store, key: &Path, body: String) -> Result<Told, StoreError> {
    let commit_point = store.commit_point();
    let put = commit_point.put_opts(key, body.into(), PutOptions::from(PutMode::Create));
    match store.clock().timeout(store.limits().answer, put).await {
        None => Ok(Told::Unsure),
        Some(Ok(_)) => Ok(Told::Won),
        Some(Err(error)) => match Cause::of(&error) {
            Cause::Exists => Ok(Told::Lost),
            Cause::Unanswered | Cause::Other => Ok(Told::Unsure),
            _ => Err(StoreError::of(store.uri(), RequestKind::Create, key, error)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(told: &[Told], there: Option<&str>) -> (usize, usize) {
        let (mut winners, mut bodies) = (Vec::new(), Vec::new());
        let there = there.map(str::to_owned);
        let round =
            Round { key: Path::from("k"), told: told.to_vec(), later: there.clone(), there, late_accepted: false };
        judge(&round, &mut winners, &mut bodies);
        (winners.len(), bodies.len())
    }

    #[test]
    fn one_winner_whose_body_is_there_is_right_and_all_else_is_not() {
        use Told::{Lost, Unsure, Won};
        assert_eq!(judged(&[Lost, Won, Lost], Some("client 1")), (0, 0));
        assert_eq!(judged(&[Lost, Won, Unsure], Some("client 1")), (0, 0));
        assert_eq!(judged(&[Lost, Unsure], Some("client 1")), (0, 0), "its answer was lost");
        assert_eq!(judged(&[Lost, Won], Some("client 0")), (0, 1));
        assert_eq!(judged(&[Lost, Won], None), (0, 1));
        assert_eq!(judged(&[Won, Won], Some("client 0")), (1, 0));
        assert_eq!(judged(&[Lost, Lost], None), (1, 0));
        assert_eq!(judged(&[Lost, Unsure], Some("client 0")), (1, 0));
    }
}
