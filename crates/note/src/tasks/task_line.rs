//! The text of a task taken apart into what it says and its fields, and changes of its fields.

use std::ops::Range;

use super::{
    TaskField, TaskFieldKind,
    fields::{self, loose_fields, task_fields},
};
use crate::{
    blocks::{TrailingMarker, trailing_id},
    span::trim,
    tags::{is_space, tag_length},
};

/// How fields are written: `📅 2026-04-14` or `[due:: 2026-04-14]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskFieldStyle {
    Emoji,
    Dataview,
}

/// The text of a task: its line without marker and box.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskLine<'t> {
    text: &'t str,
    fields: Vec<TaskField>,
    block_id: Option<Range<usize>>,
}

/// The order in which the Tasks plugin writes fields.
const ORDER: [TaskFieldKind; 11] = [
    TaskFieldKind::Id,
    TaskFieldKind::DependsOn,
    TaskFieldKind::Priority,
    TaskFieldKind::Recurrence,
    TaskFieldKind::OnCompletion,
    TaskFieldKind::Created,
    TaskFieldKind::Start,
    TaskFieldKind::Scheduled,
    TaskFieldKind::Due,
    TaskFieldKind::Cancelled,
    TaskFieldKind::Done,
];

impl<'t> TaskLine<'t> {
    /// The fields that the Tasks plugin reads from the end of the line, and for kinds that are not there, those that
    /// Dataview finds anywhere in it.
    pub fn of(text: &'t str) -> Self {
        let whole = trim(text, 0..text.len());
        let block_id = match trailing_id(text, whole.clone(), &[], &[]) {
            Some(TrailingMarker::Behind(marker)) => Some(marker),
            _ => None,
        };
        let mut fields = task_fields(text, whole.clone());
        // Before the fields at the end, where only Dataview looks.
        let loose = loose_fields(text, whole.start..fields.first().map_or(whole.end, |field| field.span.start));
        for field in loose {
            // The plugin's fields win: what is at the end of the line is what it would read.
            if fields.iter().all(|known| known.kind != field.kind) {
                fields.push(field);
            }
        }
        fields.sort_by_key(|field| field.span.start);
        Self { text, fields, block_id }
    }

    /// In the order of the text.
    pub fn fields(&self) -> &[TaskField] {
        &self.fields
    }

