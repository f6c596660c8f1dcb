//! Second names. Some disks respond to more names than their folders list: short ones (`OBSIDI~1`), others in case or
//! with trailing blanks and dots. Rules apply to listed names, so a name that no listing shows is treated as missing.

use cap_std::fs::Dir;
use unicode_normalization::UnicodeNormalization;

use crate::{posix::StoreError, scope::folded};

/// How many names an entry of a folder may respond to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameMatching {
    /// The listed one. On some of these disks also names that differ from it in case or Unicode form, which no rule
    /// distinguishes.
    One,
    /// Any: each name has to be looked up in its folder.
    Several,
}

/// ext2 to ext4, XFS, Btrfs, tmpfs, ramfs, F2FS, bcachefs, ZFS, overlays, SquashFS, EROFS.
#[cfg(target_os = "linux")]
const ONE_NAME: [u32; 11] = [
    0xef53,
    0x5846_5342,
    0x9123_683e,
    0x0102_1994,
    0x8584_58f6,
    0xf2f5_2010,
    0xca45_1a4e,
    0x2fc1_2fc1,
    0x794c_7630,
    0x7371_7368,
    0xe0f5_e1e2,
];

impl NameMatching {
    /// Of the disk that a folder is on. An unknown one may do anything: FAT, NTFS, network and user-space disks do.
    #[cfg(target_os = "linux")]
    pub(super) fn on_disk_of(folder: &Dir) -> Self {
        // The numbers have 32 bits, regardless of the type.
        let is_known = |disk: rustix::fs::StatFs| ONE_NAME.contains(&(disk.f_type as u32));
        if rustix::fs::fstatfs(folder).is_ok_and(is_known) { Self::One } else { Self::Several }
    }

    #[cfg(target_vendor = "apple")]
    pub(super) fn on_disk_of(folder: &Dir) -> Self {
        let is_known = |disk: rustix::fs::StatFs| {
            let name: Vec<u8> =
                disk.f_fstypename.iter().take_while(|&&byte| byte != 0).map(|&byte| byte as u8).collect();
            name == b"apfs" || name == b"hfs"
        };
        if rustix::fs::fstatfs(folder).is_ok_and(is_known) { Self::One } else { Self::Several }
    }

    #[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
    pub(super) fn on_disk_of(_: &Dir) -> Self {
        Self::Several
    }

    /// Whether no other name can be listed for this one, decided without reading the folder.
    pub(super) fn are_certain(self, name: &str) -> bool {
        self == Self::One && !looks_like_another(name)
    }
}

/// Names that some disk maps to another one: short names, streams, characters that Windows drops at the end, letters
/// that a case-insensitive disk ignores when comparing.
fn looks_like_another(name: &str) -> bool {
    let short = || name.as_bytes().windows(2).any(|pair| pair[0] == b'~' && pair[1].is_ascii_digit());
    name.ends_with(['.', ' ']) || name.contains(':') || short() || (!name.is_ascii() && name.chars().any(is_ignorable))
}

/// Characters that Unicode lets programs ignore (`Default_Ignorable_Code_Point`).
fn is_ignorable(letter: char) -> bool {
    matches!(letter,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// The name under which a folder lists the entry that the disk returns for this one: the same, or one that no rule
/// distinguishes.
pub(super) fn listed(folder: &Dir, name: &str) -> Result<Option<String>, StoreError> {
    let (composed, without_case) = (name.nfc().collect::<String>(), folded(name));
    let (mut same_letters, mut same_rules) = (None, None);
    for entry in folder.entries()? {
        let Ok(listed) = entry?.file_name().into_string() else { continue };
        // An exact match wins over all others, even if it comes later in the listing.
        if listed == name {
            return Ok(Some(listed));
        }
        if same_letters.is_none() && listed.nfc().eq(composed.chars()) {
            same_letters = Some(listed);
        } else if same_rules.is_none() && folded(&listed) == without_case {
            same_rules = Some(listed);
        }
    }
    Ok(same_letters.or(same_rules))
}

/// The other encodings of a name: the caller cannot know which one is used. Each is looked up separately, as listing
/// the folder would take longer the more hidden files it has.
pub(super) fn other_forms(name: &str) -> impl Iterator<Item = String> + '_ {
    let forms = || [name.nfc().collect::<String>(), name.nfd().collect()];
    // ASCII has only one encoding.
    let forms = (!name.is_ascii()).then(forms);
    forms.into_iter().flatten().filter(move |form| form != name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_some_disk_maps_to_another_are_looked_up() {
        for name in ["OBSIDI~1", "Notes~2.md", "a.md.", "a.md ", "a.md::$DATA", ".obsi\u{200c}dian", "\u{feff}a.md"] {
            assert!(looks_like_another(name), "{name:?}");
        }
        for name in ["a.md", "Größe.md", "~a.md", "a ~ b.md", "石.md", "a..b", "v1.0"] {
            assert!(!looks_like_another(name), "{name:?}");
        }
    }

    #[test]
    fn both_ways_to_store_an_accent_are_tried() {
        let both = |name| other_forms(name).collect::<Vec<_>>();
        assert_eq!(both("plain.md"), [""; 0]);
        assert_eq!(both("\u{e9}.md"), ["e\u{301}.md"]);
        assert_eq!(both("e\u{301}.md"), ["\u{e9}.md"]);
    }
}
