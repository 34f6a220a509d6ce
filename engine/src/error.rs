//! The one public error: what failed, of which kind, under which stable code, and what to do next.
//!
//! Each module has a small enum of its own that implements [`Classify`]; this module only gathers them. Message texts are
//! for people and may change; [`Error::kind`] and [`Error::code`] are for programs and may only be added to.

use std::fmt;
use std::sync::Arc;

use crate::admission::AdmissionError;
use crate::branch::{BranchError, InvalidName, InvalidReference};
use crate::clock::InvalidTime;
use crate::evolve::EvolveError;
use crate::graph::GraphError;
use crate::merge::MergeError;
use crate::publish::PublishError;
use crate::query::{QueryError, QueryRunError, UpdateError};
use crate::read::ReadError;
use crate::record::RecordError;
use crate::schema::SchemaError;
use crate::store::StoreError;
use crate::table::TableError;
use crate::value::shorten;
use crate::write::{Violations, WriteError};

/// How a caller should look at an error. The command line derives its exit code from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The request itself is wrong; the same request will always fail.
    Invalid,
    /// Something named does not exist.
    NotFound,
    /// Something to be created exists.
    AlreadyExists,
    /// Two sides changed the same thing incompatibly; a person decides.
    Conflict,
    /// Somebody published first; the same request may succeed now.
    Contention,
    /// As much is going on in this process as may; nothing was done, and the same request may succeed later.
    Overloaded,
    /// The store did not answer or refused; the same request may succeed later.
    Unavailable,
    /// Whether the request took effect could not be found out; it carries what is needed to ask again.
    OutcomeUnknown,
    /// The stored data breaks a rule that Pleach keeps.
    Data,
    /// A fault of Pleach itself.
    Internal,
}

/// What every error of a module says about itself.
pub(crate) trait Classify {
    fn kind(&self) -> ErrorKind;
    /// Stable, kebab-case; listed in `docs/errors.md`.
    fn code(&self) -> &'static str;
    /// What to do next, where there is something to say.
    fn hint(&self) -> Option<String> {
        None
    }
    /// Whether the same request may be sent again as it is.
    fn is_retryable(&self) -> bool {
        matches!(self.kind(), ErrorKind::Contention | ErrorKind::Overloaded | ErrorKind::Unavailable)
    }
}

/// What to do where a temporary file cannot be used, whoever wanted to.
pub(crate) const TEMPORARY_HINT: &str = "free space where TMPDIR points, or point it elsewhere";

/// The module errors that an [`Error`] may hold, each under a variant of its own.
macro_rules! gather {
    ($($variant:ident($source:ty)),* $(,)?) => {
        #[derive(Debug, thiserror::Error)]
        enum Inner {
            $(#[error(transparent)] $variant($source),)*
        }

        impl Inner {
            fn classify(&self) -> &dyn Classify {
                match self {
                    $(Self::$variant(source) => source,)*
                }
            }
        }

        $(impl From<$source> for Error {
            fn from(source: $source) -> Self {
                Self(Arc::new(Inner::$variant(source)))
            }
        })*
    };
}

gather! {
    Admission(AdmissionError),
    Branch(BranchError),
    Evolve(EvolveError),
    Graph(GraphError),
    Merge(MergeError),
    Name(InvalidName),
    Publish(PublishError),
    Query(QueryError),
    QueryRun(QueryRunError),
    Read(ReadError),
    Record(RecordError),
    Reference(InvalidReference),
    Schema(SchemaError),
    Store(StoreError),
    Table(TableError),
    Time(InvalidTime),
    Update(UpdateError),
    Write(WriteError),
}

/// Why a request was not done. Cheap to clone, so that all who waited for one answer can have it.
#[derive(Clone)]
pub struct Error(Arc<Inner>);

impl Error {
    /// How to look at it.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.classify().kind()
    }

    /// Its stable name, one of those in `docs/errors.md`.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.0.classify().code()
    }

    /// What to do next.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        self.0.classify().hint()
    }

    /// Whether the same request may be sent again as it is: it had no effect, or cannot have one twice.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        self.0.classify().is_retryable()
    }

    /// What both sides changed incompatibly; empty unless the kind is [`ErrorKind::Conflict`].
    #[must_use]
    pub fn conflicts(&self) -> &[Conflict] {
        match &*self.0 {
            Inner::Merge(MergeError::Conflicts { conflicts, .. }) => conflicts,
            _ => &[],
        }
    }

    /// What is wrong with the input of a load or write, or with what a statement would do, that was refused.
    #[must_use]
    pub fn violations(&self) -> Option<&Violations> {
        match &*self.0 {
            Inner::Write(WriteError::Refused { violations, .. })
            | Inner::Update(UpdateError::Refused { violations }) => Some(violations),
            _ => None,
        }
    }

    /// Whether it says something about the state of a branch, which a newer head may contradict.
    pub(crate) fn depends_on_head(&self) -> bool {
        match self.kind() {
            ErrorKind::Invalid
            | ErrorKind::NotFound
            | ErrorKind::AlreadyExists
            | ErrorKind::Conflict
            | ErrorKind::Contention
            | ErrorKind::Data => true,
            ErrorKind::Overloaded | ErrorKind::Unavailable | ErrorKind::OutcomeUnknown | ErrorKind::Internal => false,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source()
    }
}

