//! One property that both sides have.

use super::rules::one_of_both;
use super::{Subject, Work};
use crate::error::SchemaClash;
use crate::merge::choice::{Choice, choose};
use crate::merge::row::Side;
use crate::schema::{Fit, JsonText, MergePolicy, PropertyDef, Type, fit};

impl Work<'_> {
    /// What the definitions of both sides come to.
    pub(super) fn property(
        &mut self,
        subject: Subject,
        source: &PropertyDef,
        target: &PropertyDef,
        base: Option<&PropertyDef>,
    ) -> PropertyDef {
        let name = self.pick(
            (subject, SchemaClash::Name),
            [&source.name, &target.name],
            base.map(|base| &base.name),
            |name| Some(name.clone()),
        );
        let default = self.pick(
            (subject, SchemaClash::Default),
            [&source.default, &target.default],
            base.map(|base| &base.default),
            |default| default.as_ref().map(|json| json.raw().get().to_owned()),
        );
        let merge = self.pick(
            (subject, SchemaClash::Policy),
            [&source.merge, &target.merge],
            base.map(|base| &base.merge),
            |policy| policy.map(policy_name),
        );
        let not_null = one_of_both(source.not_null, target.not_null, base.map(|base| base.not_null));
        let ty = self.ty(subject, source, target, base);
        let column = |property: &PropertyDef| (property.field, property.item_field);
        let columns: Vec<_> = base.map(column).into_iter().collect();
        let in_order = match choose(&column(source), &column(target), &columns) {
            Choice::TakeSource => [source, target],
            Choice::Keep | Choice::BothMoved => [target, source],
        };
        // The column has to hold values of this type, and what older rows have is spelled for it.
        let holds = |property: &&PropertyDef| fit(&property.ty, &ty) == Fit::Alike;
        let holder = in_order.into_iter().find(holds).unwrap_or(target);
        let fill = fill(source, target, base, holder);
        PropertyDef {
            id: target.id,
            also: Vec::new(),
            field: holder.field,
            item_field: holder.item_field,
            name,
            ty,
            not_null,
            default,
            fill,
            merge,
        }
    }

    fn ty(&mut self, subject: Subject, source: &PropertyDef, target: &PropertyDef, base: Option<&PropertyDef>) -> Type {
        let bases: Vec<Type> = base.map(|base| base.ty.clone()).into_iter().collect();
        match choose(&source.ty, &target.ty, &bases) {
            Choice::Keep => return target.ty.clone(),
            Choice::TakeSource => return source.ty.clone(),
            Choice::BothMoved => {}
        }
        if fit(&source.ty, &target.ty) != Fit::No {
            return target.ty.clone();
        }
        if fit(&target.ty, &source.ty) != Fit::No {
            return source.ty.clone();
        }
        if let Some(both) = base.and_then(|base| labels_of_both(&base.ty, &source.ty, &target.ty)) {
            return both;
        }
        let told = [base.map(|base| base.ty.to_string()), Some(source.ty.to_string()), Some(target.ty.to_string())];
        match self.ask(subject, SchemaClash::Type, None, told) {
            Side::Source => source.ty.clone(),
            Side::Target => target.ty.clone(),
        }
    }
}

/// An enum that both sides extended: the target's labels, then those that only the source added.
fn labels_of_both(base: &Type, source: &Type, target: &Type) -> Option<Type> {
    let (Type::Enum(base), Type::Enum(theirs), Type::Enum(ours)) = (base, source, target) else { return None };
    if !theirs.starts_with(base) || !ours.starts_with(base) {
        return None;
    }
    let mut labels = ours.clone();
    labels.extend(theirs.iter().filter(|label| !ours.contains(label)).cloned());
    Some(Type::Enum(labels))
}

/// What older rows have: as who changed it says; else as the side says whose column it is.
fn fill(
    source: &PropertyDef,
    target: &PropertyDef,
    base: Option<&PropertyDef>,
    holder: &PropertyDef,
) -> Option<JsonText> {
    let bases: Vec<_> = base.map(|base| base.fill.clone()).into_iter().collect();
    match choose(&source.fill, &target.fill, &bases) {
        Choice::Keep => target.fill.clone(),
        Choice::TakeSource => source.fill.clone(),
        Choice::BothMoved => holder.fill.clone(),
    }
}

fn policy_name(policy: MergePolicy) -> String {
    let name = match policy {
        MergePolicy::Sum => "sum",
        MergePolicy::Max => "max",
        MergePolicy::Min => "min",
        MergePolicy::Union => "union",
        MergePolicy::LastWriter => "last_writer",
    };
    name.to_owned()
}
