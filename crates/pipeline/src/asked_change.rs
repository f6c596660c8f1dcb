//! What a request was about, kept with it: the process in which the owner answers may have other settings than the server
//! that was asked, and files may have changed meanwhile.

use std::collections::BTreeSet;

use lapidary_note::ContentHash;
use lapidary_vault::{Change, ChangeSet, FolderNames, PathGlobs, PathPrefix, Policy, SourceMark, SourceRules};
use serde_json::{Value, json};

use crate::linked_places::LinkedPlaces;

/// The change that a caller asked for, as far as an answer must not go beyond it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedChange {
    /// Identifies the request, other than a later one for the same call.
    pub(crate) request: ContentHash,
    /// Every path of the change, and every place that a link leads to.
    pub(crate) files: BTreeSet<String>,
}

impl AskedChange {
    /// Whether a change has no file that was not asked about.
    pub(crate) fn covers(&self, changes: &ChangeSet, places: &LinkedPlaces) -> bool {
        files_of(changes, places).is_subset(&self.files)
    }
}

/// Every path of a change, and every place that a link leads to.
pub(crate) fn files_of(changes: &ChangeSet, places: &LinkedPlaces) -> BTreeSet<String> {
    let paths = changes.changes.iter().flat_map(Change::paths);
    paths.flat_map(|path| [path.to_string(), places.of_path(path).to_string()]).collect()
}

/// A policy in a request.
pub(crate) fn written_policy(policy: &Policy) -> Value {
    let texts = |prefixes: &[PathPrefix]| prefixes.iter().map(ToString::to_string).collect::<Vec<_>>();
    json!({
        "read": policy.read.as_deref().map(texts),
        "write": policy.write.as_deref().map(texts),
        "deny": texts(&policy.deny),
        "readOnly": policy.read_only,
        "ownFiles": texts(&policy.own_files),
        "allowGlobs": policy.allow_globs.as_ref().map(PathGlobs::written),
        "denyGlobs": policy.deny_globs.written(),
        "skipFolders": policy.skip_folders.names(),
        "hideExcluded": policy.hide_excluded,
        "sourcePaths": texts(&policy.sources.paths),
        "sourceMarks": policy.sources.marks.iter().map(SourceMark::written).collect::<Vec<_>>(),
    })
}

/// `None` if it cannot be read: then what the caller could reach is not known.
pub(crate) fn read_policy(written: &Value) -> Option<Policy> {
    let texts = |value: &Value| -> Option<Vec<String>> {
        value.as_array()?.iter().map(|text| text.as_str().map(str::to_owned)).collect()
    };
    let prefixes = |value: &Value| -> Option<Vec<PathPrefix>> {
        texts(value)?.iter().map(|text| PathPrefix::parse(text).ok()).collect()
    };
    // A list that is missing opens everything, so it has to be there as `null`.
    let optional = |key: &str| written.get(key).map(|value| (!value.is_null()).then_some(value));
    Some(Policy {
        read: optional("read")?.map_or(Some(None), |value| prefixes(value).map(Some))?,
        write: optional("write")?.map_or(Some(None), |value| prefixes(value).map(Some))?,
        deny: prefixes(&written["deny"])?,
        read_only: written["readOnly"].as_bool()?,
        own_files: prefixes(&written["ownFiles"])?,
        allow_globs: match optional("allowGlobs")? {
            Some(value) => Some(PathGlobs::parse(&texts(value)?).ok()?),
            None => None,
        },
        deny_globs: PathGlobs::parse(&texts(&written["denyGlobs"])?).ok()?,
        skip_folders: FolderNames::new(&texts(&written["skipFolders"])?),
        hide_excluded: written["hideExcluded"].as_bool()?,
        sources: SourceRules {
            paths: prefixes(&written["sourcePaths"])?,
            marks: texts(&written["sourceMarks"])?.iter().map(|mark| SourceMark::parse(mark)).collect::<Option<_>>()?,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_is_read_as_it_was_written_or_not_at_all() {
        let prefixes = |texts: &[&str]| texts.iter().map(|text| PathPrefix::parse(text).unwrap()).collect();
        let policy = Policy {
            read: Some(prefixes(&["Work", "Home/a b"])),
            write: None,
            deny: prefixes(&["Private"]),
            read_only: true,
            own_files: prefixes(&["lapidary.toml"]),
            allow_globs: Some(PathGlobs::parse(&["**/*.md", "x/{a,b}"]).unwrap()),
            deny_globs: PathGlobs::parse(&["*secret*"]).unwrap(),
            skip_folders: FolderNames::new(&["Node_Modules"]),
            hide_excluded: true,
            sources: SourceRules {
                paths: prefixes(&["Sources"]),
                marks: ["#source", "status=final"].map(|mark| SourceMark::parse(mark).unwrap()).to_vec(),
            },
        };
        for policy in [Policy::default(), policy] {
            let written = written_policy(&policy);
            assert_eq!(written_policy(&read_policy(&written).unwrap()), written);
            for key in written.as_object().unwrap().keys() {
                let mut damaged = written.clone();
                damaged.as_object_mut().unwrap().remove(key);
                assert!(read_policy(&damaged).is_none(), "{key}");
            }
        }
    }
}