/// Something that both sides of a merge changed incompatibly. Keys and values are JSON, as an export spells them.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Conflict {
    /// What sort of incompatibility.
    pub kind: ConflictKind,
    /// The table.
    pub table: String,
    /// The row's key: a value, or a list of the key's parts; `None` where it is the table itself.
    pub key: Option<String>,
    /// The property that both changed, the columns that are to be unique, or the condition that is broken; `None` where it is the row itself.
    pub property: Option<String>,
    /// What the merge bases have there: a property's value, or a row as an object of its properties, `null` where there is no row. `None`
    /// if the bases contradict each other, or it does not apply.
    pub base: Option<String>,
    /// What the source has there.
    pub source: Option<String>,
    /// What the target has there.
    pub target: Option<String>,
    /// What else is concerned: the edges of a deleted node, which are settled with it; the row that has the same unique value; the node
    /// that an edge lacks.
    pub with: Vec<RowName>,
    /// What is in conflict, where it is the schema: then base, source and target tell what each of them declares, as text, or null where it
    /// declares nothing there.
    pub schema: Option<SchemaConflict>,
}

/// A row by its table and key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RowName {
    /// The table.
    pub table: String,
    /// The key, as JSON.
    pub key: String,
}

impl Conflict {
    /// One about a whole table.
    pub(crate) fn of_table(kind: ConflictKind, table: String) -> Self {
        Self {
            kind,
            table,
            key: None,
            property: None,
            base: None,
            source: None,
            target: None,
            with: Vec::new(),
            schema: None,
        }
    }
}

/// What sort of incompatibility a conflict is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ConflictKind {
    /// Both changed one property of a row.
    BothChanged,
    /// One changed a row that the other deleted.
    ChangedAndDeleted,
    /// Both added a row of one key with different values.
    BothAdded,
    /// One added an edge at a node that the other deleted.
    DanglingEdge,
    /// Rows of both share a value that may occur once.
    Unique,
    /// Edges of both exceed a maximum together.
    Cardinality,
    /// A row that takes properties of both breaks a condition that each side keeps.
    Check,
    /// Their schemas cannot be brought together.
    Schema,
}

impl ConflictKind {
    /// The kind as reports spell it: stable, kebab-case; listed in `docs/errors.md`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::BothChanged => "both-changed",
            Self::ChangedAndDeleted => "changed-and-deleted",
            Self::BothAdded => "both-added",
            Self::DanglingEdge => "dangling-edge",
            Self::Unique => "unique",
            Self::Cardinality => "cardinality",
            Self::Check => "check",
            Self::Schema => "schema",
        }
    }
}

