//! Links of pages and items, as Dataview has them.

use lapidary_query::{LinkValue, Row, RowLink};

use super::{
    page::{PageData, PageItem},
    parser::inferred_target,
};

/// A link to a file, without display.
pub(super) fn file_link(path: &str) -> LinkValue {
    LinkValue { path: path.to_owned(), ..LinkValue::default() }
}

/// The last part of a path, without `.md`.
pub(super) fn file_title(path: &str) -> &str {
    let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
    // Other extensions belong to the title, as Obsidian shows them.
    name.strip_suffix(".md").unwrap_or(name)
}

/// A link in a field, with the path that it leads to from its note.
pub(super) fn field_link(row: &dyn Row, link: &LinkValue) -> LinkValue {
    // Put together as it was written, because only the whole target says where the path ends.
    let written = match &link.subpath {
        Some(subpath) => format!("{}#{subpath}", link.path),
        None => link.path.clone(),
    };
    let (path, subpath) = inferred_target(&written);
    LinkValue { path: resolved(row, path), subpath, display: link.display.clone(), embed: link.embed }
}

fn resolved(row: &dyn Row, path: String) -> String {
    // An empty path is the note itself, as in `[[#Heading]]`.
    let found = if path.is_empty() { Some(row.path()) } else { row.resolve(&path) };
    found.map_or(path, str::to_owned)
}

/// A link of the text with its display, which is what Obsidian shows if nothing was said.
pub(super) fn row_link(link: &RowLink<'_>) -> LinkValue {
    let written = format!("{}{}", link.target, link.subpath.unwrap_or_default());
    // Obsidian shows `Note#A#B` as `Note > A > B`.
    let shown = || written.split('#').filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" > ");
    let display = link.display.map_or_else(shown, str::to_owned);
    let (path, subpath) = inferred_target(&written);
    LinkValue { path, subpath, display: Some(display), embed: link.embed }
}

/// `file.outlinks`: those of the frontmatter, those of the text, then embeds.
pub(super) fn outlinks(row: &dyn Row) -> Vec<LinkValue> {
    let links = row.links();
    let in_frontmatter = links.iter().filter(|link| link.property.is_some());
    // The text of a note has links and embeds mixed; Dataview gets two lists from Obsidian.
    let in_text = links.iter().filter(|link| link.property.is_none() && !link.embed);
    let embeds = links.iter().filter(|link| link.property.is_none() && link.embed);
    let all = in_frontmatter.chain(in_text).chain(embeds).map(row_link);
    all.map(|link| LinkValue { path: resolved(row, link.path), ..link }).collect()
}

/// `file.inlinks`: the paths of the notes that link here, in order.
pub(super) fn inlinks(row: &dyn Row) -> Vec<&str> {
    let mut paths = row.backlinks();
    if links_within(row)
        // Backlinks are sorted, and the note itself is inserted in its place.
        && let Err(place) = paths.binary_search(&row.path())
    {
        paths.insert(place, row.path());
    }
    paths
}

/// Whether a note links into itself without its own name, as in `[[#Heading]]`. Dataview takes that for a link to it.
pub(super) fn links_within(row: &dyn Row) -> bool {
    row.links().iter().any(|link| link.target.is_empty() && link.subpath.is_some())
}

impl PageData<'_> {
    /// The heading above an item, or the file.
    pub(super) fn section_link(&self, item: &PageItem) -> LinkValue {
        LinkValue { subpath: self.heading_above(item.line), ..file_link(self.path()) }
    }

    /// The block of an item, or its place.
    pub(super) fn item_link(&self, item: &PageItem) -> LinkValue {
        match self.block_id(item) {
            Some(id) => LinkValue { subpath: Some(format!("^{id}")), ..file_link(self.path()) },
            None => self.section_link(item),
        }
    }
}

/// What a link looks like: `[[path#subpath|display]]`, where a missing display is the title of the file.
pub(super) fn link_text(link: &LinkValue) -> String {
    // A bar would end the path and begin the display.
    let escape = |text: &str| text.replace('|', "\\|");
    let mut text = format!("{}[[{}", if link.embed { "!" } else { "" }, escape(&link.path));
    if let Some(subpath) = &link.subpath {
        text.push('#');
        text += &escape(subpath);
    }
    text.push('|');
    match link.display.as_deref().filter(|display| !display.is_empty()) {
        // Not escaped: whatever follows the first bar is display.
        Some(display) => text += display,
        None => {
            text += file_title(&link.path);
            if let Some(subpath) = &link.subpath {
                text += " > ";
                // The mark of a block is not shown.
                text += subpath.strip_prefix('^').unwrap_or(subpath);
            }
        }
    }
    text + "]]"
}