    /// The value of a field: a date, a rule, ids, or the sign or word of a priority. If a line has a field twice, the
    /// last counts, as for the Tasks plugin.
    pub fn value(&self, kind: TaskFieldKind) -> Option<&'t str> {
        self.field(kind).map(|field| &self.text[field.value.clone()])
    }

    fn field(&self, kind: TaskFieldKind) -> Option<&TaskField> {
        self.fields.iter().rfind(|field| field.kind == kind)
    }

    /// Without its `^`.
    pub fn block_id(&self) -> Option<&'t str> {
        self.block_id.clone().map(|marker| &self.text[marker.start + 1..marker.end])
    }

    /// The tags in it, without `#`.
    pub fn tags(&self) -> impl Iterator<Item = &'t str> {
        let words = self.text.split(is_space);
        // A tag begins a word here, unlike in the text of a note.
        words.filter_map(|word| word.strip_prefix('#')).filter_map(|rest| {
            let name = &rest[..tag_length(rest)];
            (!name.is_empty()).then_some(name)
        })
    }

    /// The notation of its fields, by the last one; `None` if it has none.
    pub fn style(&self) -> Option<TaskFieldStyle> {
        self.fields.last().map(|field| self.style_of(field))
    }

    fn style_of(&self, field: &TaskField) -> TaskFieldStyle {
        match self.text.as_bytes().get(field.span.start) {
            Some(b'[' | b'(') => TaskFieldStyle::Dataview,
            _ => TaskFieldStyle::Emoji,
        }
    }

    /// What it says, without fields and block id.
    pub fn description(&self) -> String {
        let mut description = String::new();
        let mut at = 0;
        let cut = self.fields.iter().map(|field| field.span.clone()).chain(self.block_id.clone());
        // The end of the text closes the last part.
        for span in cut.chain(std::iter::once(self.text.len()..self.text.len())) {
            let part = self.text.get(at..span.start).unwrap_or_default().trim();
            if !part.is_empty() {
                description += if description.is_empty() { "" } else { " " };
                description += part;
            }
            at = span.end;
        }
        description
    }

    /// The same text with another value of a field, or without it. A new field is written in this style, in the place
    /// that the Tasks plugin gives it.
    pub fn with(&self, kind: TaskFieldKind, value: Option<&str>, style: TaskFieldStyle) -> String {
        let (field, text) = (self.field(kind), self.text);
        match (field, value) {
            (None, None) => text.to_owned(),
            (Some(field), Some(value)) => {
                // In the notation that the field has, whatever the style of the line is.
                let value = written_value(kind, value, self.style_of(field));
                format!("{}{value}{}", &text[..field.value.start], &text[field.value.end..])
            }
            (Some(field), None) => self.without(field),
            (None, Some(value)) => {
                let (written, gap) = (written(kind, value, style), gap(style));
                let rank = |kind| ORDER.iter().position(|known| *known == kind);
                // Fields in the middle of the text have no order.
                let last = task_fields(text, trim(text, 0..text.len()));
                // Before the first field that the plugin would write later.
                match last.iter().find(|other| rank(other.kind) > rank(kind)) {
                    Some(next) => {
                        let at = next.span.start;
                        format!("{}{written}{gap}{}", &text[..at], &text[at..])
                    }
                    None => {
                        let end = self.block_id.as_ref().map_or(text.len(), |marker| marker.start);
                        let end = text[..end].trim_end().len();
                        let gap = if end == 0 { "" } else { gap };
                        // Text before a block id already has a blank behind it.
                        format!("{}{gap}{written}{}", &text[..end], &text[end..])
                    }
                }
            }
        }
    }

    /// The blank that was written with a field goes with it.
    fn without(&self, field: &TaskField) -> String {
        let (before, behind) = (&self.text[..field.span.start], &self.text[field.span.end..]);
        let gap = gap(self.style_of(field));
        // Either notation may have been written with a single blank by hand.
        match before.strip_suffix(gap).or_else(|| before.strip_suffix(' ')) {
            Some(before) => format!("{before}{behind}"),
            // A field at the start of the text has its gap behind it.
            None => format!("{before}{}", behind.strip_prefix(gap).unwrap_or(behind)),
        }
    }

    /// The same fields and block id behind another description. `None` if a field is in the middle of the text.
    pub fn with_description(&self, description: &str) -> Option<String> {
        let fields = task_fields(self.text, trim(self.text, 0..self.text.len()));
        // A field in the middle of the text cannot be kept apart from it.
        if fields.len() != self.fields.len() {
            return None;
        }
        let first = fields.first().map(|field| field.span.start);
        let end = first.or(self.block_id.as_ref().map(|marker| marker.start)).unwrap_or(self.text.len());
        let end = self.text[..end].trim_end().len();
        // White space at the start belongs to the line and stays.
        let start = self.text.len() - self.text.trim_start().len();
        Some(format!("{}{description}{}", &self.text[..start.min(end)], &self.text[end..]))
    }
}

/// What the plugins write before a field.
fn gap(style: TaskFieldStyle) -> &'static str {
    match style {
        TaskFieldStyle::Emoji => " ",
        TaskFieldStyle::Dataview => "  ",
    }
}

fn written(kind: TaskFieldKind, value: &str, style: TaskFieldStyle) -> String {
    let value = written_value(kind, value, style);
    match (style, kind) {
        (TaskFieldStyle::Emoji, TaskFieldKind::Priority) => value.to_owned(),
        (TaskFieldStyle::Emoji, _) => format!("{} {value}", fields::sign_of(kind)),
        (TaskFieldStyle::Dataview, _) => format!("[{}:: {value}]", fields::key_of(kind)),
    }
}

/// A priority is a word in one notation and a sign in the other.
fn written_value(kind: TaskFieldKind, value: &str, style: TaskFieldStyle) -> &str {
    let priority = (kind == TaskFieldKind::Priority).then(|| TaskPriority::read(value)).flatten();
    match (priority, style) {
        (Some(priority), TaskFieldStyle::Emoji) => priority.sign(),
        (Some(priority), TaskFieldStyle::Dataview) => priority.name(),
        (None, _) => value,
    }
}

/// The priorities of the Tasks plugin. A task without one is between medium and low.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TaskPriority {
    Highest,
    High,
    Medium,
    Low,
    Lowest,
}

impl TaskPriority {
    pub const ALL: [Self; 5] = [Self::Highest, Self::High, Self::Medium, Self::Low, Self::Lowest];

    /// From its sign or its word.
    pub fn read(value: &str) -> Option<Self> {
        // Some keyboards add a selector that asks for the coloured form.
        let value = value.trim_end_matches('\u{fe0f}');
        Self::ALL.into_iter().find(|one| one.sign() == value || one.name().eq_ignore_ascii_case(value))
    }

