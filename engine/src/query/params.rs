//! Parameters: values that a statement names as `$name`.

mod json;

use std::collections::BTreeMap;

use super::{CypherValue, QueryError};

/// The values of a statement's parameters, by name.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Params {
    values: BTreeMap<String, CypherValue>,
}

impl Params {
    /// No parameters.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// With `$name` standing for `value`, in place of a former value.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<CypherValue>) -> Self {
        self.values.insert(name.into(), value.into());
        self
    }

    /// The members of one JSON object, each a parameter. Numbers without point and exponent are integers, all others floats;
    /// dates, times and UUIDs are strings, which `date($d)` and its like turn into what they mean.
    ///
    /// # Errors
    /// [`QueryError::Parameters`] for what is no JSON object, a member that is there twice, a number that neither 64 bits nor a float
    /// hold, and nesting beyond 64 levels.
    pub fn from_json(text: &str) -> Result<Self, QueryError> {
        json::parameters(text).map(|values| Self { values }).map_err(|reason| QueryError::Parameters { reason })
    }

    /// The value of `$name`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&CypherValue> {
        self.values.get(name)
    }

    /// The names of all parameters, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(String::as_str)
    }
}

impl CypherValue {
    /// The value that a JSON text stands for, by the rules of [`Params::from_json`].
    ///
    /// # Errors
    /// [`QueryError::Parameters`], as there.
    pub fn from_json(text: &str) -> Result<Self, QueryError> {
        json::value(text).map_err(|reason| QueryError::Parameters { reason })
    }
}

#[cfg(test)]
mod tests;
