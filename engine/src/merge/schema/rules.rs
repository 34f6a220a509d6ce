//! `UNIQUE`, `CHECK` and multiplicities: each rule is there or not, and goes by itself.

use std::collections::BTreeSet;

use crate::ids::PropertyId;

/// One rule.
pub(super) struct Rule<T, M> {
    /// As it stands in the schema.
    pub(super) declared: T,
    /// What it means: rules that mean the same are one.
    pub(super) means: M,
    /// The properties that it is about.
    pub(super) about: Vec<PropertyId>,
}

/// What rules may be about.
pub(super) struct Rules<'a> {
    /// The properties of the result.
    pub(super) there: &'a BTreeSet<PropertyId>,
    /// Those of them that one side dropped and that stay: rules about them went with them, and stay too.
    pub(super) kept: &'a BTreeSet<PropertyId>,
}

impl Rules<'_> {
    /// The rules of the result: the target's, then the source's.
    pub(super) fn merge<T: Clone, M: PartialEq>(
        &self,
        [source, target]: [&[Rule<T, M>]; 2],
        base: &[Rule<T, M>],
    ) -> Vec<T> {
        let has = |rules: &[Rule<T, M>], rule: &Rule<T, M>| rules.iter().any(|known| known.means == rule.means);
        let stays = |rule: &Rule<T, M>, other: &[Rule<T, M>]| {
            has(other, rule) || !has(base, rule) || rule.about.iter().any(|id| self.kept.contains(id))
        };
        let ours = target.iter().filter(|rule| stays(rule, source));
        let theirs = source.iter().filter(|rule| !has(target, rule) && stays(rule, target));
        let all = ours.chain(theirs).filter(|rule| rule.about.iter().all(|id| self.there.contains(id)));
        all.map(|rule| rule.declared.clone()).collect()
    }
}

/// Whether something holds that each side says or does not say: as who changed it has it, and without a base if either says it.
pub(super) fn one_of_both(source: bool, target: bool, base: Option<bool>) -> bool {
    match base {
        Some(base) if source == base => target,
        Some(base) if target == base => source,
        _ => source || target,
    }
}
