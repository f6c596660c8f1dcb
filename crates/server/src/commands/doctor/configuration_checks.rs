//! The configuration: where each value comes from, and what has no effect.

use std::path::Path;

use lapidary_config::{ConfigSources, SettingOrigin, origins};
use lapidary_vault::store::open_to_others;

use super::finding::Finding;
use crate::trusted_roots::trusted_roots;

/// Where the values come from; `warnings` are those of a configuration that was loaded.
pub(super) fn look(sources: &ConfigSources<'_>, warnings: &[String]) -> Vec<Finding> {
    let mut findings = Vec::new();
    // What cannot be read has failed to load before, and is reported there.
    let origins = origins(sources).unwrap_or_default();
    if origins.is_empty() {
        findings.push(Finding::ok("settings", "none is given; all have their defaults"));
    }
    findings.extend(origins.iter().map(origin));
    findings.extend(warnings.iter().map(|warning| {
        let advice = "correct or remove it; `lapidary config show --all` lists what is read";
        Finding::warning("settings", warning.clone(), advice)
    }));
    findings.extend(exposed_files(&origins));
    findings
}

fn origin(origin: &SettingOrigin) -> Finding {
    match &origin.replaced_by {
        None => Finding::ok(origin.name, format!("from {}", origin.place)),
        Some(other) => Finding::ok(origin.name, format!("from {}, but {other} counts instead", origin.place)),
    }
}

/// A server starts without them, and only its log says so.
pub(super) fn unusable_authorities(file: Option<&Path>) -> Option<Finding> {
    let problem = trusted_roots(file).err()?;
    Some(Finding::failure(
        "web.authorities",
        problem,
        "name a file with certificates, or remove the setting; until then those in the program are trusted",
    ))
}

/// Files with a secret that other users of this computer may read.
fn exposed_files(origins: &[SettingOrigin]) -> Vec<Finding> {
    // Each file once, however many secrets it has.
    let mut files: Vec<_> =
        origins.iter().filter(|origin| origin.is_secret).filter_map(|it| it.file.as_ref()).collect();
    files.sort();
    files.dedup();
    let exposed = files.into_iter().filter(|file| open_to_others(file) == Some(true));
    exposed
        .map(|file| {
            let found = format!("{} has a token or key, and other users of this computer may read it", file.display());
            Finding::failure("secrets", found, format!("chmod 600 \"{}\"", file.display()))
        })
        .collect()
}
