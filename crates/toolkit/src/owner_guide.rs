//! The owner's guide to a vault: a note in which the owner tells assistants how to work there.

use lapidary_operation::{Context, OwnerGuide, Reason};
use lapidary_vault::{ReadError, View, store::StoreError};

use crate::reading;

pub const NONE: &str = "The owner of the vault has written no guide.";

/// The guide that the caller may read, cut to this many bytes. One that is hidden from it does not exist.
pub fn find(context: &Context<'_>, view: &View, most: usize) -> Result<Option<OwnerGuide>, Reason> {
    for path in &context.owner.guides {
        context.check()?;
        let file = match view.read(path) {
            Ok(file) => file,
            Err(ReadError::Denied(_) | ReadError::Store(StoreError::Missing | StoreError::IsFolder)) => continue,
            Err(ReadError::Store(error)) => return Err(Reason::from_store(path, &error, false)),
        };
        let shown = reading::show(path, &file)?;
        let note = shown.note();
        let start = note.frontmatter.as_ref().map_or(0, |properties| properties.span.end);
        let whole = &note.text[start..];
        let body = whole.trim_start_matches('\n');
        if body.trim().is_empty() {
            continue;
        }
        let first_line = 1 + note.text[..start + whole.len() - body.len()].matches('\n').count();
        let text = start_of(body.trim_end(), most);
        let rest_line = (text.len() < body.trim_end().len()).then(|| first_line + text.matches('\n').count());
        return Ok(Some(OwnerGuide {
            vault: view.vault().to_owned(),
            path: path.clone(),
            text: text.to_owned(),
            hash: file.hash(),
            rest_line,
        }));
    }
    Ok(None)
}

/// As many whole lines as fit, or part of the first one.
fn start_of(text: &str, most: usize) -> &str {
    if text.len() <= most {
        return text;
    }
    let end = text.floor_char_boundary(most);
    text[..end].rfind('\n').map_or(&text[..end], |at| &text[..=at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guide_is_cut_at_the_end_of_a_line() {
        assert_eq!(start_of("one\ntwo\n", 8), "one\ntwo\n");
        assert_eq!(start_of("one\ntwo\nthree", 8), "one\ntwo\n");
        assert_eq!(start_of("one\ntwo\nthree", 7), "one\n");
        assert_eq!(start_of("one\ntwo", 4), "one\n");
        assert_eq!(start_of("a long line", 4), "a lo");
        assert_eq!(start_of("石石", 4), "石");
        assert_eq!(start_of("石石", 0), "");
    }
}
