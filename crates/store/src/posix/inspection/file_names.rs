//! What the names of files say about the programs that synchronise them.

use std::{collections::BTreeSet, path::Path};

use unicode_normalization::is_nfc;

/// A program that synchronises a vault with other devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SyncTool {
    Syncthing,
    Dropbox,
    ICloud,
    OneDrive,
    GoogleDrive,
    Nextcloud,
    Git,
    Resilio,
}

impl SyncTool {
    pub fn title(self) -> &'static str {
        match self {
            Self::Syncthing => "Syncthing",
            Self::Dropbox => "Dropbox",
            Self::ICloud => "iCloud Drive",
            Self::OneDrive => "OneDrive",
            Self::GoogleDrive => "Google Drive",
            Self::Nextcloud => "Nextcloud",
            Self::Git => "git",
            Self::Resilio => "Resilio Sync",
        }
    }

    /// Those whose traces are in the folder or in one around it, or whose name is in its path.
    pub(super) fn around(vault: &Path) -> Vec<Self> {
        const TRACES: [(&str, SyncTool); 8] = [
            (".stfolder", SyncTool::Syncthing),
            (".stignore", SyncTool::Syncthing),
            (".dropbox", SyncTool::Dropbox),
            (".dropbox.cache", SyncTool::Dropbox),
            (".git", SyncTool::Git),
            (".sync", SyncTool::Resilio),
            (".nextcloudsync.log", SyncTool::Nextcloud),
            (".tmp.drivedownload", SyncTool::GoogleDrive),
        ];
        // A vault is often reached through a link in the home folder, while the tool's folder is in the real path.
        let real = std::fs::canonicalize(vault).unwrap_or_else(|_| vault.to_owned());
        let mut found = BTreeSet::new();
        // Tools put their marks into the topmost folder that they synchronise.
        for folder in real.ancestors() {
            found.extend(TRACES.iter().filter(|(name, _)| folder.join(name).exists()).map(|(_, tool)| *tool));
        }
        for name in real.iter().filter_map(|name| name.to_str()) {
            let by_name = match name {
                "Dropbox" => Self::Dropbox,
                "Mobile Documents" => Self::ICloud,
                "Nextcloud" => Self::Nextcloud,
                "Google Drive" | "My Drive" => Self::GoogleDrive,
                name if name.starts_with("OneDrive") => Self::OneDrive,
                name if name.starts_with("GoogleDrive-") => Self::GoogleDrive,
                name if name.starts_with("Dropbox (") => Self::Dropbox,
                name if name.starts_with("iCloud") => Self::ICloud,
                _ => continue,
            };
            found.insert(by_name);
        }
        found.into_iter().collect()
    }
}

/// The names of one folder, to find copies among them.
pub(super) struct SyncedNames<'a> {
    names: BTreeSet<&'a str>,
    tools: &'a [SyncTool],
}

impl<'a> SyncedNames<'a> {
    pub(super) fn new(names: &'a [String], tools: &'a [SyncTool]) -> Self {
        Self { names: names.iter().map(String::as_str).collect(), tools }
    }

    /// Whether a file is the copy that a sync tool made because two devices changed it. Some tools mark it so plainly that
    /// the name alone says it; others only by a number or the name of a computer, which counts where that tool is used and the
    /// other file is there.
    pub(super) fn is_conflict_copy(&self, name: &str) -> bool {
        if name.contains(".sync-conflict-") || name.to_lowercase().contains("conflicted copy") {
            return true;
        }
        let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
        let is_beside = |base: &str| {
            self.names.contains(if ending.is_empty() { base.to_owned() } else { format!("{base}.{ending}") }.as_str())
        };
        let uses = |tool| self.tools.contains(&tool);
        // A longer number is a year or part of the name.
        let is_number = |text: &str| (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        if uses(SyncTool::ICloud)
            && let Some((base, number)) = stem.rsplit_once(' ')
            && is_number(number)
            && is_beside(base)
        {
            return true;
        }
        if uses(SyncTool::GoogleDrive)
            && let Some((base, number)) = stem.strip_suffix(')').and_then(|stem| stem.rsplit_once(" ("))
            && is_number(number)
            && is_beside(base)
        {
            return true;
        }
        // `Note-DESKTOP-4F2K1.md`: the names of Windows computers are in capitals.
        uses(SyncTool::OneDrive)
            && stem.match_indices('-').any(|(at, _)| {
                let computer = &stem[at + 1..];
                (3..=15).contains(&computer.len())
                    && computer.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'-')
                    && computer.bytes().any(|byte| byte.is_ascii_uppercase())
                    && is_beside(&stem[..at])
            })
    }
}

