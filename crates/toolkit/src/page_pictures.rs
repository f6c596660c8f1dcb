//! The pictures of a web page as attachments of its note: each is what its bytes say, in the folder that the vault wants, and the
//! links to them become embeds.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

use lapidary_note::{ContentHash, Document, FileContent, LinkForm};
use lapidary_operation::{Context, Reason, WebRequests};
use lapidary_vault::{Change, ChangeSet, VaultPath, View};

use crate::{free_name, index, link::NewLink};

/// Of one page.
const MOST_PICTURES: usize = 20;
const MOST_BYTES: usize = 8 << 20;
/// Smaller ones are marks of the page's design, unless the page has words for them.
const LEAST_SIDE: u32 = 16;
/// And these show nothing at all: they are there to be counted by their host.
const SHOWS_NOTHING: u32 = 2;
/// No picture of a format whose size is not known here is smaller.
const LEAST_BYTES: usize = 100;
/// What is left of the call for the note itself.
const TIME_FOR_THE_REST: Duration = Duration::from_secs(10);

/// What became of the pictures of a page.
pub struct KeptPictures {
    /// The text of the note, with embeds.
    pub text: String,
    pub changes: Vec<Change>,
    /// Links that stay links.
    pub left: PicturesLeft,
}

/// How many links to pictures stay links, by the reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PicturesLeft(BTreeMap<PictureProblem, usize>);

/// Why a picture is not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum PictureProblem {
    NotFetched,
    NotAPicture,
    TooSmall,
    TooMany,
}

impl PicturesLeft {
    pub fn total(&self) -> usize {
        self.0.values().sum()
    }

    /// Such as `2 could not be fetched, 1 is too small`; empty if none is left.
    pub fn in_words(&self) -> String {
        let one = |(problem, count): (&PictureProblem, &usize)| {
            let words = match problem {
                PictureProblem::NotFetched => "not found, or of a host that is not open",
                PictureProblem::NotAPicture => "of a kind that is not kept",
                PictureProblem::TooSmall => "too small",
                PictureProblem::TooMany => "beyond the limits",
            };
            format!("{count} {words}")
        };
        self.0.iter().map(one).collect::<Vec<_>>().join(", ")
    }
}

/// Whether a picture is a mark of the design or of a counter, and no content.
fn is_too_small(bytes: &[u8], has_words: bool) -> bool {
    let number = |at: usize, is_big: bool| {
        let wide = if is_big { bytes.get(at..at + 4) } else { bytes.get(at..at + 2) };
        wide.map(|wide| {
            let value = |sum: u32, byte: &u8| (sum << 8) | u32::from(*byte);
            if is_big { wide.iter().fold(0, value) } else { wide.iter().rev().fold(0, value) }
        })
    };
    let sides = match ending_of(bytes) {
        Some("png") => number(16, true).zip(number(20, true)),
        Some("gif") => number(6, false).zip(number(8, false)),
        _ => None,
    };
    match sides {
        Some((width, height)) if width.max(height) <= SHOWS_NOTHING => true,
        Some((width, height)) => width.max(height) < LEAST_SIDE && !has_words,
        None => bytes.len() < LEAST_BYTES,
    }
}

/// The ending for a picture, by its first bytes. SVG is none: it can hold scripts and requests.
fn ending_of(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("png"),
        [0xff, 0xd8, 0xff, ..] => Some("jpg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("webp"),
        [_, _, _, _, b'f', b't', b'y', b'p', b'a', b'v', b'i', b'f', ..] => Some("avif"),
        _ => None,
    }
}

/// The name of a picture, from its address.
fn stem_of(address: &str) -> String {
    let path = address.split(['?', '#']).next().unwrap_or_default();
    let name = path.split("://").nth(1).and_then(|rest| rest.split_once('/')).map_or("", |(_, path)| path);
    let name = name.rsplit('/').next().unwrap_or_default();
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let stem = free_name::cleaned(&stem.replace("%20", " ").replace('%', " "));
    if stem.is_empty() { "Picture".to_owned() } else { stem }
}

