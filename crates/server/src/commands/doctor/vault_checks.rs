//! A vault's folder: its disk, its files, and the programs that synchronise it.

use lapidary_config::{ChosenVault, Config};
use lapidary_note::counted;
use lapidary_vault::store::{
    DiskFacts, FileSample, InspectionLimits, NamesAlike, SyncTool, VaultInspection, WatchRoom, disk_facts,
    inspect_vault, watch_room,
};

use super::finding::Finding;

/// Less than this, and a change may find no room for its undo data.
const LITTLE_ROOM: u64 = 100 << 20;

pub(super) fn look(vault: &ChosenVault, config: &Config) -> Vec<Finding> {
    // The same folders as the server follows, so that a link into one of them is not reported.
    let follow: Vec<_> = vault.access.follow.iter().chain(&config.access.follow_links).cloned().collect();
    let found = inspect_vault(
        &vault.path,
        &InspectionLimits {
            max_file_bytes: config.limits.max_file_bytes,
            follow: &follow,
            skip_folders: &config.access.skip_folders,
        },
    );
    let mut findings = vec![contents(vault, &found)];
    findings.extend(permissions(&found, config));
    findings.extend(disk(disk_facts(&vault.path), &found, config));
    findings.push(watching(watch_room(&vault.path), found.folders));
    findings.extend(names(&found));
    findings.extend(synchronised(&found));
    findings
}

fn contents(vault: &ChosenVault, found: &VaultInspection) -> Finding {
    let path = vault.path.display();
    let [notes, files, folders] = [(found.notes, "note"), (found.files, "file"), (found.folders, "folder")]
        .map(|(many, name)| counted(many, name));
    let counts = format!("{path}: {notes}, {files}, {folders}");
    // Before the empty folder: what was cut was not empty.
    if found.is_cut {
        let advice = "the rest was not looked at, to save time; the lines below are about the part that was";
        return Finding::warning("folder", format!("{counts} and more"), advice);
    }
    if found.files == 0 {
        let advice = "is this the right folder? `lapidary config show` lists what is configured";
        return Finding::warning("folder", format!("{path} is empty"), advice);
    }
    Finding::ok("folder", counts)
}

fn permissions(found: &VaultInspection, config: &Config) -> Vec<Finding> {
    let mut findings = Vec::new();
    if found.unreadable.count > 0 {
        let advice = "give your user the right to read them (chmod u+r), or close them with .lapidaryignore";
        findings.push(Finding::failure(
            "permissions",
            format!("no right to read {}", sampled(&found.unreadable)),
            advice,
        ));
    }
    // A server that changes nothing needs no such right.
    if found.unwritable.count > 0 && !config.access.read_only {
        let advice = "give your user the right to change them (chmod u+w), or serve with --read-only";
        let said = format!("no right to change {}", sampled(&found.unwritable));
        findings.push(Finding::warning("permissions", said, advice));
    }
    // Said only if true for all, and before size and links, which are not about rights.
    if findings.is_empty() {
        let can = if config.access.read_only { "read" } else { "read and changed" };
        findings.push(Finding::ok("permissions", format!("everything can be {can}")));
    }
    if found.too_large.count > 0 {
        let said = format!("{} above the limit of {} bytes", sampled(&found.too_large), config.limits.max_file_bytes);
        findings.push(Finding::warning("size", said, "raise limits.max_file_bytes, or split them"));
    }
    if found.links_outside.count > 0 {
        let said = format!("{} lead out of the vault and are not followed", sampled(&found.links_outside));
        findings.push(Finding::warning(
            "links",
            said,
            "name the folders in access.follow_links if callers may use them",
        ));
    }
    findings
}