/// Rows that a conflict's text names besides its own.
const CONCERNED: usize = 3;

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, table, key, property, base, source, target, with, schema } = self;
        let name = kind.as_str();
        let Some(key) = key else {
            write!(f, "{name}: {table}")?;
            if let Some(property) = property {
                write!(f, ".{property}")?;
            }
            return match schema {
                Some(schema) => write!(f, " {schema}"),
                None => f.write_str(" was changed by both sides"),
            };
        };
        write!(f, "{name}: {table} {key}")?;
        if let Some(property) = property {
            write!(f, " {property}")?;
        }
        let sides = [("base", base), ("source", source), ("target", target)];
        let told = sides.iter().filter_map(|(side, value)| Some((side, value.as_ref()?)));
        for (number, (side, value)) in told.enumerate() {
            let separator = if number == 0 { ": " } else { ", " };
            write!(f, "{separator}{side} {}", shorten(value))?;
        }
        for (number, row) in with.iter().take(CONCERNED).enumerate() {
            let separator = if number == 0 { "; with " } else { ", " };
            write!(f, "{separator}{} {}", row.table, row.key)?;
        }
        match with.len().saturating_sub(CONCERNED) {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

/// What of a schema each side changed in its own way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SchemaConflict {
    /// What it is.
    pub reason: SchemaClash,
    /// Where one side dropped something: the rows of it that the other side added or changed.
    pub rows: Option<u64>,
}

/// What of a schema can be changed by each side in its own way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SchemaClash {
    /// The source dropped it, the target changed rows of it.
    DroppedBySource,
    /// The target dropped it, the source changed rows of it.
    DroppedByTarget,
    /// The source dropped it, the target changed its definition or relies on it.
    DroppedBySourceUsedByTarget,
    /// The target dropped it, the source changed its definition or relies on it.
    DroppedByTargetUsedBySource,
    /// Each side gave it another name.
    Name,
    /// Two different things come to one name.
    Taken,
    /// Each side gave it another type, and neither holds all values of the other.
    Type,
    /// Each side gave it another default.
    Default,
    /// Each side gave it another merge policy.
    Policy,
    /// Each side gave it another `ON MERGE`.
    OnMerge,
    /// Each side tells its rows apart in its own way.
    Definition,
    /// Each side drew one number for a column of its own.
    Column,
    /// Both sides dropped properties of the table that the other changed, and both are to be kept.
    BothKept,
}

impl SchemaClash {
    /// Something that one side dropped; `used`: the other side changed its definition.
    pub(crate) const fn dropped(by_source: bool, used: bool) -> Self {
        match (by_source, used) {
            (true, false) => Self::DroppedBySource,
            (false, false) => Self::DroppedByTarget,
            (true, true) => Self::DroppedBySourceUsedByTarget,
            (false, true) => Self::DroppedByTargetUsedBySource,
        }
    }

    /// Whether it was the source that dropped something, if it is about that.
    pub(crate) const fn dropped_by_source(self) -> Option<bool> {
        match self {
            Self::DroppedBySource | Self::DroppedBySourceUsedByTarget => Some(true),
            Self::DroppedByTarget | Self::DroppedByTargetUsedBySource => Some(false),
            _ => None,
        }
    }

    /// The reason as reports spell it: stable, kebab-case.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::DroppedBySource | Self::DroppedBySourceUsedByTarget => "dropped-by-source",
            Self::DroppedByTarget | Self::DroppedByTargetUsedBySource => "dropped-by-target",
            Self::Name => "name",
            Self::Taken => "name-taken",
            Self::Type => "type",
            Self::Default => "default",
            Self::Policy => "policy",
            Self::OnMerge => "on-merge",
            Self::Definition => "definition",
            Self::Column => "column",
            Self::BothKept => "both-kept",
        }
    }

    /// What may be chosen, as resolutions spell it; nothing where the schemas themselves have to change.
    #[must_use]
    pub const fn choices(self) -> &'static [&'static str] {
        match self {
            Self::DroppedBySource
            | Self::DroppedByTarget
            | Self::DroppedBySourceUsedByTarget
            | Self::DroppedByTargetUsedBySource => &["keep", "drop"],
            Self::Name | Self::Taken | Self::Type | Self::Default | Self::Policy | Self::OnMerge => {
                &["source", "target"]
            }
            Self::Definition | Self::Column | Self::BothKept => &[],
        }
    }

    /// Whether anybody may settle it.
    pub(crate) const fn has_answer(self) -> bool {
        !self.choices().is_empty()
    }
}