/// Fetches the pictures of a page and puts them into its text. `note` is where the text will be.
pub fn keep(
    context: &Context<'_>,
    view: &View,
    web: &WebRequests<'_>,
    note: &VaultPath,
    text: &str,
    addresses: &[String],
) -> Result<KeptPictures, Reason> {
    let settings = view.app_settings();
    let folder = settings.attachments.folder(Some(note));
    let not_text = |_| Reason::NotText { path: note.clone(), valid_up_to: None };
    // Has the note and each picture as if they were made: no name is given twice, and links resolve.
    let mut ahead = view.with(&ChangeSet::one(Change::Create { path: note.clone(), content: text.to_owned().into() }));
    let document = Document::open(text.to_owned()).map_err(not_text)?;
    // A link without words of the page says no more than `Picture`.
    let named: HashSet<&str> = document
        .note()
        .links
        .iter()
        .filter(|link| link.alias.as_ref().is_some_and(|words| text[words.clone()].starts_with("Picture: ")))
        .filter_map(|link| text.get(link.destination.clone()))
        .collect();
    let (mut changes, mut bytes, mut kept) = (Vec::new(), 0, Vec::<(&str, ContentHash, VaultPath)>::new());
    let mut problems = HashMap::new();
    for (number, address) in addresses.iter().enumerate() {
        // A clip with some of its pictures is better than none at all.
        if number >= MOST_PICTURES || context.cancel.left() < TIME_FOR_THE_REST {
            problems.insert(address.as_str(), PictureProblem::TooMany);
            continue;
        }
        let mut left_out = |problem| problems.insert(address.as_str(), problem);
        let Ok(picture) = web.fetch_picture(address, context.cancel)? else {
            left_out(PictureProblem::NotFetched);
            continue;
        };
        let Some(ending) = ending_of(&picture) else {
            left_out(PictureProblem::NotAPicture);
            continue;
        };
        if is_too_small(&picture, named.contains(address.as_str())) {
            left_out(PictureProblem::TooSmall);
            continue;
        }
        let hash = ContentHash::of(&picture);
        // A page may show one picture at several addresses.
        if let Some((_, _, path)) = kept.iter().find(|(_, known, _)| *known == hash) {
            kept.push((address, hash, path.clone()));
            continue;
        }
        // A smaller one may still fit.
        if bytes + picture.len() > MOST_BYTES.min(context.budget.file_bytes()) {
            left_out(PictureProblem::TooMany);
            continue;
        }
        let Some(path) = free_name::free_path(context, &ahead, folder.as_ref(), &stem_of(address), ending)? else {
            left_out(PictureProblem::TooMany);
            continue;
        };
        bytes += picture.len();
        let change =
            Change::Create { path: path.clone(), content: FileContent::from(Arc::<[u8]>::as_ref(&picture).to_vec()) };
        context.budget.gather(&change)?;
        ahead = ahead.then(&ChangeSet::one(change.clone()));
        changes.push(change);
        kept.push((address, hash, path));
    }
    let files = index::files(context, &ahead)?;
    let form = if settings.markdown_links { LinkForm::Markdown } else { LinkForm::Wiki };
    let (mut embedded, mut left) = (text.to_owned(), PicturesLeft::default());
    // From the last to the first, so that the places of the others stay.
    for link in document.note().links.iter().rev().filter(|link| !link.embed && !link.internal) {
        let Some(address) = text.get(link.destination.clone()) else { continue };
        if !addresses.iter().any(|known| known == address) {
            continue;
        }
        let picture = kept.iter().find(|(known, ..)| *known == address).map(|(_, _, path)| path);
        match picture.and_then(|path| NewLink::to(files, path, note, settings.new_links, form, "")) {
            Some(new) => embedded.replace_range(link.span.clone(), &format!("!{}", new.text)),
            None => {
                let problem = problems.get(address).copied().unwrap_or(PictureProblem::TooMany);
                *left.0.entry(problem).or_default() += 1;
            }
        }
    }
    Ok(KeptPictures { text: embedded, changes, left })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_what_its_bytes_say() {
        for (bytes, ending) in [
            (&b"\x89PNG\r\n\x1a\nrest"[..], Some("png")),
            (b"\xff\xd8\xff\xe0rest", Some("jpg")),
            (b"GIF89a", Some("gif")),
            (b"RIFF\0\0\0\0WEBPVP8", Some("webp")),
            (b"\0\0\0\x1cftypavif", Some("avif")),
            (b"<svg xmlns='http://www.w3.org/2000/svg'><script>", None),
            (b"<html>", None),
            (b"", None),
            (b"\x89PN", None),
        ] {
            assert_eq!(ending_of(bytes), ending, "{bytes:?}");
        }
    }

    #[test]
    fn marks_of_the_design_are_too_small_unless_the_page_has_words_for_them() {
        let gif = |width: u16, height: u16| {
            let mut bytes = b"GIF89a".to_vec();
            bytes.extend([width.to_le_bytes(), height.to_le_bytes()].concat());
            bytes
        };
        let png = |width: u32, height: u32| {
            let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
            bytes.extend([width.to_be_bytes(), height.to_be_bytes()].concat());
            bytes
        };
        for (bytes, without_words, with_words) in [
            (gif(1, 1), true, true),
            (gif(15, 15), true, false),
            (gif(300, 2), false, false),
            (png(2, 2), true, true),
            (png(12, 12), true, false),
            (png(16, 4), false, false),
            (b"\xff\xd8\xff\xe0".to_vec(), true, true),
            ([b"\xff\xd8\xff".as_slice(), &[0; 100]].concat(), false, false),
        ] {
            let found = (is_too_small(&bytes, false), is_too_small(&bytes, true));
            assert_eq!(found, (without_words, with_words), "{bytes:?}");
        }
    }

    #[test]
    fn a_name_comes_from_the_address_and_can_be_one() {
        for (address, stem) in [
            ("https://a.example/b/Slate%20roof.PNG?x=1", "Slate roof"),
            ("https://a.example/", "Picture"),
            ("https://a.example", "Picture"),
            ("https://a.example/..", "Picture"),
            ("https://a.example/a%2F..%2Fb.png", "a 2F.. 2Fb"),
            ("https://a.example/x|y[z].gif", "x y z"),
        ] {
            assert_eq!(stem_of(address), stem, "{address}");
        }
    }
}