fn disk(facts: DiskFacts, found: &VaultInspection, config: &Config) -> Vec<Finding> {
    let mut findings = Vec::new();
    if facts.is_read_only && !config.access.read_only {
        let advice = "mount it for writing, or serve with --read-only, so that no client tries";
        findings.push(Finding::failure("disk", "it is mounted for reading only", advice));
    }
    findings.extend(room("disk", facts.free_bytes));
    let DiskFacts { case, unicode, .. } = facts;
    let alike = |what: &str, state| match state {
        NamesAlike::Same => format!("{what} makes no difference"),
        NamesAlike::Different => format!("{what} makes a difference"),
        NamesAlike::Unknown => format!("whether {what} makes a difference is not known"),
    };
    // Not a fault, but what an owner needs to know when two names collide.
    let said = format!("{}; {}", alike("case", case), alike("the spelling of accents", unicode));
    findings.push(Finding::ok("file names", said));
    if found.alike.count > 0 {
        let said = format!("{} differ from another only in case or accents", sampled(&found.alike));
        let advice = "rename them: on macOS and Windows, and after a sync to them, one hides the other";
        findings.push(Finding::warning("file names", said, advice));
    }
    findings
}

/// Whether a disk is almost full.
pub(super) fn room(what: &'static str, free: Option<u64>) -> Option<Finding> {
    // `None` means that the system does not say, which is not a fault.
    let free = free.filter(|free| *free < LITTLE_ROOM)?;
    let advice = "make room: a change is refused if its undo data cannot be stored";
    Some(Finding::failure(what, format!("only {} MB are free", free >> 20), advice))
}

fn watching(room: WatchRoom, folders: usize) -> Finding {
    const WHAT: &str = "changes by others";
    match room {
        // Watches are counted per user, so this is what is left for the vault at best.
        WatchRoom::Folders(most) if most < folders as u64 => Finding::warning(
            WHAT,
            format!(
                "the system reports {most} folders, the vault has {folders}; each call looks at all of them instead"
            ),
            "raise it: sysctl fs.inotify.max_user_watches=524288, and in /etc/sysctl.d for the next start",
        ),
        WatchRoom::Folders(most) => Finding::ok(WHAT, format!("are reported by the system (up to {most} folders)")),
        // Slower, but nothing is missed, so there is nothing to mend.
        WatchRoom::Unseen => Finding::ok(
            WHAT,
            "this disk can change unnoticed (network, or another system), so each call looks at all folders",
        ),
        WatchRoom::Scanned => Finding::ok(WHAT, "each call looks at all folders; this system is not asked for reports"),
    }
}

fn names(found: &VaultInspection) -> Vec<Finding> {
    const WHAT: &str = "file names";
    let mut findings = Vec::new();
    if found.unnamed.count > 0 {
        let said = format!("{} have names that are not text (UTF-8)", sampled(&found.unnamed));
        findings.push(Finding::warning(WHAT, said, "rename them; callers cannot see them"));
    }
    if found.spoils_windows.count > 0 {
        let said = format!("{} have names that Windows refuses", sampled(&found.spoils_windows));
        findings.push(Finding::warning(
            WHAT,
            said,
            "rename them if the vault is ever synchronised to Windows or Android",
        ));
    }
    if found.decomposed.count > 0 {
        let said =
            format!("{} store accents apart from their letters, as older macOS does", sampled(&found.decomposed));
        findings.push(Finding::ok(WHAT, said + "; both spellings find them"));
    }
    findings
}

