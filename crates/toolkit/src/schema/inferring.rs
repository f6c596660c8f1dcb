//! A schema that the notes of a type already follow, for the most part.

use std::collections::BTreeMap;

use lapidary_note::count_steps;
use lapidary_operation::{Context, Reason};
use lapidary_query::Value;
use lapidary_vault::{VaultPath, View};

use super::{MismatchResponse, NoteFacts, NoteSchema, NoteType, PropertyRule, accepts, checking::is_checked, shown};
use crate::{index, property_kinds::PropertyKind};

/// A property of fewer notes than half is not typical.
const TYPICAL: f64 = 0.5;
/// What nearly all notes have is meant; the rest are slips.
const NEARLY_ALL: f64 = 0.95;
/// More different values are not a choice.
const MOST_CHOICES: usize = 10;
/// Each value of a choice is used this often on average.
const USES_OF_CHOICE: usize = 4;
/// From fewer notes, headings are a coincidence.
const FEWEST_FOR_HEADINGS: usize = 5;
const MOST_HEADINGS: usize = 10;
/// Lists that Obsidian itself uses.
const OWN_PROPERTIES: [&str; 3] = ["tags", "aliases", "cssclasses"];

/// What the notes of a type have in common.
pub struct InferredSchema {
    pub schema: NoteSchema,
    pub notes: usize,
    /// How many of them fit the schema as they are.
    pub fit: usize,
    /// All properties, the most used first, also those that are not in the schema.
    pub properties: Vec<InferredProperty>,
    pub headings: Vec<InferredHeading>,
    /// Some notes that do not fit.
    pub differing: Vec<VaultPath>,
}

pub struct InferredProperty {
    pub name: String,
    /// Notes with a value.
    pub notes: usize,
    pub kinds: BTreeMap<PropertyKind, usize>,
}

pub struct InferredHeading {
    pub text: String,
    pub notes: usize,
}

const SHOWN_DIFFERING: usize = 5;
/// Of a long note, the first headings show its type.
const MOST_OF_NOTE: usize = 50;
/// More different headings say nothing about a type.
const MOST_COUNTED: usize = 10_000;

/// What was counted of a property.
#[derive(Default)]
struct CountedProperty {
    name: String,
    notes: usize,
    kinds: BTreeMap<PropertyKind, usize>,
    /// How often each value occurs; none if there are too many to be a choice.
    values: Option<BTreeMap<String, usize>>,
}

/// Looks at the notes that the caller may read.
pub fn infer(
    context: &Context<'_>,
    view: &View,
    notes: NoteType,
    on_mismatch: MismatchResponse,
) -> Result<InferredSchema, Reason> {
    let mut count = NoteCount::default();
    each_note(context, view, &notes, |_, facts| count.add(facts))?;
    let NoteCount { notes: total, properties, headings } = count;
    let (properties, headings) = (most_used(properties, |it| it.notes), most_used(headings, |it| it.notes));
    // What selects the notes is the same in all of them and needs no rule.
    let selects = |name: &str| notes.properties.iter().any(|(property, _)| property.eq_ignore_ascii_case(name));
    let rules = properties.iter().filter(|property| !selects(&property.name));
    let rules: Vec<PropertyRule> = rules.filter_map(|property| property.rule(total)).collect();
    let is_common = |it: &&InferredHeading| total >= FEWEST_FOR_HEADINGS && share(it.notes, total) >= NEARLY_ALL;
    let common = headings.iter().filter(is_common).take(MOST_HEADINGS).map(|it| it.text.clone()).collect();
    let schema = NoteSchema { notes, on_mismatch, properties: rules, headings: common };
    let (mut fit, mut differing) = (0, Vec::new());
    // Once more, since the schema is known only after all notes were counted.
    each_note(context, view, &schema.notes, |path, facts| match schema.problems(path, facts).is_empty() {
        true => fit += 1,
        false if differing.len() < SHOWN_DIFFERING => differing.push(path.clone()),
        false => {}
    })?;
    let shown = |CountedProperty { name, notes, kinds, .. }| InferredProperty { name, notes, kinds };
    Ok(InferredSchema {
        notes: total,
        fit,
        differing,
        properties: properties.into_iter().map(shown).collect(),
        headings: headings.into_iter().filter(|heading| share(heading.notes, total) >= TYPICAL).collect(),
        schema,
    })
}

