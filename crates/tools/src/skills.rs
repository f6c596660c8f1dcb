//! Skills: playbooks of the vaults and our own, as clients read them under `skill://` (the Skills extension of MCP, SEP-2640).
//! Every file of a skill is listed with its hash, and what is read later is exactly what was hashed.

mod server_skill;
mod skill_uri;
mod vault_skill;

use lapidary_operation::{ContentForm, Context, OpenedVaults, Reason, ResourceBody, SkillEntry, clipped};
use lapidary_vault::{VaultPath, View, store::EntryKind};

pub use server_skill::{SERVER_SKILL, SkillOrigin, server_skill, skill_origin};
pub use skill_uri::SkillUri;
use vault_skill::{SkillBytes, VaultSkill};

/// The file that makes a folder a skill.
const MAIN_FILE: &str = "SKILL.md";
/// Deeper folders are ignored.
const DEEPEST: usize = 16;
/// Every host accepts a skill with this many files and bytes, and perhaps none a larger one.
const MOST_FILES: usize = 512;
const MOST_BYTES: u64 = 16 << 20;
/// What one list reads. A skill beyond it is still found by its URI.
const MOST_LISTED: usize = 200;
const MOST_LISTED_BYTES: u64 = 64 << 20;

/// A playbook: a note, or a folder with a `SKILL.md` and other files.
pub(crate) struct PlaybookSource {
    pub(crate) note: VaultPath,
    /// The folder that it has for itself.
    pub(crate) folder: Option<VaultPath>,
}

/// The playbooks of a vault, in path order, as far as the caller may see them.
pub(crate) fn playbook_sources(context: &Context<'_>, view: &View) -> Result<Vec<PlaybookSource>, Reason> {
    let Some(root) = context.skills else { return Ok(Vec::new()) };
    let (mut found, mut folders) = (Vec::new(), vec![(root.clone(), 0)]);
    // Lists these folders only: the index would scan the whole vault.
    while let Some((folder, depth)) = folders.pop() {
        context.check()?;
        // There is none, or none that the caller may see.
        let Ok(entries) = view.list(Some(&folder)) else { continue };
        let main = entries.iter().find(|entry| entry.kind == EntryKind::File && entry.path.name() == MAIN_FILE);
        // What is beside it belongs to the skill, and is not a playbook. The folder of all skills is not one itself.
        if let (Some(main), true) = (main, depth > 0) {
            found.push(PlaybookSource { note: main.path.clone(), folder: Some(folder) });
            continue;
        }
        for entry in entries {
            match entry.kind {
                EntryKind::Folder if depth < DEEPEST => folders.push((entry.path, depth + 1)),
                EntryKind::File if entry.path.is_note() => {
                    found.push(PlaybookSource { note: entry.path, folder: None });
                }
                EntryKind::Folder | EntryKind::File => {}
            }
        }
    }
    found.sort_by(|one, other| one.note.cmp(&other.note));
    Ok(found)
}

/// The vault that a URI names; none if it is that of our own skill.
pub(crate) fn single_view(vaults: &OpenedVaults) -> Option<&View> {
    match vaults {
        OpenedVaults::One(view) => Some(view),
        OpenedVaults::Several(_) | OpenedVaults::States(_) => None,
    }
}

/// Our own skill, as this caller gets it.
pub(crate) fn own_skill(context: &Context<'_>) -> SkillEntry {
    server_skill::entry(context.catalogue, context.vaults)
}

/// The skills of a vault. Those that cannot be served are left out.
pub(crate) fn vault_skills(context: &Context<'_>, view: &View) -> Result<Vec<SkillEntry>, Reason> {
    let (mut listed, mut bytes) = (Vec::new(), 0);
    for skill in all(context, view)? {
        if listed.len() == MOST_LISTED || bytes > MOST_LISTED_BYTES {
            break;
        }
        if let Some(entry) = skill.entry(context, view)? {
            bytes += entry.files.iter().map(|file| file.bytes).sum::<u64>();
            listed.push(entry);
        }
    }
    Ok(listed)
}

/// The skill whose `SKILL.md` has this URI.
pub(crate) fn find_skill(context: &Context<'_>, view: Option<&View>, uri: &SkillUri) -> Result<SkillEntry, Reason> {
    let unknown = || Reason::ResourceUnknown { uri: clipped(&uri.to_string()) };
    let Some(view) = view else {
        return uri.is_own().then(|| own_skill(context)).ok_or_else(unknown);
    };
    for skill in all(context, view)? {
        if skill.file_in(uri).is_some_and(|file| file == MAIN_FILE) {
            return skill.entry(context, view)?.ok_or_else(unknown);
        }
    }
    Err(unknown())
}

/// A file of a skill, to the byte.
pub(crate) fn read_skill_file(
    context: &Context<'_>,
    view: Option<&View>,
    uri: &SkillUri,
) -> Result<ResourceBody, Reason> {
    let unknown = || Reason::ResourceUnknown { uri: clipped(&uri.to_string()) };
    let Some(view) = view else {
        let text = uri.is_own().then(|| server_skill(context.catalogue, context.vaults)).ok_or_else(unknown)?;
        return Ok(exactly("text/markdown", text.into_bytes()));
    };
    for skill in all(context, view)? {
        let Some(file) = skill.file_in(uri) else { continue };
        if let Some(SkillBytes { media_type, bytes }) = skill.read(context, view, &file)? {
            return Ok(exactly(media_type, bytes));
        }
    }
    Err(unknown())
}

/// With every byte as it was hashed, also line ends and byte order marks.
fn exactly(media_type: &'static str, bytes: Vec<u8>) -> ResourceBody {
    let form = match String::from_utf8(bytes) {
        Ok(text) => ContentForm::Text(text),
        Err(error) => ContentForm::Bytes(error.into_bytes()),
    };
    let media_type = match &form {
        // A client decodes a text type as UTF-8, which these bytes are not.
        ContentForm::Bytes(_) if media_type.starts_with("text/") => "application/octet-stream",
        _ => media_type,
    };
    ResourceBody { media_type, form, hash: None, eol: None, bom: false }
}

/// All skills of a vault; of two with the same URI the first.
fn all(context: &Context<'_>, view: &View) -> Result<Vec<VaultSkill>, Reason> {
    let Some(root) = context.skills else { return Ok(Vec::new()) };
    let mut skills: Vec<VaultSkill> = Vec::new();
    for source in playbook_sources(context, view)? {
        context.check()?;
        let Some(skill) = VaultSkill::of(view, root, source) else { continue };
        if !skills.iter().any(|known| known.is_at_the_place_of(&skill)) {
            skills.push(skill);
        }
    }
    Ok(skills)
}
