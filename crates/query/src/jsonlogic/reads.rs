//! Which data a rule may read.

use std::collections::{BTreeMap, BTreeSet};

use crate::Value;

/// Which parts of the data a rule reads, as far as the rule itself shows.
#[derive(Debug, Default)]
pub(super) struct RuleReads {
    everything: bool,
    fields: BTreeMap<String, FieldParts>,
}

/// What a rule reads within a field.
#[derive(Debug)]
enum FieldParts {
    Whole,
    Some(BTreeSet<String>),
}

impl RuleReads {
    pub(super) fn has(&self, field: &str) -> bool {
        self.everything || self.fields.contains_key(field)
    }

    pub(super) fn has_part(&self, field: &str, part: &str) -> bool {
        self.everything
            || self.fields.get(field).is_some_and(|parts| match parts {
                FieldParts::Whole => true,
                FieldParts::Some(parts) => parts.contains(part),
            })
    }

    /// A computed name may be any name.
    pub(super) fn add(&mut self, names: &[Value]) {
        // Without a name, `var` is the whole data.
        if names.is_empty() {
            self.everything = true;
        }
        for name in names {
            match name {
                Value::Text(name) if !name.is_empty() => self.add_name(name),
                Value::List(names) => self.add(names),
                // An index: the data of a note is not a list.
                Value::Number(_) => {}
                _ => self.everything = true,
            }
        }
    }

    fn add_name(&mut self, name: &str) {
        let mut steps = name.split('.');
        let field = steps.next().unwrap_or_default().to_owned();
        let parts = self.fields.entry(field).or_insert_with(|| FieldParts::Some(BTreeSet::new()));
        match (steps.next(), parts) {
            // Read once as a whole, its parts no longer matter.
            (None, parts) => *parts = FieldParts::Whole,
            (Some(part), FieldParts::Some(parts)) => {
                parts.insert(part.to_owned());
            }
            (Some(_), FieldParts::Whole) => {}
        }
    }
}