    pub fn sign(self) -> &'static str {
        match self {
            Self::Highest => "🔺",
            Self::High => "⏫",
            Self::Medium => "🔼",
            Self::Low => "🔽",
            Self::Lowest => "⏬",
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Highest => "highest",
            Self::High => "high",
            Self::Medium => "medium",
            Self::Low => "low",
            Self::Lowest => "lowest",
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_line_is_what_it_says_and_its_fields() {
        for (line, description, due, id) in [
            ("Call Ruth 📅 2026-04-14", "Call Ruth", Some("2026-04-14"), None),
            ("Call 📅 2026-04-14 Ruth ^b1", "Call Ruth", Some("2026-04-14"), Some("b1")),
            ("Call [due:: 2026-04-14] Ruth", "Call Ruth", Some("2026-04-14"), None),
            ("Call (due:: 2026-04-14)", "Call", Some("2026-04-14"), None),
            ("📅 2026-01-01 x 📅 2026-01-02", "📅 2026-01-01 x", Some("2026-01-02"), None),
            ("see [[due:: x]] and [due:: soon]", "see [[due:: x]] and [due:: soon]", None, None),
            ("plain", "plain", None, None),
            ("", "", None, None),
        ] {
            let task = TaskLine::of(line);
            assert_eq!(task.description(), description, "{line}");
            assert_eq!((task.value(TaskFieldKind::Due), task.block_id()), (due, id), "{line}");
        }
    }

    #[test]
    fn fields_are_written_where_the_plugins_write_them() {
        use TaskFieldKind::{Done, Due, Priority, Start};
        use TaskFieldStyle::{Dataview, Emoji};
        for (line, kind, value, style, expected) in [
            ("a", Due, Some("2026-01-02"), Emoji, "a 📅 2026-01-02"),
            ("a", Due, Some("2026-01-02"), Dataview, "a  [due:: 2026-01-02]"),
            ("a 📅 2026-01-02", Start, Some("2026-01-01"), Emoji, "a 🛫 2026-01-01 📅 2026-01-02"),
            ("a 📅 2026-01-02 ^id", Done, Some("2026-01-03"), Emoji, "a 📅 2026-01-02 ✅ 2026-01-03 ^id"),
            ("a [due:: 2026-01-02] b", Due, Some("2026-02-02"), Emoji, "a [due:: 2026-02-02] b"),
            ("a ⏫ 📅 2026-01-02", Priority, Some("low"), Dataview, "a 🔽 📅 2026-01-02"),
            ("a  [priority:: high]", Priority, Some("lowest"), Emoji, "a  [priority:: lowest]"),
            ("a 📅 2026-01-02 ✅ 2026-01-03", Due, None, Emoji, "a ✅ 2026-01-03"),
            ("a  [due:: 2026-01-02]", Due, None, Emoji, "a"),
            ("📅 2026-01-02", Due, None, Emoji, ""),
            ("", Due, Some("2026-01-02"), Emoji, "📅 2026-01-02"),
        ] {
            assert_eq!(TaskLine::of(line).with(kind, value, style), expected, "{line}");
        }
    }

    #[test]
    fn another_description_keeps_the_fields() {
        for (line, expected) in [
            ("old 📅 2026-01-02 ^id", Some("new 📅 2026-01-02 ^id")),
            ("old ^id", Some("new ^id")),
            ("old  ", Some("new  ")),
            ("", Some("new")),
            ("a [due:: 2026-01-02] b", None),
        ] {
            assert_eq!(TaskLine::of(line).with_description("new").as_deref(), expected, "{line}");
        }
    }

    proptest! {
        #[test]
        fn a_new_field_that_is_removed_leaves_the_same_text(
            line in "[a-z \\[\\]()#^:📅⏳🛫✅⏫🔁🆔0-9-]{0,40}",
            dataview in any::<bool>(),
        ) {
            let style = if dataview { TaskFieldStyle::Dataview } else { TaskFieldStyle::Emoji };
            let line = line.trim();
            let task = TaskLine::of(line);
            prop_assume!(task.value(TaskFieldKind::Done).is_none());
            let ticked = task.with(TaskFieldKind::Done, Some("2026-01-02"), style);
            let done = TaskLine::of(&ticked);
            prop_assert_eq!(done.value(TaskFieldKind::Done), Some("2026-01-02"));
            prop_assert_eq!(done.with(TaskFieldKind::Done, None, style), line);
        }
    }
}
