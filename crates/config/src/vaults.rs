//! Which vaults are served, and under which names.

use std::collections::BTreeSet;
use std::path::PathBuf;

use lapidary_auth::SecretText;
use lapidary_query::nearest;

use super::config_paths::ConfigPlaces;
use super::draft::ConfigDraft;
use super::error::ConfigError;
use super::raw::{RawValue, ValueOrigin, is_unset};
use super::refused::ConfigRefusal;
use super::registry::ObsidianVaults;
use super::vault_table::{AskedRemote, TablePlace, from_table, has_rules};
use super::warning::ConfigWarning;
use super::{ChosenVault, ConfigFiles, RemoteVault, VaultAccess, VaultsConfig, link_folders};

/// The vaults of one source, as written.
#[derive(Debug)]
pub(super) struct RequestedVaults {
    pub(super) vaults: Vec<AskedVault>,
    pub(super) place: ValueOrigin,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AskedVault {
    pub(super) name: Option<String>,
    pub(super) path: String,
    pub(super) access: VaultAccess,
    pub(super) remote: Option<AskedRemote>,
}

/// A table names its vaults; a list entry may; a text has paths separated by `;`.
pub(super) fn requested_vaults(raw: &RawValue) -> Result<Vec<AskedVault>, ConfigRefusal> {
    match raw {
        RawValue::Table(pairs) => pairs.iter().map(|(name, vault)| in_file(name, vault)).collect(),
        RawValue::List(_) => raw.entries(';')?.into_iter().map(perhaps_named).collect(),
        RawValue::Text(_) => Ok(raw.entries(';')?.into_iter().map(unnamed).collect()),
    }
}

/// `name = "path"`, or a table with the path and its own rules.
fn in_file(name: &str, raw: &RawValue) -> Result<AskedVault, ConfigRefusal> {
    match raw {
        RawValue::Table(pairs) => {
            let (place, access) = from_table(name, pairs)?;
            match place {
                TablePlace::Folder(path) => Ok(AskedVault { access, ..named(name, &path)? }),
                TablePlace::Remote(remote) => {
                    Ok(AskedVault { access, remote: Some(remote.clone()), ..named(name, &remote.url)? })
                }
            }
        }
        path => named(name, path.text()?),
    }
}

fn unnamed(path: &str) -> AskedVault {
    AskedVault { name: None, path: path.to_owned(), access: VaultAccess::default(), remote: None }
}

fn named(name: &str, path: &str) -> Result<AskedVault, ConfigRefusal> {
    let name = name.trim();
    if name.is_empty() {
        Err(ConfigRefusal::VaultWithoutName { value: format!("={path}") })
    } else if is_unset(path) {
        Err(ConfigRefusal::VaultWithoutPath { value: name.to_owned() })
    } else {
        Ok(AskedVault { name: Some(name.to_owned()), ..unnamed(path) })
    }
}

/// `NAME=PATH`, or a path that contains `=`: a name has no separator.
fn perhaps_named(entry: &str) -> Result<AskedVault, ConfigRefusal> {
    match entry.split_once('=') {
        // A folder's name may have a `=` in it.
        Some((name, path)) if !name.contains(['/', '\\']) => named(name, path.trim()),
        _ => Ok(unnamed(entry)),
    }
}

/// The first source that gives any: the requested vaults, the vault of the key, the only vault that Obsidian lists.
pub(super) fn choose(draft: &mut ConfigDraft<'_>, files: &dyn ConfigFiles) -> Result<VaultsConfig, ConfigError> {
    let asked = draft.asked.take();
    if draft.demo {
        // Only what was given on the same command line contradicts it.
        // A vault of the file or of a variable is the everyday set-up, which `--demo` sets aside without a word.
        if asked.is_some_and(|asked| matches!(asked.place, ValueOrigin::Flag(_))) {
            draft.warnings.push(ConfigWarning::DemoWins);
        }
        return Ok(VaultsConfig::Demo);
    }
    let mut found = match asked {
        Some(mut asked) => {
            // Before the folders, because the name of a remote vault is not a folder that could exist.
            take_remote(&mut asked, &draft.known);
            let named = NamedVaults::gather(draft, files);
            named.replace_names(&mut asked, draft.places, files)?;
            existing(&asked, &named, draft.places, files)?
        }
        None => vec![discovered(draft, files)?],
    };
    // Before duplicates are dropped, which compares the rules.
    keep_rules(&mut found, draft)?;
    let once = each_folder_once(found, &mut draft.warnings)?;
    let mut chosen = each_name_once(once, &mut draft.warnings);
    link_folders::complete(&mut chosen, draft, files)?;
    Ok(VaultsConfig::Chosen(chosen))
}

/// The vaults that have a name without being given on the command line.
pub(super) struct NamedVaults(Vec<(String, PathBuf)>);

impl NamedVaults {
    /// Those of the file and the variable, and those that Obsidian lists.
    pub(super) fn gather(draft: &ConfigDraft<'_>, files: &dyn ConfigFiles) -> Self {
        let places = draft.places;
        // A remote vault has no folder that a name could be replaced by.
        let written = draft.known.iter().filter(|vault| vault.remote.is_none()).filter_map(|vault| {
            let path = places.whole(&vault.path).ok()?;
            Some((vault.name.clone().unwrap_or_else(|| places.basename(&path)), path))
        });
        // What is wrong with the list is said where the list is needed.
        let listed = ObsidianVaults::read(places, files, &mut Vec::new()).vaults.into_iter();
        let listed = listed.map(|path| (places.basename(&path), path));
        let mut named: Vec<(String, PathBuf)> = Vec::new();
        for vault in written.chain(listed) {
            // The same folder under two names stays twice: either name finds it.
            if !named.contains(&vault) {
                named.push(vault);
            }
        }
        Self(named)
    }

