//! What can differ between two schemas.

use crate::ids::{PropertyId, TableId};
use crate::schema::{CheckDef, JsonText, MergePolicy, Multiplicity, OnMerge, Type};

/// One difference between two schemas.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaStep {
    /// The table.
    pub table: TableId,
    /// Its name in the later schema, or in the earlier one if it goes.
    pub name: String,
    /// What differs.
    pub change: SchemaChange,
}

/// A property, and its name in the later schema, or in the earlier one if it goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PropertyName {
    /// Its identity.
    pub id: PropertyId,
    /// Its name.
    pub name: String,
}

/// What differs about a table.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SchemaChange {
    /// The table is new.
    AddTable,
    /// The table goes, with its rows.
    DropTable,
    /// The table has another name.
    RenameTable {
        /// The name it had.
        from: String,
    },
    /// The property is new.
    AddProperty {
        /// The property.
        property: PropertyName,
        /// What it holds.
        ty: Type,
        /// Whether null is refused.
        not_null: bool,
        /// What rows that are there have; null if there is none.
        fill: Option<JsonText>,
    },
    /// The property goes, with its values.
    DropProperty {
        /// The property.
        property: PropertyName,
    },
    /// The property has another name.
    RenameProperty {
        /// The property.
        property: PropertyName,
        /// The name it had.
        from: String,
    },
    /// The property has a type that needs another column.
    ChangeType {
        /// The property.
        property: PropertyName,
        /// The type it had.
        from: Type,
        /// The type it has.
        to: Type,
    },
    /// The property has a type that more values belong to and that is stored alike.
    ExtendType {
        /// The property.
        property: PropertyName,
        /// The type it had.
        from: Type,
        /// The type it has.
        to: Type,
    },
    /// Null is refused from now on.
    RequireValue {
        /// The property.
        property: PropertyName,
    },
    /// Null is allowed from now on.
    AllowNull {
        /// The property.
        property: PropertyName,
    },
    /// Rows that name no value get another one.
    ChangeDefault {
        /// The property.
        property: PropertyName,
        /// What it holds.
        ty: Type,
        /// What they got.
        from: Option<JsonText>,
        /// What they get.
        to: Option<JsonText>,
    },
    /// A merge settles the property in another way.
    ChangeMerge {
        /// The property.
        property: PropertyName,
        /// The policy it had.
        from: Option<MergePolicy>,
        /// The policy it has.
        to: Option<MergePolicy>,
    },
    /// What a stored null means differs. No text asks for it; branches may differ in it.
    ChangeFill {
        /// The property.
        property: PropertyName,
        /// What it holds.
        ty: Type,
        /// What it meant.
        from: Option<JsonText>,
        /// What it means.
        to: Option<JsonText>,
    },
    /// No two rows may have the same values any more.
    AddUnique {
        /// The properties, in the order of declaration.
        properties: Vec<PropertyName>,
    },
    /// Rows may have the same values.
    DropUnique {
        /// The properties, in the order of declaration.
        properties: Vec<PropertyName>,
    },
    /// Rows have to fulfil one condition more.
    AddCheck {
        /// The condition, with today's names.
        expression: String,
        /// As the schema has it.
        condition: CheckDef,
    },
    /// Rows have to fulfil one condition less.
    DropCheck {
        /// The condition, with today's names.
        expression: String,
    },
    /// A node may have more or fewer edges of the table.
    ChangeMultiplicity {
        /// How many it might have.
        from: Multiplicity,
        /// How many it may have.
        to: Multiplicity,
    },
    /// A merge treats edges of deleted nodes in another way.
    ChangeOnMerge {
        /// What was declared.
        from: Option<OnMerge>,
        /// What is.
        to: Option<OnMerge>,
    },
    /// Properties or rules stand in another order.
    Reorder,
}

/// What a step does to rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StepClass {
    /// No row is read or written.
    Untouched,
    /// Rows are read, and must hold to a new rule.
    Checked,
    /// Rows are written anew; their values stay.
    Rewritten,
    /// Rows or values go.
    Destructive,
}

impl StepClass {
    /// One word for programs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Untouched => "untouched",
            Self::Checked => "checked",
            Self::Rewritten => "rewritten",
            Self::Destructive => "destructive",
        }
    }
}

impl SchemaChange {
    /// What sort of change it is, in one kebab-case word for programs.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::AddTable => "add-table",
            Self::DropTable => "drop-table",
            Self::RenameTable { .. } => "rename-table",
            Self::AddProperty { .. } => "add-property",
            Self::DropProperty { .. } => "drop-property",
            Self::RenameProperty { .. } => "rename-property",
            Self::ChangeType { .. } => "change-type",
            Self::ExtendType { .. } => "extend-type",
            Self::RequireValue { .. } => "require-value",
            Self::AllowNull { .. } => "allow-null",
            Self::ChangeDefault { .. } => "change-default",
            Self::ChangeMerge { .. } => "change-merge",
            Self::ChangeFill { .. } => "change-fill",
            Self::AddUnique { .. } => "add-unique",
            Self::DropUnique { .. } => "drop-unique",
            Self::AddCheck { .. } => "add-check",
            Self::DropCheck { .. } => "drop-check",
            Self::ChangeMultiplicity { .. } => "change-multiplicity",
            Self::ChangeOnMerge { .. } => "change-on-merge",
            Self::Reorder => "reorder",
        }
    }

    /// What it does to rows.
    #[must_use]
    pub const fn class(&self) -> StepClass {
        match self {
            Self::DropTable | Self::DropProperty { .. } => StepClass::Destructive,
            Self::ChangeType { .. } | Self::ChangeFill { .. } => StepClass::Rewritten,
            // To a new property that needs a value, old rows have nothing to bring.
            Self::RequireValue { .. }
            | Self::AddUnique { .. }
            | Self::AddCheck { .. }
            | Self::AddProperty { not_null: true, fill: None, .. } => StepClass::Checked,
            Self::ChangeMultiplicity { from, to } => {
                let start = to.one_per_start() && !from.one_per_start();
                let end = to.one_per_end() && !from.one_per_end();
                if start || end { StepClass::Checked } else { StepClass::Untouched }
            }
            Self::AddTable
            | Self::RenameTable { .. }
            | Self::AddProperty { .. }
            | Self::RenameProperty { .. }
            | Self::ExtendType { .. }
            | Self::AllowNull { .. }
            | Self::ChangeDefault { .. }
            | Self::ChangeMerge { .. }
            | Self::DropUnique { .. }
            | Self::DropCheck { .. }
            | Self::ChangeOnMerge { .. }
            | Self::Reorder => StepClass::Untouched,
        }
    }

    /// The property that it is about, if it is about one.
    #[must_use]
    pub const fn property(&self) -> Option<&PropertyName> {
        match self {
            Self::AddProperty { property, .. }
            | Self::DropProperty { property }
            | Self::RenameProperty { property, .. }
            | Self::ChangeType { property, .. }
            | Self::ExtendType { property, .. }
            | Self::RequireValue { property }
            | Self::AllowNull { property }
            | Self::ChangeDefault { property, .. }
            | Self::ChangeMerge { property, .. }
            | Self::ChangeFill { property, .. } => Some(property),
            _ => None,
        }
    }
}