/// Whether a file stands for one that iCloud has taken off this disk.
pub(super) fn is_placeholder(name: &str) -> bool {
    name.starts_with('.') && name.ends_with(".icloud")
}

/// Whether letters and accents are stored apart, as older macOS does.
pub(super) fn is_decomposed(name: &str) -> bool {
    !name.is_ascii() && !is_nfc(name)
}

/// Whether Windows cannot have a file of this name.
pub(super) fn spoils_windows(name: &str) -> bool {
    const RESERVED: [&str; 4] = ["con", "prn", "aux", "nul"];
    let stem = name.split('.').next().unwrap_or_default().trim_end().to_ascii_lowercase();
    let is_port = |start: &str| {
        stem.strip_prefix(start).is_some_and(|rest| rest.len() == 1 && rest.bytes().all(|digit| digit.is_ascii_digit()))
    };
    name.contains(|letter: char| {
        matches!(letter, '<' | '>' | ':' | '"' | '|' | '?' | '*' | '\\') || letter.is_control()
    }) || name.ends_with(['.', ' '])
        || RESERVED.contains(&stem.as_str())
        || is_port("com")
        || is_port("lpt")
}

/// Whether a text has the three lines of an unfinished merge, in their order.
pub(super) fn has_markers(bytes: &[u8]) -> bool {
    let mut wanted = [&b"<<<<<<< "[..], b"=======", b">>>>>>> "].into_iter();
    let mut next = wanted.next();
    for line in bytes.split(|byte| *byte == b'\n') {
        let Some(mark) = next else { break };
        if line.starts_with(mark) {
            next = wanted.next();
        }
    }
    next.is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_copies_of_each_tool_are_known_and_ordinary_names_are_not() {
        let names: Vec<String> = ["Plan.md", "Plan 2.md", "Plan (1).md", "Plan-DESKTOP-4F2K1.md", "Plan-B.md"]
            .into_iter()
            .map(str::to_owned)
            .collect();
        let all = [SyncTool::ICloud, SyncTool::OneDrive, SyncTool::GoogleDrive];
        let copies = |tools: &[SyncTool]| {
            let synced = SyncedNames::new(&names, tools);
            names.iter().filter(|name| synced.is_conflict_copy(name)).cloned().collect::<Vec<_>>()
        };
        assert!(copies(&[]).is_empty());
        assert_eq!(copies(&[SyncTool::ICloud]), ["Plan 2.md"]);
        assert_eq!(copies(&all), ["Plan 2.md", "Plan (1).md", "Plan-DESKTOP-4F2K1.md"]);
        let plain = |name: &str| SyncedNames::new(&[], &[]).is_conflict_copy(name);
        assert!(plain("Plan.sync-conflict-20261101-101112-ABCDEFG.md"));
        assert!(plain("Plan (Ana's conflicted copy 2026-11-01).md") && plain("Plan (Conflicted copy phone).md"));
        assert!(!plain("Conflict.md"));
    }

    #[test]
    fn names_that_windows_refuses_are_found() {
        for name in ["a:b.md", "why?.md", "con.md", "Com1", "end.", "blank ", "a\\b"] {
            assert!(spoils_windows(name), "{name}");
        }
        for name in ["a.md", "Console.md", "company.md", "Über – alles.md", ".obsidian"] {
            assert!(!spoils_windows(name), "{name}");
        }
    }

    #[test]
    fn markers_count_in_their_order_at_the_start_of_lines() {
        assert!(has_markers(b"a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> main\n"));
        assert!(!has_markers(b">>>>>>> main\n=======\n<<<<<<< HEAD\n"));
        assert!(!has_markers(b"text <<<<<<< HEAD\n=======\n>>>>>>> x\n"));
        assert!(!has_markers(b"Title\n=======\n"));
    }
}