fn synchronised(found: &VaultInspection) -> Vec<Finding> {
    let mut findings = Vec::new();
    let tools: Vec<&str> = found.sync_tools.iter().map(|tool| tool.title()).collect();
    if tools.is_empty() {
        findings.push(Finding::ok("sync", "no trace of a sync tool"));
    } else {
        findings.push(Finding::ok("sync", tools.join(", ")));
    }
    // Each of these rewrites the same files on its own schedule.
    // Git changes files only when a person says so.
    let clouds = found.sync_tools.iter().filter(|tool| **tool != SyncTool::Git).count();
    if clouds > 1 {
        let advice = "use one of them: two sync tools in one folder make conflict copies of each other's writes";
        findings.push(Finding::warning("sync", format!("{clouds} tools synchronise this folder"), advice));
    }
    if found.conflict_copies.count > 0 {
        let said = format!("{}: copies of notes that two devices changed", sampled(&found.conflict_copies));
        let advice = "compare each with the note, keep what is right, and delete the copy; assistants find both";
        findings.push(Finding::warning("conflict copies", said, advice));
    }
    if found.conflict_markers.count > 0 {
        let said =
            format!("{}: notes with <<<<<<< and >>>>>>> of an unfinished merge", sampled(&found.conflict_markers));
        findings.push(Finding::warning(
            "merge",
            said,
            "finish the merge: keep one side of each, and remove the markers",
        ));
    }
    if found.is_merge_cut {
        findings.push(Finding::ok("merge", "not all notes were searched for conflict markers, to save time"));
    }
    if found.placeholders.count > 0 {
        let said = format!("{}: files that are only in iCloud", sampled(&found.placeholders));
        let advice = "choose \"Keep Downloaded\" for the vault in Finder; what is not on this disk cannot be read";
        findings.push(Finding::warning("sync", said, advice));
    }
    findings
}

/// `2 files (a.md, b.md)`, with at most the first few names.
fn sampled(sample: &FileSample) -> String {
    let names = sample.first.join(", ");
    let more = if sample.count > sample.first.len() { ", …" } else { "" };
    let files = if sample.count == 1 { "1 file".to_owned() } else { format!("{} files", sample.count) };
    format!("{files} ({names}{more})")
}

#[cfg(test)]
mod tests {
    use super::{super::finding::FindingLevel, *};
    use lapidary_config::LoadedConfig;

    const WELL: DiskFacts = DiskFacts {
        case: NamesAlike::Different,
        unicode: NamesAlike::Unknown,
        is_read_only: false,
        free_bytes: Some(1 << 40),
    };

    /// What cannot be planted on the disk of a test: the levels and words of a disk that says this.
    fn levels(facts: DiskFacts, read_only: bool) -> Vec<(FindingLevel, String)> {
        let mut config = LoadedConfig::defaults().config;
        config.access.read_only = read_only;
        let findings = disk(facts, &VaultInspection::default(), &config);
        findings.into_iter().map(|finding| (finding.level, finding.found)).collect()
    }

    #[test]
    fn a_disk_that_is_full_or_only_for_reading_is_a_failure() {
        assert!(levels(WELL, false).iter().all(|(level, _)| *level == FindingLevel::Ok));
        let full = levels(DiskFacts { free_bytes: Some(3 << 20), ..WELL }, false);
        assert_eq!(full[0], (FindingLevel::Failure, "only 3 MB are free".to_owned()));
        let fixed = DiskFacts { is_read_only: true, ..WELL };
        assert_eq!(levels(fixed, false)[0].0, FindingLevel::Failure);
        assert_eq!(levels(fixed, true)[0].0, FindingLevel::Ok, "a server that only reads needs no more");
    }

    #[test]
    fn a_disk_says_how_it_compares_names() {
        let same = levels(DiskFacts { case: NamesAlike::Same, unicode: NamesAlike::Same, ..WELL }, false);
        assert_eq!(same[0].1, "case makes no difference; the spelling of accents makes no difference");
    }

    #[test]
    fn more_folders_than_the_system_reports_are_a_warning_with_the_setting_to_raise() {
        let few = watching(WatchRoom::Folders(10), 11);
        assert_eq!(few.level, FindingLevel::Warning);
        assert!(few.advice.unwrap_or_default().contains("fs.inotify.max_user_watches"));
        assert_eq!(watching(WatchRoom::Folders(10), 10).level, FindingLevel::Ok);
        assert!(watching(WatchRoom::Unseen, 10).found.contains("network"));
    }
}
