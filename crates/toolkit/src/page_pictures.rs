//! The pictures of a web page as attachments of its note: each is what its bytes say, in the folder that the vault wants, and the
//! links to them become embeds.

use std::{sync::Arc, time::Duration};

use lapidary_note::{ContentHash, Document, FileContent, LinkForm};
use lapidary_operation::{Context, Reason, WebRequests};
use lapidary_vault::{Change, ChangeSet, VaultPath, View};

use crate::{free_name, index, link::NewLink};

/// Of one page.
const MOST_PICTURES: usize = 20;
const MOST_BYTES: usize = 8 << 20;
/// Smaller ones show nothing: they are there to be counted by their host.
const LEAST_BYTES: usize = 100;
/// What is left of the call for the note itself.
const TIME_FOR_THE_REST: Duration = Duration::from_secs(10);

/// What became of the pictures of a page.
pub struct KeptPictures {
    /// The text of the note, with embeds.
    pub text: String,
    pub changes: Vec<Change>,
    /// Links that stay links.
    pub left: usize,
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
    let (mut changes, mut bytes, mut kept) = (Vec::new(), 0, Vec::<(&str, ContentHash, VaultPath)>::new());
    for address in addresses.iter().take(MOST_PICTURES) {
        // A clip with some of its pictures is better than none at all.
        if context.cancel.left() < TIME_FOR_THE_REST {
            break;
        }
        let Ok(picture) = web.fetch_picture(address, context.cancel)? else { continue };
        let Some(ending) = ending_of(&picture).filter(|_| picture.len() >= LEAST_BYTES) else { continue };
        let hash = ContentHash::of(&picture);
        // A page may show one picture at several addresses.
        if let Some((_, _, path)) = kept.iter().find(|(_, known, _)| *known == hash) {
            kept.push((address, hash, path.clone()));
            continue;
        }
        // A smaller one may still fit.
        if bytes + picture.len() > MOST_BYTES.min(context.budget.file_bytes()) {
            continue;
        }
        let Some(path) = free_name::free_path(context, &ahead, folder.as_ref(), &stem_of(address), ending)? else {
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
    let document = Document::open(text.to_owned()).map_err(not_text)?;
    let (mut embedded, mut left) = (text.to_owned(), 0);
    // From the last to the first, so that the places of the others stay.
    for link in document.note().links.iter().rev().filter(|link| !link.embed && !link.internal) {
        let Some(address) = text.get(link.destination.clone()) else { continue };
        if !addresses.iter().any(|known| known == address) {
            continue;
        }
        let picture = kept.iter().find(|(known, ..)| *known == address).map(|(_, _, path)| path);
        match picture.and_then(|path| NewLink::to(files, path, note, settings.new_links, form, "")) {
            Some(new) => embedded.replace_range(link.span.clone(), &format!("!{}", new.text)),
            None => left += 1,
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