/// What happened, without the name of what it happened to.
impl fmt::Display for SchemaConflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.reason {
            SchemaClash::DroppedBySource => "was dropped by the source, and the target changed it",
            SchemaClash::DroppedByTarget => "was dropped by the target, and the source changed it",
            SchemaClash::DroppedBySourceUsedByTarget => "was dropped by the source, and the target declares it otherwise",
            SchemaClash::DroppedByTargetUsedBySource => "was dropped by the target, and the source declares it otherwise",
            SchemaClash::Name => "has another name on each side",
            SchemaClash::Taken => "is another thing on each side",
            SchemaClash::Type => "has another type on each side, neither of which holds all values of the other",
            SchemaClash::Default => "has another default on each side",
            SchemaClash::Policy => "has another merge policy on each side",
            SchemaClash::OnMerge => "has another ON MERGE on each side",
            SchemaClash::Definition => "tells its rows apart in another way on each side",
            SchemaClash::Column => "has a column with the number of another one on the other side",
            SchemaClash::BothKept => "has properties that only the source dropped and others that only the target did: only those of one side can stay",
        })?;
        match self.rows {
            None | Some(0) => Ok(()),
            Some(1) => f.write_str(" (1 row)"),
            Some(rows) => write!(f, " ({rows} rows)"),
        }
    }
}

impl Classify for InvalidTime {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Invalid
    }

    fn code(&self) -> &'static str {
        "time-invalid"
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    /// The string literals in every `fn code` that answers a `&'static str` below `folder`.
    fn codes_below(folder: &Path, codes: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                codes_below(&path, codes);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                codes_in(&std::fs::read_to_string(path).unwrap(), codes);
            }
        }
    }

    fn codes_in(source: &str, codes: &mut BTreeSet<String>) {
        let head = concat!("fn code(&self) -> ", "&'static str {");
        for function in source.split(head).skip(1) {
            let mut depth = 1;
            let body: String = function
                .chars()
                .take_while(|c| {
                    depth += i32::from(*c == '{') - i32::from(*c == '}');
                    depth > 0
                })
                .collect();
            codes.extend(body.split('"').skip(1).step_by(2).map(str::to_owned));
        }
    }

    #[test]
    fn the_codes_of_a_source_are_found() {
        let mut codes = BTreeSet::new();
        let source = format!(
            "fn code(&self) -> {} {{ match self {{ A {{ .. }} => \"a-b\", B => \"c\" }} }} \"no\"",
            "&'static str"
        );
        codes_in(&source, &mut codes);
        assert_eq!(codes, BTreeSet::from(["a-b".to_owned(), "c".to_owned()]));
    }

    #[test]
    fn the_documentation_lists_exactly_the_codes() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut codes = BTreeSet::new();
        codes_below(&root.join("src"), &mut codes);
        let text = std::fs::read_to_string(root.join("../docs/errors.md")).expect("docs/errors.md lists the codes");
        // A code stands as the first cell of a table row: | `branch-exists` | …
        let listed: BTreeSet<String> = text
            .lines()
            .filter_map(|line| line.trim().strip_prefix("| `")?.split_once('`'))
            .map(|(code, _)| code.to_owned())
            .collect();
        let missing: Vec<_> = codes.difference(&listed).collect();
        let unknown: Vec<_> = listed.difference(&codes).collect();
        assert!(missing.is_empty() && unknown.is_empty(), "not listed: {missing:?}; listed in vain: {unknown:?}");
    }

    #[test]
    fn codes_are_kebab_case() {
        let mut codes = BTreeSet::new();
        codes_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut codes);
        for code in codes {
            assert!(
                code.split('-')
                    .all(|word| !word.is_empty() && word.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())),
                "{code}"
            );
        }
    }
}
