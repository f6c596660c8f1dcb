//! The path of a property, such as `author.name`.

use std::fmt;

use super::PropertyError;
use crate::{YamlValue, yaml::MAX_DEPTH};

/// The path of a property: names of maps and positions in lists, from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyPath {
    parent: Vec<String>,
    last: String,
}

impl PropertyPath {
    /// One top-level property, with any characters in its name.
    pub fn name(name: &str) -> Self {
        Self { parent: Vec::new(), last: name.to_owned() }
    }

    /// Parses `a.b.0`; a dot within a name is written `\.`.
    pub fn parse(path: &str) -> Result<Self, PropertyError> {
        let mut segments = vec![String::new()];
        let mut characters = path.chars().peekable();
        while let Some(c) = characters.next() {
            match (c, segments.last_mut()) {
                ('.', _) => segments.push(String::new()),
                ('\\', Some(segment)) => match characters.next_if(|next| matches!(next, '.' | '\\')) {
                    Some(next) => segment.push(next),
                    // Any other backslash is part of the name.
                    None => segment.push('\\'),
                },
                (c, Some(segment)) => segment.push(c),
                (_, None) => {}
            }
        }
        // As deep as a value that can be read back.
        if segments.len() > MAX_DEPTH {
            return Err(PropertyError::TooDeep { limit: MAX_DEPTH });
        }
        Self::of(segments).ok_or_else(|| PropertyError::BadPath { path: path.to_owned() })
    }

    /// The path with these names and positions; `None` if one of them is empty or there are none.
    pub fn of(mut segments: Vec<String>) -> Option<Self> {
        if segments.iter().any(String::is_empty) {
            return None;
        }
        let last = segments.pop()?;
        Some(Self { parent: segments, last })
    }

    pub fn segments(&self) -> impl Iterator<Item = &str> {
        self.parent.iter().chain(std::iter::once(&self.last)).map(String::as_str)
    }

    /// The nesting depth of a value at this path.
    pub(super) fn depth(&self) -> usize {
        self.parent.len() + 1
    }

    pub(super) fn parent(&self) -> &[String] {
        &self.parent
    }

    pub(super) fn last(&self) -> &str {
        &self.last
    }

    /// The path of the outermost map or list that would be empty without this value; itself if none would.
    #[must_use]
    pub fn with_what_it_leaves_empty(&self, properties: &YamlValue) -> Self {
        let mut widest = self.clone();
        while let Some(above) = Self::of(widest.parent.clone()) {
            let only = match above.find(properties) {
                Some(YamlValue::Map(entries)) => entries.len() == 1 && entries[0].0 == widest.last,
                Some(YamlValue::List(items)) => items.len() == 1 && widest.last == "0",
                _ => false,
            };
            if !only {
                break;
            }
            widest = above;
        }
        widest
    }

    /// The same path as the properties spell it: Obsidian treats names that differ only in case as the same, and a name
    /// may contain the dots of a path.
    #[must_use]
    pub fn among(&self, properties: &YamlValue) -> Self {
        let (YamlValue::Map(entries), None) = (properties, self.find(properties)) else { return self.clone() };
        let whole = self.segments().collect::<Vec<_>>().join(".");
        // The exact name first: `a.b` may be one property.
        if !self.parent.is_empty() && entries.iter().any(|(name, _)| *name == whole) {
            return Self::name(&whole);
        }
        let first = self.segments().next().unwrap_or_default();
        let folded = first.to_lowercase();
        let mut alike = entries.iter().map(|(name, _)| name).filter(|name| name.to_lowercase() == folded);
        match (alike.next(), alike.next()) {
            // Only if there is one: of two that differ in case, neither is meant more.
            (Some(name), None) => {
                let rest = self.segments().skip(1).map(str::to_owned);
                Self::of(std::iter::once(name.clone()).chain(rest).collect()).unwrap_or_else(|| self.clone())
            }
            _ => self.clone(),
        }
    }

    /// The value it leads to.
    pub fn find<'v>(&self, properties: &'v YamlValue) -> Option<&'v YamlValue> {
        self.segments().try_fold(properties, |value, segment| match value {
            YamlValue::Map(entries) => entries.iter().find(|(name, _)| name == segment).map(|(_, value)| value),
            YamlValue::List(items) => position(segment).and_then(|at| items.get(at)),
            _ => None,
        })
    }
}

impl fmt::Display for PropertyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, segment) in self.segments().enumerate() {
            let dot = if index == 0 { "" } else { "." };
            write!(f, "{dot}{}", segment.replace('\\', "\\\\").replace('.', "\\."))?;
        }
        Ok(())
    }
}

/// A position in a list, as a path says it.
pub(super) fn position(segment: &str) -> Option<usize> {
    // Digits alone, as `parse` would also take a sign.
    segment.bytes().all(|byte| byte.is_ascii_digit()).then(|| segment.parse().ok())?
}
