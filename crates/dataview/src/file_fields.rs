//! `file.*`

use std::rc::Rc;

use lapidary_query::{LuxonDate, WallClock, page_aliases, page_tags};

use super::{
    cell::Cell,
    engine::QueryEngine,
    items::item_cell,
    links::{file_link, file_title, inlinks, outlinks},
    page::{POSITION, PageData, plain_cell},
};

/// What a page says about its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileField {
    Path,
    Folder,
    Name,
    Link,
    Outlinks,
    Inlinks,
    Etags,
    Tags,
    Aliases,
    Lists,
    Tasks,
    Ctime,
    Cday,
    Mtime,
    Mday,
    Size,
    Starred,
    Frontmatter,
    Ext,
    Day,
}

impl FileField {
    /// In the order in which Dataview writes them.
    pub(super) const ALL: [(&'static str, Self); 20] = [
        ("path", Self::Path),
        ("folder", Self::Folder),
        ("name", Self::Name),
        ("link", Self::Link),
        ("outlinks", Self::Outlinks),
        ("inlinks", Self::Inlinks),
        ("etags", Self::Etags),
        ("tags", Self::Tags),
        ("aliases", Self::Aliases),
        ("lists", Self::Lists),
        ("tasks", Self::Tasks),
        ("ctime", Self::Ctime),
        ("cday", Self::Cday),
        ("mtime", Self::Mtime),
        ("mday", Self::Mday),
        ("size", Self::Size),
        ("starred", Self::Starred),
        ("frontmatter", Self::Frontmatter),
        ("ext", Self::Ext),
        ("day", Self::Day),
    ];

    pub(super) fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(known, _)| *known == name).map(|(_, field)| field)
    }
}

/// All that there is.
pub(super) fn file_entries<'v>(engine: &QueryEngine<'v>, page: &Rc<PageData<'v>>) -> Vec<(Rc<str>, Cell<'v>)> {
    // What a file does not have is absent and not null.
    let value = |(name, field)| Some((Rc::from(name), file_value(engine, page, field)?));
    FileField::ALL.into_iter().filter_map(value).collect()
}

pub(super) fn file_value<'v>(engine: &QueryEngine<'v>, page: &Rc<PageData<'v>>, field: FileField) -> Option<Cell<'v>> {
    let row = &page.row;
    let time = |moment: Option<jiff::Timestamp>| {
        #[expect(clippy::cast_precision_loss, reason = "times of files are far smaller")]
        moment.map(|moment| LuxonDate::at(moment.as_millisecond() as f64, engine.zone.clone()))
    };
    let day = |date: LuxonDate| {
        let WallClock { year, month, day, .. } = date.wall();
        // In the zone of the date: midnight in another could be another day.
        date.with_wall(WallClock::midnight(year, month, day))
    };
    // Not every file system knows when a file was made.
    let created = || time(row.created().or_else(|| row.modified()));
    let texts = |texts: Vec<String>| Cell::list(texts.into_iter().map(Cell::text).collect());
    Some(match field {
        FileField::Path => Cell::text(row.path()),
        FileField::Folder => Cell::text(row.folder()),
        FileField::Name => Cell::text(file_title(row.path())),
        FileField::Link => Cell::link(file_link(row.path())),
        FileField::Outlinks => Cell::list(outlinks(&**row).into_iter().map(Cell::link).collect()),
        FileField::Inlinks => Cell::list(inlinks(&**row).into_iter().map(|path| Cell::link(file_link(path))).collect()),
        FileField::Etags => texts(page_tags(&**row)),
        FileField::Tags => texts(all_tags(page)),
        FileField::Aliases => texts(page_aliases(&**row)),
        FileField::Lists => Cell::list((0..page.items().len()).map(|item| item_cell(page, item)).collect()),
        FileField::Tasks => {
            // Every list item with a box is a task, whatever is in it.
            let tasks = page.items().iter().enumerate().filter(|(_, item)| item.status.is_some());
            Cell::list(tasks.map(|(item, _)| item_cell(page, item)).collect())
        }
        FileField::Ctime => Cell::date(created()?),
        FileField::Cday => Cell::date(day(created()?)),
        FileField::Mtime => Cell::date(time(row.modified())?),
        FileField::Mday => Cell::date(day(time(row.modified())?)),
        #[expect(clippy::cast_precision_loss, reason = "files are far smaller")]
        FileField::Size => Cell::Number(row.bytes() as f64),
        FileField::Starred => Cell::Boolean(row.is_bookmarked()),
        FileField::Frontmatter => {
            // With names as they are written: canonical ones are for fields of the page.
            let properties = row.properties(&|name| name != POSITION);
            let entry = |(name, value): (String, lapidary_query::Value)| (Rc::from(name), plain_cell(engine, &value));
            Cell::object(properties.into_iter().map(entry).collect())
        }
        FileField::Ext => Cell::text(row.path().rsplit_once('.').map_or("", |(_, extension)| extension)),
        FileField::Day => return file_day(engine, page),
    })
}

/// A tag with more levels stands for itself and those above it up to this level.
const MOST_TAG_LEVELS: usize = 64;

/// Each tag with the tags it lies below.
fn all_tags(page: &PageData<'_>) -> Vec<String> {
    let mut found: indexmap::IndexSet<String> = indexmap::IndexSet::new();
    for tag in page_tags(&*page.row) {
        // `#a/b/c` is also `#a/b` and `#a`.
        let ends: Vec<usize> = tag.match_indices('/').map(|(at, _)| at).take(MOST_TAG_LEVELS).collect();
        let above: Vec<String> = ends.into_iter().rev().map(|end| tag[..end].to_owned()).collect();
        // The tag before those above it, as Dataview orders them.
        found.insert(tag);
        found.extend(above);
    }
    found.into_iter().collect()
}

/// The day that a field or the name of the file says.
pub(super) fn file_day<'v>(engine: &QueryEngine<'v>, page: &PageData<'v>) -> Option<Cell<'v>> {
    if let Some(date) = page.first_date(engine, &["date", "day"]) {
        return Some(date);
    }
    let (year, month, day) = day_in_name(file_title(page.path()))?;
    let wall = WallClock::midnight(year, month, day);
    // Luxon takes the present offset as its first guess.
    let date = LuxonDate::on_wall(wall, engine.zone.clone(), engine.now.offset());
    // A day that does not exist would have been counted on.
    let shown = date.wall();
    ((shown.year, shown.month, shown.day) == (year, month, day)).then(|| Cell::date(date))
}

/// `2026-05-13` anywhere, or else eight digits.
fn day_in_name(name: &str) -> Option<(i64, i64, i64)> {
    let bytes = name.as_bytes();
    let digits = |part: Option<&[u8]>| {
        let part = part.filter(|part| part.iter().all(u8::is_ascii_digit))?;
        std::str::from_utf8(part).ok()?.parse::<i64>().ok()
    };
    let date = |at: usize, gap: usize| {
        let dashes = gap == 0 || (bytes.get(at + 4) == Some(&b'-') && bytes.get(at + 7) == Some(&b'-'));
        let (month, day) = (at + 4 + gap, at + 6 + 2 * gap);
        dashes.then_some(())?;
        Some((digits(bytes.get(at..at + 4))?, digits(bytes.get(month..month + 2))?, digits(bytes.get(day..day + 2))?))
    };
    let places = || 0..bytes.len();
    // A date with hyphens anywhere is preferred to eight digits before it.
    places().find_map(|at| date(at, 1)).or_else(|| places().find_map(|at| date(at, 0)))
}
