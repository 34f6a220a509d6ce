//! JSON kept as its text.
//!
//! A parsed tree would not do: reading a number into a float and writing it again can change its last digit, and a `JSON`
//! value is its text.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A JSON value as it was written; equal to another of the same text only.
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct JsonText(Box<RawValue>);

impl JsonText {
    /// Takes `text`, which must be one JSON value, without the white space around it.
    ///
    /// # Errors
    /// What is wrong with the JSON.
    pub fn new(text: &str) -> Result<Self, serde_json::Error> {
        RawValue::from_string(text.trim().to_owned()).map(Self)
    }

    /// The value as it was written.
    #[must_use]
    pub fn raw(&self) -> &RawValue {
        &self.0
    }

    /// Its text.
    #[must_use]
    pub fn get(&self) -> &str {
        self.0.get()
    }
}

impl PartialEq for JsonText {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl Eq for JsonText {}

impl fmt::Debug for JsonText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JsonText({})", self.get())
    }
}