    pub(super) fn names(self) -> Vec<String> {
        self.0.into_iter().map(|(name, _)| name).collect()
    }

    fn called(&self, is_it: impl Fn(&str) -> bool) -> Vec<&PathBuf> {
        self.0.iter().filter(|(name, _)| is_it(name)).map(|(_, path)| path).collect()
    }

    /// The name that was probably meant.
    fn nearest(&self, typed: &str) -> Option<String> {
        nearest(typed, self.0.iter().map(|(name, _)| name.as_str())).map(str::to_owned)
    }

    /// Puts folders in place of names that were given on the command line. A word that could be either is refused.
    fn replace_names(
        &self,
        asked: &mut RequestedVaults,
        places: &ConfigPlaces<'_>,
        files: &dyn ConfigFiles,
    ) -> Result<(), ConfigError> {
        // In files and variables a word is a folder, whatever vaults are called.
        if !matches!(asked.place, ValueOrigin::Flag(_)) {
            return Ok(());
        }
        for vault in asked.vaults.iter_mut().filter(|vault| vault.name.is_none() && is_name(&vault.path)) {
            let folder = places.whole(&vault.path).map_err(|refused| refused.at(asked.place.clone()))?;
            let (mut name, mut meant) = (vault.path.clone(), self.called(|name| name == vault.path));
            // In another case only if it can mean nothing else: on many systems both could exist.
            if meant.is_empty() && !files.is_folder(&folder) {
                let typed = vault.path.to_lowercase();
                meant = self.called(|name| name.to_lowercase() == typed);
                name = self.0.iter().find(|(_, path)| meant == [path]).map_or(name, |(known, _)| known.clone());
            }
            // A folder of that name in the working folder: guessing could serve the wrong notes.
            if !meant.is_empty() && !meant.contains(&&folder) && files.is_folder(&folder) {
                meant.push(&folder);
            }
            match meant.as_slice() {
                [] => {}
                // With the name as it is known, so that it is shown in its own spelling.
                [path] => {
                    *vault = AskedVault { name: Some(name), ..unnamed(&path.to_string_lossy()) };
                }
                several => {
                    let paths = several.iter().map(|path| (*path).clone()).collect();
                    return Err(ConfigError::SeveralNamed { name: vault.path.clone(), paths });
                }
            }
        }
        Ok(())
    }
}

/// Puts vaults behind Obsidian in place of their names on the command line.
fn take_remote(asked: &mut RequestedVaults, known: &[AskedVault]) {
    // Elsewhere a word is a path; only on the command line it may be a name.
    if !matches!(asked.place, ValueOrigin::Flag(_)) {
        return;
    }
    for vault in asked.vaults.iter_mut().filter(|vault| vault.name.is_none()) {
        // The last one, as for every setting.
        let named = known.iter().rfind(|known| known.remote.is_some() && known.name.as_ref() == Some(&vault.path));
        if let Some(named) = named {
            *vault = named.clone();
        }
    }
}

/// Whether it is a single word, and no way to write a folder.
fn is_name(written: &str) -> bool {
    !written.contains(['/', '\\']) && !written.starts_with('~') && !matches!(written, "." | "..")
}

fn existing(
    asked: &RequestedVaults,
    named: &NamedVaults,
    places: &ConfigPlaces<'_>,
    files: &dyn ConfigFiles,
) -> Result<Vec<ChosenVault>, ConfigError> {
    let mut found = Vec::new();
    for AskedVault { name, path: given, access, remote } in &asked.vaults {
        let place = || asked.place.clone();
        if let Some(remote) = remote {
            let remote = with_certificate(remote, &place(), places, files)?;
            // The address stands for a path: two vaults at one address are the same.
            let (name, path) = (name.clone().unwrap_or_default(), PathBuf::from(&remote.url));
            found.push(ChosenVault { name, path, access: access.clone(), remote: Some(remote) });
            continue;
        }
        let path = places.whole(given).map_err(|refused| refused.at(place()))?;
        if !files.is_folder(&path) {
            // Only a single word on the command line could have been meant as a name.
            let nearest = named
                .nearest(given)
                .filter(|_| name.is_none() && matches!(asked.place, ValueOrigin::Flag(_)) && is_name(given));
            return Err(ConfigError::VaultMissing { place: place(), given: given.clone(), path, nearest });
        }
        let name = name.clone().unwrap_or_else(|| places.basename(&path));
        found.push(ChosenVault { name, path, access: access.clone(), remote: None });
    }
    Ok(found)
}

fn with_certificate(
    asked: &AskedRemote,
    place: &ValueOrigin,
    places: &ConfigPlaces<'_>,
    files: &dyn ConfigFiles,
) -> Result<RemoteVault, ConfigError> {
    let AskedRemote { url, key, certificate } = asked.clone();
    let certificate = match certificate {
        None => None,
        Some(given) => {
            let path = places.whole(&given).map_err(|refused| refused.at(place.clone()))?;
            let missing = |_| ConfigError::NoCertificate { place: place.clone(), path: path.clone() };
            Some(files.read(&path).map_err(missing)?)
        }
    };
    Ok(RemoteVault { url, key, certificate })
}

/// Rules belong to a folder: naming it on the command line does not open what the file closes.
fn keep_rules(found: &mut [ChosenVault], draft: &ConfigDraft<'_>) -> Result<(), ConfigError> {
    // Rules of a remote vault are found by its name, which already brought them along.
    for (ruled, place) in draft.ruled.iter().filter(|(ruled, _)| ruled.remote.is_none()) {
        let path = draft.places.whole(&ruled.path).map_err(|refused| refused.at(place.clone()))?;
        // A vault with its own rules keeps them; two different sets for one folder are refused below.
        for vault in found.iter_mut().filter(|vault| vault.path == path && !has_rules(&vault.access)) {
            vault.access = ruled.access.clone();
        }
    }
    Ok(())
}

/// Only a vault that the owner chose is served: by its key, or because it is the only one.
fn discovered(draft: &mut ConfigDraft<'_>, files: &dyn ConfigFiles) -> Result<ChosenVault, ConfigError> {
    let url = draft.config.app.url.clone().unwrap_or_else(|| RemoteVault::USUAL_URL.to_owned());
    let ConfigDraft { places, warnings, api_key, .. } = draft;
    let registry = ObsidianVaults::read(places, files, warnings);
    let vaults = match api_key {
        Some(key) => registry.with_key(key, files, warnings),
        None => registry.vaults,
    };
    match (vaults.as_slice(), api_key) {
        ([path], _) => {
            let (name, access) = (places.basename(path), VaultAccess::default());
            Ok(ChosenVault { name, path: path.clone(), access, remote: None })
        }
        // No folder of this disk, so it is behind the app, wherever that is.
        ([], Some(key)) => {
            let (name, access) = (RemoteVault::USUAL_NAME.to_owned(), VaultAccess::default());
            let remote = RemoteVault { url: url.clone(), key: SecretText::new(key.clone()), certificate: None };
            Ok(ChosenVault { name, path: PathBuf::from(url), access, remote: Some(remote) })
        }
        ([], None) => Err(ConfigError::NoVault { looked_at: registry.looked_at, noticed: warnings.clone() }),
        (_, Some(_)) => Err(ConfigError::KeyOfSeveral { vaults }),
        (_, None) => Err(ConfigError::SeveralVaults { vaults, noticed: warnings.clone() }),
    }
}

fn each_folder_once(
    found: Vec<ChosenVault>,
    warnings: &mut Vec<ConfigWarning>,
) -> Result<Vec<ChosenVault>, ConfigError> {
    let mut once: Vec<ChosenVault> = Vec::new();
    for vault in found {
        match once.iter().find(|other| other.path == vault.path) {
            None => once.push(vault),
            // One of them would be served without the rules of the other.
            Some(other) if other.access != vault.access => {
                return Err(ConfigError::TwoRules { path: vault.path, names: [other.name.clone(), vault.name] });
            }
            // The same vault twice, word for word: nothing to say.
            Some(other) if other.name == vault.name => {}
            Some(other) => {
                let (kept, dropped) = (other.name.clone(), vault.name);
                warnings.push(ConfigWarning::SameFolder { path: vault.path, kept, dropped });
            }
        }
    }
    Ok(once)
}

/// The first vault with a name keeps it; the others get an unused number.
fn each_name_once(found: Vec<ChosenVault>, warnings: &mut Vec<ConfigWarning>) -> Vec<ChosenVault> {
    // All names first: `a-2` may be the name of another vault.
    let mut taken: BTreeSet<String> = found.iter().map(|vault| vault.name.clone()).collect();
    let mut seen = BTreeSet::new();
    let mut renamed = |vault: ChosenVault| {
        if seen.insert(vault.name.clone()) {
            return vault;
        }
        let mut numbered = (2_usize..).map(|number| format!("{}-{number}", vault.name));
        // The numbers never end, so one is always free; the alternative only satisfies the type.
        let name = numbered.find(|name| taken.insert(name.clone())).unwrap_or_else(|| vault.name.clone());
        warnings.push(ConfigWarning::Renamed {
            wanted: vault.name.clone(),
            name: name.clone(),
            path: vault.path.clone(),
        });
        ChosenVault { name, ..vault }
    };
    found.into_iter().map(&mut renamed).collect()
}
