//! EPUB: web pages in an archive, in the order of reading.

use std::collections::HashMap;

use lapidary_office::part_beside;
use lapidary_toolkit::web_page::WebPage;
use lapidary_vault::DecodeFault;

use super::{
    PartCollector,
    archive::PartArchive,
    markup::{Markup, walk},
};

pub(super) fn read(bytes: &[u8], parts: &mut PartCollector) -> Result<(), DecodeFault> {
    let mut archive = PartArchive::open(bytes)?;
    let package = package(&mut archive)?;
    let xml = archive.text(&package)?.ok_or(DecodeFault::Broken)?;
    let PackageFile { title, author, chapters } = PackageFile::read(&xml, &package)?;
    parts.set_origin(title.as_deref(), author.as_deref());
    parts.set_total(chapters.len());
    for (number, chapter) in (1..).zip(&chapters) {
        if parts.is_full() {
            break;
        }
        // A chapter that is missing is not worth the rest of the book.
        let Some(html) = archive.text(chapter)? else { continue };
        let page = WebPage::read(&html, None);
        let heading = page.markdown.lines().find(|line| line.starts_with('#'));
        let heading = heading.map(|line| line.trim_start_matches('#').trim());
        let title = page.title.as_deref();
        parts.add(number, heading.filter(|heading| !heading.is_empty()).or(title), &page.markdown);
    }
    Ok(())
}

/// The part that says what the book consists of.
fn package(archive: &mut PartArchive<'_>) -> Result<String, DecodeFault> {
    let mut package = None;
    if let Some(xml) = archive.text("META-INF/container.xml")? {
        walk(&xml, |markup| {
            if let Markup::Start(element) = markup
                && element.name() == "rootfile"
                && package.is_none()
            {
                package = element.attribute("full-path");
            }
            true
        })?;
    }
    // Some books have no container.
    let found = || archive.names().into_iter().find(|name| name.to_ascii_lowercase().ends_with(".opf"));
    package.or_else(found).ok_or(DecodeFault::Broken)
}

struct PackageFile {
    title: Option<String>,
    author: Option<String>,
    /// The parts to read, in order.
    chapters: Vec<String>,
}

impl PackageFile {
    fn read(xml: &str, place: &str) -> Result<Self, DecodeFault> {
        let (mut title, mut author) = (None::<String>, None::<String>);
        let (mut items, mut spine) = (HashMap::new(), Vec::new());
        let mut inside = String::new();
        walk(xml, |markup| {
            match markup {
                Markup::Start(element) => {
                    match element.name() {
                        "item" => {
                            let kind = element.attribute("media-type").unwrap_or_default();
                            let is_page = kind.contains("html") || kind.is_empty();
                            // The list of contents is not text of the book.
                            let properties = element.attribute("properties").unwrap_or_default();
                            let is_contents = properties.split_whitespace().any(|property| property == "nav");
                            if let (Some(id), Some(target), true) =
                                (element.attribute("id"), element.attribute("href"), is_page && !is_contents)
                            {
                                // The address is that of a web page, while names in an archive have no escapes.
                                items.insert(id, part_beside(place, &unescaped(&target)));
                            }
                        }
                        "itemref" => spine.extend(element.attribute("idref")),
                        _ => {}
                    }
                    element.name().clone_into(&mut inside);
                }
                Markup::End(_) => inside.clear(),
                // Of several titles the first is the main one.
                Markup::Text(text) if inside == "title" && title.is_none() => title = Some(text.to_owned()),
                Markup::Text(text) if inside == "creator" && author.is_none() => author = Some(text.to_owned()),
                Markup::Text(_) => {}
            }
            true
        })?;
        // Taken out, so that a spine that names a chapter again and again reads it once.
        let chapters = spine.iter().filter_map(|id| items.remove(id)).collect();
        Ok(Self { title, author, chapters })
    }
}

/// `%20` and others as the letters that they stand for.
fn unescaped(address: &str) -> String {
    let mut bytes = Vec::with_capacity(address.len());
    let mut rest = address.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).filter(|_| *first == b'%').and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    // Escapes that are not UTF-8 may just be part of a name.
    String::from_utf8(bytes).unwrap_or_else(|_| address.to_owned())
}
