//! Rows and their parts for tests.

use std::{borrow::Cow, ops::ControlFlow};

use jiff::Timestamp;
use lapidary_note::{LineTable, Link, LinkKind, Note, YamlValue};

use super::{
    FrontmatterState, NoteField, PropertyVisitor, Row, RowBlock, RowField, RowHeading, RowItem, RowLink, RowTag,
    note_fields, note_items,
};
use crate::{Number, Object, Value};

/// An in-memory row, for tests.
#[derive(Clone, Debug, Default)]
pub(crate) struct PlainRow {
    pub(crate) path: String,
    pub(crate) text: String,
    pub(crate) properties: Object,
    pub(crate) tags: Vec<String>,
    pub(crate) property_tags: Vec<String>,
    /// The targets of its links; those with a path lead there.
    pub(crate) links: Vec<(String, Option<String>)>,
    /// The links themselves, if they are more than their targets.
    pub(crate) whole_links: Vec<PlainLink>,
    pub(crate) backlinks: Vec<String>,
    pub(crate) aliases: Vec<String>,
    pub(crate) headings: Vec<(u8, usize, String)>,
    pub(crate) blocks: Vec<(String, usize)>,
    pub(crate) fields: Vec<NoteField>,
    pub(crate) created: Option<Timestamp>,
    pub(crate) modified: Option<Timestamp>,
    pub(crate) is_bookmarked: bool,
    pub(crate) is_excluded: bool,
}

/// A link with its own texts.
#[derive(Clone, Debug, Default)]
pub(crate) struct PlainLink {
    pub(crate) target: String,
    pub(crate) subpath: Option<String>,
    pub(crate) display: Option<String>,
    pub(crate) embed: bool,
    pub(crate) markdown: bool,
    pub(crate) line: usize,
    pub(crate) property: Option<String>,
}

impl PlainRow {
    #[cfg(test)]
    pub(crate) fn with_properties(properties: &serde_json::Value) -> Self {
        let Value::Object(properties) = Value::from(properties) else { panic!("an object") };
        Self { properties, ..Self::default() }
    }

    /// The structure of a note. Its links lead nowhere yet.
    pub(crate) fn parsed(path: &str, text: &str) -> Self {
        let note = Note::parse(text);
        let lines = LineTable::of(text);
        let items = note_items(&note, &lines);
        let properties = note.properties.as_deref().unwrap_or_default().iter();
        let link = |text: &str, link: &Link, line: usize, property: Option<&str>| PlainLink {
            target: link.target(text).into_owned(),
            subpath: link.subpath.clone().map(|span| text[span].to_owned()),
            display: link.alias.clone().map(|span| text[span].to_owned()),
            embed: link.embed,
            markdown: link.kind == LinkKind::Markdown,
            line,
            property: property.map(str::to_owned),
        };
        let in_properties = note.property_links();
        let in_properties = in_properties.iter().filter(|found| found.link.internal);
        let in_properties =
            in_properties.map(|found| link(&found.value, &found.link, lines.line(found.span.start), Some(&found.key)));
        // As the index leaves reference links out of rows.
        let in_text = note.links.iter().filter(|found| found.internal && found.kind != LinkKind::Reference);
        let in_text = in_text.map(|found| link(text, found, lines.line(found.span.start), None));
        Self {
            path: path.to_owned(),
            text: text.to_owned(),
            properties: properties.map(|entry| (entry.key.clone(), value(&entry.value.to_value()))).collect(),
            tags: distinct(note.tags.iter().map(|tag| text[tag.name()].to_owned())),
            property_tags: distinct(note.property_tags().iter().map(|tag| tag.name.clone())),
            whole_links: in_properties.chain(in_text).collect(),
            aliases: note.aliases().into_iter().map(str::to_owned).collect(),
            headings: note.headings.iter().map(|found| (found.level, found.line, found.text.clone())).collect(),
            blocks: note.blocks.iter().map(|block| (block.id.clone(), lines.line(block.marker.start))).collect(),
            fields: note_fields(&note, &items),
            ..Self::default()
        }
    }
}

