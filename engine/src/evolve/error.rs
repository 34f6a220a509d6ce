//! Why a schema change was refused by the rows that are there.

use std::fmt::Write as _;

use super::report::PlannedStep;
use crate::error::{Classify, ErrorKind};
use crate::schema::StepClass;

/// A schema change was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EvolveError {
    /// Rows break rules that the schema is to get.
    #[error("rows of {reference} break what the schema would ask of them{}", listed(steps, |step| step.breaks > 0))]
    Broken {
        /// The commit.
        reference: String,
        /// All steps.
        steps: Vec<PlannedStep>,
    },
    /// Something would go, and the caller did not say that it may.
    #[error("the change would lose data of {reference}{}", lost(steps))]
    DataLoss {
        /// The commit.
        reference: String,
        /// All steps.
        steps: Vec<PlannedStep>,
    },
}

fn listed(steps: &[PlannedStep], told: impl Fn(&PlannedStep) -> bool) -> String {
    steps.iter().filter(|step| told(step)).fold(String::new(), |mut text, step| {
        // Writing into a String cannot fail.
        let _ = write!(text, "\n  {step}");
        text
    })
}

fn lost(steps: &[PlannedStep]) -> String {
    let going = steps.iter().filter(|step| step.step.change.class() == StepClass::Destructive);
    going.fold(String::new(), |mut text, step| {
        let _ = write!(text, "\n  {}: {}", step.step, what_goes(step));
        text
    })
}

/// What a destructive step takes away: `3 rows`.
fn what_goes(step: &PlannedStep) -> String {
    let what = if step.step.change.property().is_some() { "value" } else { "row" };
    format!("{} {what}{}", step.rows, if step.rows == 1 { "" } else { "s" })
}

impl Classify for EvolveError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Invalid
    }

    fn code(&self) -> &'static str {
        match self {
            Self::Broken { .. } => "schema-broken-by-rows",
            Self::DataLoss { .. } => "schema-loses-data",
        }
    }

    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Broken { .. } => {
                "change these rows first, or ask for less; a new property may have a DEFAULT".to_owned()
            }
            Self::DataLoss { .. } => "say --allow-data-loss if it may go; earlier commits keep it".to_owned(),
        })
    }
}
