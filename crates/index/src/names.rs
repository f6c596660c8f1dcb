//! Keys by which names, links and tags are found.

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::links::folded_name;

/// Half of a hash: what is found under it is checked anyway, and a large vault has a million of them.
pub(crate) type NameKey = u32;

fn shortened(hash: u64) -> NameKey {
    hash as NameKey
}

/// A key under which files of this name are found; others may share it.
pub(crate) fn name_key(folded: &str) -> NameKey {
    shortened(xxh3_64(folded.as_bytes()))
}

/// A key under which both a file and the links that may refer to it are found: of the last name, without any number of
/// `.md`. Others may share it, so results are checked again.
pub(crate) fn mention_key(path: &str) -> NameKey {
    let folded = folded_name(path.rsplit('/').next().unwrap_or_default());
    let mut name: &str = folded.trim();
    while let Some(shorter) = name.strip_suffix(".md") {
        name = shorter;
    }
    shortened(xxh3_64(name.as_bytes()))
}

/// Keys under which notes with a tag are found: of the tag and of each of its parents, ignoring case. Others may share
/// them. Each is made from the one before, so a tag of many parts takes no longer than it is.
pub(crate) fn tag_keys(tag: &str) -> Vec<NameKey> {
    let folded = tag.to_lowercase();
    part_keys(&folded).collect()
}

/// Of a tag in lower case.
pub(crate) fn tag_key(folded: &str) -> NameKey {
    part_keys(folded).last().unwrap_or_default()
}

fn part_keys(folded: &str) -> impl Iterator<Item = NameKey> {
    folded.split('/').scan(0, |hash, part| {
        *hash = xxh3_64_with_seed(part.as_bytes(), *hash);
        Some(shortened(*hash))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_found_under_each_that_it_is_below() {
        let keys = tag_keys("A/bb/C");
        assert_eq!(keys, ["a", "a/bb", "a/bb/c"].map(tag_key));
        assert_eq!(tag_keys("a"), [tag_key("a")]);
        assert_ne!(tag_key("a/b"), tag_key("ab"));
    }
}
