//! Methods of files and links.

use std::sync::Arc;

use super::{
    base_value::{BaseFileHandle, BaseLink, BaseValue},
    call_arguments::CallArguments,
    calls::{MethodAnswer, is_tag_within},
    evaluation::Evaluation,
    fault::BaseFault,
    frontmatter::link_text,
    known_name::KnownFunction,
    row_reading::find_property,
};
use lapidary_query::Row;

impl<'e> Evaluation<'e> {
    pub(super) fn file_method(
        &mut self,
        file: &Arc<BaseFileHandle>,
        function: KnownFunction,
        arguments: &CallArguments<'_>,
    ) -> MethodAnswer {
        let holds = match function {
            KnownFunction::AsLink => {
                arguments.count(0, 1)?;
                let display = match arguments.get(0) {
                    BaseValue::Null => None,
                    // An empty display is none: the link then shows the name of the file.
                    value => Some(arguments.clock.text(value).into_owned()).filter(|text| !text.is_empty()),
                };
                let link = BaseLink { target: file.path.to_string(), display, source: None };
                return Ok(Some(BaseValue::Link(Arc::new(link))));
            }
            KnownFunction::HasLink => {
                arguments.count(1, 1)?;
                self.has_link(file, arguments.get(0), arguments)?
            }
            KnownFunction::HasTag => {
                arguments.count(1, usize::MAX)?;
                let mut wanted = Vec::with_capacity(arguments.values.len());
                for at in 0..arguments.values.len() {
                    wanted.push(arguments.text(at, "values")?);
                }
                let has = |row: &dyn Row| {
                    let mut found = false;
                    row.visit_tags(&mut |tag| {
                        found = wanted.iter().any(|wanted| is_tag_within(tag.name, wanted));
                        if found { std::ops::ControlFlow::Break(()) } else { std::ops::ControlFlow::Continue(()) }
                    });
                    found
                };
                // A file that is gone has no tags.
                self.with_row(file, has).unwrap_or_default()
            }
            // By the path alone: a file that is gone from the vault still has one.
            KnownFunction::InFolder => {
                arguments.count(1, 1)?;
                is_in_folder(&file.path, &arguments.text(0, "folder")?)
            }
            KnownFunction::HasProperty => {
                arguments.count(1, 1)?;
                let wanted = arguments.text(0, "name")?.to_lowercase();
                self.with_row(file, |row| find_property(row, &wanted).0.is_some()).unwrap_or_default()
            }
            _ => return Ok(None),
        };
        Ok(Some(BaseValue::Boolean(holds)))
    }

    pub(super) fn link_method(
        &mut self,
        link: &Arc<BaseLink>,
        function: KnownFunction,
        arguments: &CallArguments<'_>,
    ) -> MethodAnswer {
        match function {
            KnownFunction::AsFile => {
                arguments.count(0, 0)?;
                Ok(Some(self.file(&BaseValue::Link(Arc::clone(link)))))
            }
            KnownFunction::LinksTo => {
                arguments.count(1, 1)?;
                let BaseValue::File(file) = self.file(&BaseValue::Link(Arc::clone(link))) else {
                    return Ok(Some(BaseValue::Boolean(false)));
                };
                let found = self.has_link(&file, arguments.get(0), arguments)?;
                Ok(Some(BaseValue::Boolean(found)))
            }
            _ => Ok(None),
        }
    }

    /// Whether a link or embed of a file leads to another: to the same file, or, where neither leads anywhere, written
    /// the same.
    fn has_link(
        &mut self,
        file: &BaseFileHandle,
        other: &BaseValue,
        arguments: &CallArguments<'_>,
    ) -> Result<bool, BaseFault> {
        let (target, number) = match other {
            BaseValue::File(other) => (other.path.to_string(), other.number),
            BaseValue::Link(other) => (other.path().to_owned(), self.resolved(&other.target, other.source.as_deref())),
            other if other.is_textual() => {
                let text = arguments.clock.text(other);
                // A text may be written as a link, or as what is in one.
                let inner = text.strip_prefix("[[").and_then(|text| text.strip_suffix("]]")).unwrap_or(&text);
                let link = link_text(inner, None);
                let number =
                    // A text is read as a link in this file, or as a path.
                    self.resolved(&link.target, Some(&file.path)).or_else(|| self.scope.vault.find(link.path()));
                (link.path().to_owned(), number)
            }
            _ => return Err(arguments.wrong_type(0, "otherFile", "File")),
        };
        // Compared by path and not by number: links of a row resolve to paths.
        let path = number.and_then(|number| self.handle(number)).map(|handle| Arc::clone(&handle.path));
        let leads_there = |row: &dyn Row| {
            row.links().iter().any(|link| match (&path, row.resolve(link.target)) {
                (Some(path), Some(resolved)) => **path == *resolved,
                // Two links to a note that does not exist yet are the same.
                (None, None) => !link.target.is_empty() && link.target == target,
                _ => false,
            })
        };
        Ok(self.with_row(file, leads_there).unwrap_or_default())
    }
}

/// Whether a file is in a folder or below it. Every file is in the folder without a name.
fn is_in_folder(path: &str, folder: &str) -> bool {
    let folder = folder.trim_matches('/');
    folder.is_empty() || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}
