//! The folders outside the vaults that links may lead to, and the one that files may come from.

use super::draft::ConfigDraft;
use super::error::ConfigError;
use super::warning::ConfigWarning;
use super::{ChosenVault, ConfigFiles};

/// Adds the folders that all vaults follow to those of each, and refuses folders through which a link would reach
/// closed paths.
pub(super) fn complete(
    vaults: &mut [ChosenVault],
    draft: &mut ConfigDraft<'_>,
    files: &dyn ConfigFiles,
) -> Result<(), ConfigError> {
    // Through any of these, a link would reach notes or state that callers must not see.
    let closed: Vec<_> = vaults
        .iter()
        .map(|vault| vault.path.clone())
        .chain([draft.config.state_dir.clone()])
        .chain(draft.config.log.folder.clone())
        .collect();
    // The same holds for files that are copied into a vault.
    if let Some(folder) = &draft.config.imports {
        let mut all = closed.iter().chain(&draft.config.own_files);
        if let Some(other) = all.find(|other| folder.starts_with(other) || other.starts_with(folder)) {
            return Err(ConfigError::ImportsTooMuch { folder: folder.clone(), other: other.clone() });
        }
    }
    for vault in vaults {
        let mut whole = Vec::new();
        for folder in &vault.access.follow {
            let written = folder.to_string_lossy();
            let refused = |refused| ConfigError::Follow { vault: vault.name.clone(), refused: Box::new(refused) };
            whole.push(draft.places.whole(&written).map_err(refused)?);
        }
        // The folders of all vaults come after those of each; sorted and unique, so that the order never matters.
        whole.extend(draft.config.access.follow_links.iter().cloned());
        whole.sort();
        whole.dedup();
        // A folder that contains a closed one is as bad as one inside it.
        for folder in &whole {
            if let Some(other) = closed.iter().find(|other| folder.starts_with(other) || other.starts_with(folder)) {
                return Err(ConfigError::FollowsTooMuch { folder: folder.clone(), other: other.clone() });
            }
            // A missing folder is only a warning: a drive may be mounted later.
            let warning = ConfigWarning::NothingToFollow { folder: folder.clone() };
            if !files.is_folder(folder) && !draft.warnings.contains(&warning) {
                draft.warnings.push(warning);
            }
        }
        vault.access.follow = whole;
    }
    Ok(())
}
