//! What may go wrong with a single row of an updating statement.

/// What is wrong; the message says it with the values in question.
#[derive(Debug)]
pub(super) enum Wrong {
    /// A value is not one of the property's type.
    Type,
    /// The row's table has no property of this name.
    NoSuchProperty,
    /// A part of a key was to be set.
    KeyChange,
    /// A new row lacks a part of its key.
    MissingKey,
    /// An edge was to be made at null.
    NullEnd,
    /// An edge was to be made at a node of another table.
    End,
    /// A node or an edge was looked into after it was deleted.
    Deleted,
}

impl Wrong {
    /// Stable, kebab-case; listed in `docs/errors.md`.
    pub(super) const fn code(&self) -> &'static str {
        match self {
            Self::Type => "wrong-type",
            Self::NoSuchProperty => "no-such-property",
            Self::KeyChange => "key-change",
            Self::MissingKey => "missing-key",
            Self::NullEnd => "null-end",
            Self::End => "wrong-end",
            Self::Deleted => "deleted-entity",
        }
    }
}