/// Visits the notes of a type, one after the other: together their properties may be large.
fn each_note(
    context: &Context<'_>,
    view: &View,
    notes: &NoteType,
    mut visit: impl FnMut(&VaultPath, &NoteFacts),
) -> Result<(), Reason> {
    let visible = index::notes(context, view)?;
    for entry in visible.iter().filter(|entry| is_checked(context, entry.path())) {
        context.check()?;
        // The path is cheaper to look at than the properties.
        if notes.folder.as_ref().is_some_and(|folder| !folder.covers(entry.path())) {
            continue;
        }
        let facts = NoteFacts::of_entry(visible, &entry);
        if notes.includes(entry.path(), &facts) {
            visit(entry.path(), &facts);
        }
    }
    Ok(())
}

/// What was counted, by name in small letters.
#[derive(Default)]
struct NoteCount {
    notes: usize,
    properties: BTreeMap<String, CountedProperty>,
    headings: BTreeMap<String, InferredHeading>,
}

impl NoteCount {
    fn add(&mut self, facts: &NoteFacts) {
        self.notes += 1;
        for (name, value) in &facts.properties {
            count_steps(16);
            let new = || CountedProperty { name: name.clone(), values: Some(BTreeMap::new()), ..Default::default() };
            self.properties.entry(name.to_lowercase()).or_insert_with(new).add(value);
        }
        let mut seen: Vec<String> = Vec::new();
        for heading in facts.headings.iter().take(MOST_OF_NOTE) {
            count_steps(16);
            let key = heading.trim().to_lowercase();
            // A note that has it twice counts once.
            let is_new = !key.is_empty() && !seen.contains(&key);
            if is_new && (self.headings.len() < MOST_COUNTED || self.headings.contains_key(&key)) {
                let new = || InferredHeading { text: heading.trim().to_owned(), notes: 0 };
                self.headings.entry(key.clone()).or_insert_with(new).notes += 1;
                seen.push(key);
            }
        }
    }
}

/// In order of use, and by name among equals, because the sort is stable.
fn most_used<T>(counted: BTreeMap<String, T>, notes: impl Fn(&T) -> usize) -> Vec<T> {
    let mut found: Vec<T> = counted.into_values().collect();
    found.sort_by_key(|it| std::cmp::Reverse(notes(it)));
    found
}

#[expect(clippy::cast_precision_loss, reason = "numbers of notes are small")]
fn share(part: usize, of: usize) -> f64 {
    if of == 0 { 0.0 } else { part as f64 / of as f64 }
}

impl CountedProperty {
    fn add(&mut self, value: &Value) {
        let kind = PropertyKind::of(value);
        *self.kinds.entry(kind).or_default() += 1;
        if kind == PropertyKind::Empty {
            return;
        }
        self.notes += 1;
        let single = std::slice::from_ref(value);
        let items = if let Value::List(items) = value { &items[..] } else { single };
        let Some(values) = &mut self.values else { return };
        for item in items {
            match item {
                Value::Text(text) if !text.trim().is_empty() => *values.entry(shown(item)).or_default() += 1,
                _ => {}
            }
        }
        if values.len() > MOST_CHOICES {
            self.values = None;
        }
    }

    /// The kind that nearly all values have.
    fn kind(&self) -> Option<PropertyKind> {
        let filled = self.kinds.iter().filter(|(kind, _)| **kind != PropertyKind::Empty);
        let (usual, _) = filled.clone().max_by_key(|(_, notes)| **notes)?;
        let agreeing: usize = filled.filter(|(kind, _)| accepts(*usual, **kind)).map(|(_, notes)| notes).sum();
        (share(agreeing, self.notes) >= NEARLY_ALL).then_some(*usual)
    }

    fn rule(&self, total: usize) -> Option<PropertyRule> {
        if OWN_PROPERTIES.contains(&self.name.to_lowercase().as_str()) || share(self.notes, total) < TYPICAL {
            return None;
        }
        let kind = self.kind();
        let uses = |values: &BTreeMap<String, usize>| values.values().sum::<usize>();
        let is_choice = |values: &&BTreeMap<String, usize>| {
            matches!(kind, Some(PropertyKind::Text | PropertyKind::List))
                && !values.is_empty()
                && uses(values) >= USES_OF_CHOICE * values.len()
        };
        let values = self.values.as_ref().filter(is_choice);
        let values = values.map(|values| values.keys().cloned().collect()).unwrap_or_default();
        let required = share(self.notes, total) >= NEARLY_ALL;
        Some(PropertyRule { name: self.name.clone(), kind, required, values })
    }
}