fn distinct(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = std::collections::HashSet::new();
    names.filter(|name| seen.insert(name.clone())).collect()
}

fn value(yaml: &YamlValue) -> Value {
    match yaml {
        YamlValue::Null => Value::Null,
        YamlValue::Bool(value) => Value::Boolean(*value),
        YamlValue::Integer(number) => Value::Number(Number::Integer(*number)),
        YamlValue::Float(number) => Value::Number(Number::Float(*number)),
        YamlValue::Text(text) => Value::from(text.as_str()),
        YamlValue::List(items) => items.iter().map(value).collect(),
        YamlValue::Map(entries) => {
            Value::Object(entries.iter().map(|(key, entry)| (key.clone(), value(entry))).collect())
        }
    }
}

impl Row for PlainRow {
    fn path(&self) -> &str {
        &self.path
    }

    fn bytes(&self) -> u64 {
        self.text.len() as u64
    }

    fn created(&self) -> Option<Timestamp> {
        self.created
    }

    fn modified(&self) -> Option<Timestamp> {
        self.modified.or(Some(Timestamp::UNIX_EPOCH))
    }

    fn content(&self) -> Option<Cow<'_, str>> {
        Some(Cow::Borrowed(&self.text))
    }

    fn frontmatter(&self) -> FrontmatterState {
        if self.properties.is_empty() { FrontmatterState::Absent } else { FrontmatterState::Read }
    }

    fn visit_properties(&self, visit: &mut PropertyVisitor<'_>) {
        for (name, value) in &self.properties {
            if visit(name, &|| value.clone()).is_break() {
                return;
            }
        }
    }

    fn visit_tags<'r>(&'r self, visit: &mut dyn FnMut(RowTag<'r>) -> ControlFlow<()>) {
        let tags = self.property_tags.iter().map(|name| (name, true)).chain(self.tags.iter().map(|name| (name, false)));
        let mut seen = std::collections::HashSet::new();
        for (name, in_properties) in tags {
            let repeated = !seen.insert(name.to_lowercase());
            if visit(RowTag { name, in_properties, repeated }).is_break() {
                return;
            }
        }
    }

    fn aliases(&self) -> Vec<&str> {
        self.aliases.iter().map(String::as_str).collect()
    }

    fn headings(&self) -> Vec<RowHeading<'_>> {
        self.headings.iter().map(|(level, line, text)| RowHeading { level: *level, line: *line, text }).collect()
    }

    fn blocks(&self) -> Vec<RowBlock<'_>> {
        self.blocks.iter().map(|(id, line)| RowBlock { id, line: *line }).collect()
    }

    fn links(&self) -> Vec<RowLink<'_>> {
        if self.whole_links.is_empty() {
            let targets = self.links.iter().map(|(target, _)| target.as_str());
            return targets
                .map(|target| RowLink {
                    target,
                    subpath: None,
                    display: None,
                    embed: false,
                    markdown: false,
                    line: 1,
                    property: None,
                })
                .collect();
        }
        self.whole_links
            .iter()
            .map(|link| RowLink {
                target: &link.target,
                subpath: link.subpath.as_deref(),
                display: link.display.as_deref(),
                embed: link.embed,
                markdown: link.markdown,
                line: link.line,
                property: link.property.as_deref(),
            })
            .collect()
    }

    fn resolve(&self, target: &str) -> Option<&str> {
        self.links.iter().find(|(known, _)| known == target).and_then(|(_, path)| path.as_deref())
    }

    fn backlinks(&self) -> Vec<&str> {
        self.backlinks.iter().map(String::as_str).collect()
    }

    fn items(&self) -> Vec<RowItem<'_>> {
        note_items(&Note::parse(&self.text), &LineTable::of(&self.text))
    }

    fn visit_fields<'r>(&'r self, visit: &mut dyn FnMut(RowField<'r>)) {
        for NoteField { key, value, line, item, of_task } in &self.fields {
            visit(RowField { key, value, line: *line, item: *item, of_task: *of_task });
        }
    }

    fn is_bookmarked(&self) -> bool {
        self.is_bookmarked
    }

    fn is_excluded(&self) -> bool {
        self.is_excluded
    }
}
