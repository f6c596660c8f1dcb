use std::{borrow::Cow, ops::ControlFlow};

use jiff::Timestamp;

use super::{FrontmatterState, Row, RowBlock, RowField, RowHeading, RowItem, RowLink, RowTag};
use crate::{Object, Value};

/// A row that is simply there, for tests.
#[derive(Debug, Default)]
pub(crate) struct PlainRow {
    pub(crate) path: String,
    pub(crate) text: String,
    pub(crate) properties: Object,
    pub(crate) tags: Vec<String>,
    /// The targets of its links; those with a path lead there.
    pub(crate) links: Vec<(String, Option<String>)>,
    pub(crate) backlinks: Vec<String>,
}

impl PlainRow {
    pub(crate) fn with_properties(properties: &serde_json::Value) -> Self {
        let Value::Object(properties) = Value::from(properties) else { panic!("an object") };
        Self { properties, ..Self::default() }
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
        None
    }

    fn modified(&self) -> Option<Timestamp> {
        Some(Timestamp::UNIX_EPOCH)
    }

    fn content(&self) -> Option<Cow<'_, str>> {
        Some(Cow::Borrowed(&self.text))
    }

    fn frontmatter(&self) -> FrontmatterState {
        if self.properties.is_empty() { FrontmatterState::Absent } else { FrontmatterState::Read }
    }

    fn visit_properties(&self, visit: &mut dyn FnMut(&str, &dyn Fn() -> Value) -> ControlFlow<()>) {
        for (name, value) in &self.properties {
            if visit(name, &|| value.clone()).is_break() {
                return;
            }
        }
    }

    fn visit_tags<'r>(&'r self, visit: &mut dyn FnMut(RowTag<'r>) -> ControlFlow<()>) {
        for name in &self.tags {
            if visit(RowTag { name, in_properties: false, repeated: false }).is_break() {
                return;
            }
        }
    }

    fn aliases(&self) -> Vec<&str> {
        Vec::new()
    }

    fn headings(&self) -> Vec<RowHeading<'_>> {
        Vec::new()
    }

    fn blocks(&self) -> Vec<RowBlock<'_>> {
        Vec::new()
    }

    fn links(&self) -> Vec<RowLink<'_>> {
        let targets = self.links.iter().map(|(target, _)| target.as_str());
        targets
            .map(|target| RowLink { target, subpath: None, display: None, embed: false, line: 1, property: None })
            .collect()
    }

    fn resolve(&self, target: &str) -> Option<&str> {
        self.links.iter().find(|(known, _)| known == target).and_then(|(_, path)| path.as_deref())
    }

    fn backlinks(&self) -> Vec<&str> {
        self.backlinks.iter().map(String::as_str).collect()
    }

    fn items(&self) -> Vec<RowItem<'_>> {
        Vec::new()
    }

    fn fields(&self) -> Vec<RowField<'_>> {
        Vec::new()
    }
}
