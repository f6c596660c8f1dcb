//! Keys by which names, links and tags are found.

use xxhash_rust::xxh3::xxh3_64;

use crate::links::folded_name;

/// A key under which files of this name are found; others may share it.
pub(crate) fn name_key(folded: &str) -> u64 {
    xxh3_64(folded.as_bytes())
}

/// A key under which both a file and the links that may refer to it are found: of the last name, without any number of
/// `.md`. Others may share it, so results are checked again.
pub(crate) fn mention_key(path: &str) -> u64 {
    let folded = folded_name(path.rsplit('/').next().unwrap_or_default());
    let mut name: &str = folded.trim();
    while let Some(shorter) = name.strip_suffix(".md") {
        name = shorter;
    }
    xxh3_64(name.as_bytes())
}

/// Keys under which notes with a tag are found: of the tag and of each of its parents, ignoring case. Others may share
/// them.
pub(crate) fn tag_keys(tag: &str) -> impl Iterator<Item = u64> {
    let folded = tag.to_lowercase();
    let ends: Vec<usize> = folded.match_indices('/').map(|(at, _)| at).chain([folded.len()]).collect();
    ends.into_iter().map(move |end| tag_key(&folded[..end]))
}

/// Of a tag in lower case.
pub(crate) fn tag_key(folded: &str) -> u64 {
    xxh3_64(folded.as_bytes())
}
