//! Differences between schemas in words.

use std::fmt;

use super::change::{PropertyName, SchemaChange, SchemaStep};
use crate::schema::ddl::{literal_text, multiplicity_word, policy_word};
use crate::schema::{JsonText, OnMerge, Type};
use crate::syntax::quote_name;

/// One line: `Person: add property age INT64`.
impl fmt::Display for SchemaStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", quote_name(&self.name), self.change)
    }
}

/// What happens to the table, without its name.
impl fmt::Display for SchemaChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |property: &PropertyName| quote_name(&property.name);
        let names = |properties: &[PropertyName]| properties.iter().map(name).collect::<Vec<_>>().join(", ");
        match self {
            Self::AddTable => f.write_str("add the table"),
            Self::DropTable => f.write_str("drop the table"),
            Self::RenameTable { from } => write!(f, "rename the table from {}", quote_name(from)),
            Self::AddProperty { property, ty, not_null, fill } => {
                write!(f, "add property {} {ty}", name(property))?;
                if *not_null {
                    f.write_str(" NOT NULL")?;
                }
                match fill {
                    Some(fill) => write!(f, ", {} in rows that are there", literal_text(fill.raw(), ty)),
                    None => Ok(()),
                }
            }
            Self::DropProperty { property } => write!(f, "drop property {}", name(property)),
            Self::RenameProperty { property, from } => {
                write!(f, "rename property {} to {}", quote_name(from), name(property))
            }
            Self::ChangeType { property, from, to } | Self::ExtendType { property, from, to } => {
                write!(f, "change the type of {} from {from} to {to}", name(property))
            }
            Self::RequireValue { property } => write!(f, "{} becomes NOT NULL", name(property)),
            Self::AllowNull { property } => write!(f, "{} may be null", name(property)),
            Self::ChangeDefault { property, ty, from, to } => write!(
                f,
                "change the default of {} from {} to {}",
                name(property),
                value(from.as_ref(), ty),
                value(to.as_ref(), ty)
            ),
            Self::ChangeFill { property, ty, from, to } => write!(
                f,
                "change what older rows have of {} from {} to {}",
                name(property),
                value(from.as_ref(), ty),
                value(to.as_ref(), ty)
            ),
            Self::ChangeMerge { property, from, to } => {
                let word = |policy: &Option<_>| policy.map_or("none", policy_word);
                write!(f, "change the merge policy of {} from {} to {}", name(property), word(from), word(to))
            }
            Self::AddUnique { properties } => write!(f, "add UNIQUE ({})", names(properties)),
            Self::DropUnique { properties } => write!(f, "drop UNIQUE ({})", names(properties)),
            Self::AddCheck { expression, .. } => write!(f, "add CHECK ({})", expression.trim_end()),
            Self::DropCheck { expression } => write!(f, "drop CHECK ({})", expression.trim_end()),
            Self::ChangeMultiplicity { from, to } => {
                write!(f, "change the multiplicity from {} to {}", multiplicity_word(*from), multiplicity_word(*to))
            }
            Self::ChangeOnMerge { from, to } => {
                let word = |rule: &Option<OnMerge>| match rule {
                    None => "none",
                    Some(OnMerge::Cascade) => "CASCADE",
                    Some(OnMerge::Keep) => "KEEP",
                };
                write!(f, "change ON MERGE from {} to {}", word(from), word(to))
            }
            Self::Reorder => f.write_str("change the order of what it declares"),
        }
    }
}

fn value(json: Option<&JsonText>, ty: &Type) -> String {
    json.map_or_else(|| "none".to_owned(), |json| literal_text(json.raw(), ty))
}
