//! What a row says of its file.

use std::{borrow::Cow, ops::ControlFlow, sync::Arc};

use super::{
    base_date::BaseDate,
    base_value::{BaseFileHandle, BaseLink, BaseObject, BaseValue},
    evaluation::{Evaluated, Evaluation},
    frontmatter::PropertyPlace,
    known_name::FileField,
};
use lapidary_query::{Row, RowLink, RowNumber, Value};

/// The first property of a name in any case, and how many were looked at. The wanted name is in lower case.
pub(super) fn find_property(row: &dyn Row, wanted: &str) -> (Option<Value>, usize) {
    let (mut found, mut seen) = (None, 0);
    row.visit_properties(&mut |name, value| {
        seen += 1;
        if same_name(name, wanted) {
            found = Some(value());
            // The rest of the properties need not be read.
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    });
    (found, seen)
}

fn same_name(name: &str, lower: &str) -> bool {
    name.eq_ignore_ascii_case(lower) || (!name.is_ascii() && name.to_lowercase() == lower)
}

/// The file of a row, made once.
pub(super) fn handle_of(known: &mut Option<Arc<BaseFileHandle>>, number: RowNumber, path: &str) -> Arc<BaseFileHandle> {
    let make = || Arc::new(BaseFileHandle { path: path.into(), number: Some(number), is_this: false });
    known.get_or_insert_with(make).clone()
}

impl<'e> Evaluation<'e> {
    /// A field of the row's file.
    pub(super) fn row_field(&mut self, field: FileField) -> Evaluated {
        if field == FileField::File {
            return Ok(self.row_handle().map_or(BaseValue::Null, BaseValue::File));
        }
        match self.row_at_hand() {
            Some(row) => Ok(self.field_of_row(row, field)),
            None => Ok(BaseValue::Null),
        }
    }

    /// A field of any file.
    pub(super) fn file_field(&mut self, handle: &Arc<BaseFileHandle>, field: FileField) -> Evaluated {
        if field == FileField::File {
            // `this.file` is a plain file like any other; only `this` itself reads properties by its fields.
            let file = BaseFileHandle { is_this: false, ..(**handle).clone() };
            return Ok(BaseValue::File(Arc::new(file)));
        }
        let value = self.with_row(handle, |row| self.field_of_row(row, field));
        Ok(value.or_else(|| field_of_path(&handle.path, field)).unwrap_or_default())
    }

    fn field_of_row(&self, row: &dyn Row, field: FileField) -> BaseValue {
        let zone = &self.scope.clock.zone;
        let date =
            |moment: Option<jiff::Timestamp>| moment.map_or(BaseValue::Null, |at| BaseValue::Date(BaseDate::at(at)));
        match field {
            // Not every file system knows when a file was made.
            FileField::Created => date(row.created().or_else(|| row.modified())),
            FileField::Modified => date(row.modified()),
            #[expect(clippy::cast_precision_loss, reason = "no file is so large")]
            FileField::Size => BaseValue::Number(row.bytes() as f64),
            FileField::Links => BaseValue::list(links_of(row, false)),
            FileField::Embeds => BaseValue::list(links_of(row, true)),
            FileField::Backlinks => BaseValue::list(self.backlinks(row)),
            FileField::Tags => {
                let tags = row.tags().into_iter().filter(|tag| !tag.repeated);
                BaseValue::list(tags.map(|tag| BaseValue::Tag(tag.name.into())).collect())
            }
            FileField::Properties => {
                let place = PropertyPlace { zone, source: &|| row.path().into() };
                let mut entries = BaseObject::new();
                row.visit_properties(&mut |name, value| {
                    entries.insert(name.to_owned(), place.property(name, value()));
                    ControlFlow::Continue(())
                });
                BaseValue::Object(Arc::new(entries))
            }
            field => field_of_path(row.path(), field).unwrap_or_default(),
        }
    }

    /// All properties of a file's note.
    pub(super) fn properties_of(&self, handle: &BaseFileHandle) -> BaseValue {
        let properties = self.with_row(handle, |row| self.field_of_row(row, FileField::Properties));
        properties.unwrap_or_else(|| BaseValue::Object(Arc::new(BaseObject::new())))
    }

    /// A property of any file's note.
    pub(super) fn property_of(&self, handle: &BaseFileHandle, name: &str) -> Option<BaseValue> {
        let wanted = name.to_lowercase();
        let read = |row: &dyn Row| {
            let value = find_property(row, &wanted).0?;
            let place = PropertyPlace { zone: &self.scope.clock.zone, source: &|| row.path().into() };
            Some(place.property(&wanted, value))
        };
        self.with_row(handle, read).flatten()
    }

    /// One link for each file, shown by its name. The app has them in the order in which it met the files.
    fn backlinks(&self, row: &dyn Row) -> Vec<BaseValue> {
        let vault = self.scope.vault;
        // Files that were there first were met first, so this comes close to the order of the app and is the same in
        // every run.
        let created = |path: &str| vault.row_at(path).and_then(|row| row.created());
        let mut paths: Vec<_> = row.backlinks().into_iter().map(|path| (created(path), path)).collect();
        paths.sort();
        let link = |(_, path): (_, &str)| {
            let display = Some(shown_name(path).to_owned());
            BaseValue::Link(Arc::new(BaseLink { target: path.to_owned(), display, source: None }))
        };
        paths.into_iter().map(link).collect()
    }
}

/// What a path alone says.
fn field_of_path(path: &str, field: FileField) -> Option<BaseValue> {
    text_of_path(path, field).map(BaseValue::text)
}

/// The same as it is written in the path.
pub(super) fn text_of_path(path: &str, field: FileField) -> Option<&str> {
    let full = path.rsplit_once('/').map_or(path, |(_, name)| name);
    let (base, extension) = match full.rsplit_once('.') {
        Some((base, extension)) if !base.is_empty() => (base, extension),
        _ => (full, ""),
    };
    Some(match field {
        FileField::Name => shown_name(path),
        FileField::Basename => base,
        FileField::Fullname => full,
        FileField::Path => path,
        FileField::Extension => extension,
        FileField::Folder => path.rsplit_once('/').map_or("/", |(folder, _)| folder),
        _ => return None,
    })
}

/// `file.name`: a note without its extension, any other file with it.
pub(super) fn shown_name(path: &str) -> &str {
    let full = path.rsplit_once('/').map_or(path, |(_, name)| name);
    match full.rsplit_once('.') {
        Some((base, extension)) if extension.eq_ignore_ascii_case("md") && !base.is_empty() => base,
        _ => full,
    }
}

/// Links of the frontmatter and the text, then embeds; or embeds alone.
fn links_of(row: &dyn Row, only_embeds: bool) -> Vec<BaseValue> {
    let links = row.links();
    let source: Arc<str> = row.path().into();
    let link = |link: &RowLink<'_>| {
        let target = format!("{}{}", link.target, link.subpath.unwrap_or_default());
        let display = link.display.map_or_else(|| default_display(&target), Cow::Borrowed);
        let display = Some(display.into_owned()).filter(|display| !display.is_empty());
        BaseValue::Link(Arc::new(BaseLink { target, display, source: Some(source.clone()) }))
    };
    let plain = links.iter().filter(|link| !link.embed && !only_embeds);
    plain.chain(links.iter().filter(|link| link.embed)).map(link).collect()
}

/// `Other > Section One` for `Other#Section One`
fn default_display(target: &str) -> Cow<'_, str> {
    match target.strip_prefix('#') {
        Some(subpath) => Cow::Owned(subpath.replace('#', " > ")),
        None if target.contains('#') => Cow::Owned(target.replace('#', " > ")),
        None => Cow::Borrowed(target),
    }
}
