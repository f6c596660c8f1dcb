//! What may be wrong in a vault: findings with the notes they are about, and fixes for those that have a safe one.
//!
//! A finding is computed from the notes that the caller may read. Its id is made from what it is about, so it stays the
//! same until the finding is gone.

mod attachments;
mod fixing;
mod linking;
mod naming_checks;
mod note_checks;
mod property_checks;
mod schema_checks;

use lapidary_note::ContentHash;
use lapidary_operation::{Context, Reason};
use lapidary_vault::{VaultPath, View, VisibleNotes};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{index, unresolved::KnownTargets, vault_links::VaultLinks};

pub use fixing::{FixedFinding, PlannedFixes, UnfixedFinding, plan_fixes};

// What a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    BrokenLink,
    MissingAttachment,
    BrokenProperties,
    BrokenSchema,
    CaseTwin,
    ConflictFile,
    DuplicateName,
    DuplicateAlias,
    PropertyTypes,
    SchemaMismatch,
    PeriodicSettings,
    UnportableName,
    TagCase,
    OrphanNote,
    OrphanAttachment,
    EmptyNote,
    HugeNote,
    HubWithoutIndex,
}

// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Something is lost or does not work.
    High,
    /// It may lead to the wrong note, or get lost elsewhere.
    Medium,
    /// Untidy.
    Low,
}

impl Severity {
    pub fn name(self) -> &'static str {
        match self {
            Self::High => "high",
            Self::Medium => "medium",
            Self::Low => "low",
        }
    }
}

impl FindingKind {
    /// The gravest first.
    pub const ALL: [Self; 18] = [
        Self::BrokenLink,
        Self::MissingAttachment,
        Self::BrokenProperties,
        Self::BrokenSchema,
        Self::CaseTwin,
        Self::ConflictFile,
        Self::DuplicateName,
        Self::DuplicateAlias,
        Self::PropertyTypes,
        Self::SchemaMismatch,
        Self::PeriodicSettings,
        Self::UnportableName,
        Self::TagCase,
        Self::OrphanNote,
        Self::OrphanAttachment,
        Self::EmptyNote,
        Self::HugeNote,
        Self::HubWithoutIndex,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::BrokenLink => "broken_link",
            Self::MissingAttachment => "missing_attachment",
            Self::BrokenProperties => "broken_properties",
            Self::BrokenSchema => "broken_schema",
            Self::CaseTwin => "case_twin",
            Self::ConflictFile => "conflict_file",
            Self::DuplicateName => "duplicate_name",
            Self::DuplicateAlias => "duplicate_alias",
            Self::PropertyTypes => "property_types",
            Self::SchemaMismatch => "schema_mismatch",
            Self::PeriodicSettings => "periodic_settings",
            Self::UnportableName => "unportable_name",
            Self::TagCase => "tag_case",
            Self::OrphanNote => "orphan_note",
            Self::OrphanAttachment => "orphan_attachment",
            Self::EmptyNote => "empty_note",
            Self::HugeNote => "huge_note",
            Self::HubWithoutIndex => "hub_without_index",
        }
    }

    pub fn severity(self) -> Severity {
        match self {
            Self::BrokenLink
            | Self::MissingAttachment
            | Self::BrokenProperties
            | Self::BrokenSchema
            | Self::CaseTwin
            | Self::ConflictFile => Severity::High,
            Self::DuplicateName
            | Self::DuplicateAlias
            | Self::PropertyTypes
            | Self::SchemaMismatch
            | Self::PeriodicSettings
            | Self::UnportableName => Severity::Medium,
            Self::TagCase
            | Self::OrphanNote
            | Self::OrphanAttachment
            | Self::EmptyNote
            | Self::HugeNote
            | Self::HubWithoutIndex => Severity::Low,
        }
    }

    fn id(self, about: &[&str]) -> String {
        // Separated by a character that no path contains, so that two findings never share an id.
        let about: Vec<String> = about.iter().map(|part| format!("{part}\0")).collect();
        let hash = ContentHash::of(about.concat().as_bytes()).to_string();
        let digits = hash.strip_prefix("sha256:").unwrap_or(&hash);
        format!("{}.{}", self.name(), digits.get(..ID_DIGITS).unwrap_or(digits))
    }

    /// The kind of a finding by its id.
    pub fn of_id(id: &str) -> Option<Self> {
        let (name, _) = id.split_once('.')?;
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// Enough for millions of findings of a kind.
const ID_DIGITS: usize = 12;
/// How many paths of a finding are kept; all of them count.
const MOST_PATHS: usize = 10;

/// Something that may be wrong.
#[derive(Clone, Debug)]
pub struct HealthFinding {
    pub id: String,
    pub kind: FindingKind,
    /// The first ones; the first is where to look.
    pub paths: Vec<VaultPath>,
    pub path_count: usize,
    /// A sentence of ours, with all foreign text quoted.
    pub says: String,
    /// The link target that was not found, for the nearest name.
    pub target: Option<String>,
    pub fix: Result<FindingFix, &'static str>,
}

impl HealthFinding {
    fn new(
        kind: FindingKind,
        about: &[&str],
        paths: &[&VaultPath],
        says: String,
        fix: Result<FindingFix, &'static str>,
    ) -> Self {
        // All are counted, but a finding about thousands of notes must stay small.
        let shown = paths.iter().take(MOST_PATHS).map(|path| (*path).clone()).collect();
        Self { id: kind.id(about), kind, paths: shown, path_count: paths.len(), says, target: None, fix }
    }
}

/// A change that mends a finding and loses nothing.
#[derive(Clone, Debug)]
pub enum FindingFix {
    /// The links of a note to a target lead to this file instead.
    Retarget { source: VaultPath, target: String, to: VaultPath, keeps_words: bool },
    /// Other spellings of a tag become this one.
    Respell { tag: String, notes: Vec<VaultPath> },
    /// The values of a property become this kind.
    Convert { property: String, to: crate::property_kinds::PropertyKind, notes: Vec<VaultPath> },
    /// The file gets a name that every system accepts; links follow.
    Rename { from: VaultPath, to: VaultPath },
    /// The file goes to the trash.
    Trash { path: VaultPath },
}

impl FindingFix {
    /// What it does, in words.
    pub fn says(&self) -> String {
        use lapidary_operation::quote::{quoted, quoted_path};
        match self {
            Self::Retarget { to, keeps_words: true, .. } => format!("link to {} and keep the words", quoted_path(to)),
            Self::Retarget { to, .. } => format!("link to {}", quoted_path(to)),
            Self::Respell { tag, .. } => format!("spell it #{} everywhere", quoted(tag)),
            Self::Convert { to, .. } => format!("make every value a {to}"),
            Self::Rename { to, .. } => format!("rename it to {}, links follow", quoted(to.name())),
            Self::Trash { .. } => "move it to the trash".to_owned(),
        }
    }
}

/// What the checks need, computed once for all of them.
struct CheckedVault<'c, 'x, 'n> {
    context: &'c Context<'x>,
    view: &'n View,
    notes: &'n VisibleNotes,
    links: VaultLinks<'n>,
    known: KnownTargets<'n>,
    found: Vec<HealthFinding>,
}

/// All findings of the chosen kinds, by kind, each kind in path order.
pub fn check(context: &Context<'_>, view: &View, kinds: &[FindingKind]) -> Result<Vec<HealthFinding>, Reason> {
    let notes = index::notes(context, view)?;
    // Most checks need the links, and reading them twice would cost as much as the check.
    let links = VaultLinks::of(context, notes)?;
    let mut checked = CheckedVault { context, view, notes, links, known: KnownTargets::of(notes), found: Vec::new() };
    for kind in kinds {
        context.check()?;
        match kind {
            FindingKind::BrokenLink | FindingKind::MissingAttachment => checked.unresolved_links(*kind)?,
            FindingKind::BrokenProperties => checked.broken_properties(),
            FindingKind::BrokenSchema => checked.broken_schemas()?,
            FindingKind::SchemaMismatch => checked.schema_mismatches()?,
            FindingKind::CaseTwin => checked.case_twins(),
            FindingKind::ConflictFile => checked.conflict_files()?,
            FindingKind::DuplicateName => checked.duplicate_names(),
            FindingKind::DuplicateAlias => checked.duplicate_aliases(),
            FindingKind::PropertyTypes => checked.property_types()?,
            FindingKind::PeriodicSettings => checked.periodic_settings()?,
            FindingKind::UnportableName => checked.unportable_names(),
            FindingKind::TagCase => checked.tag_case(),
            FindingKind::OrphanNote => checked.orphan_notes(),
            FindingKind::OrphanAttachment => checked.orphan_attachments(),
            FindingKind::EmptyNote => checked.empty_notes()?,
            FindingKind::HugeNote => checked.huge_notes(),
            FindingKind::HubWithoutIndex => checked.hubs(),
        }
    }
    Ok(checked.found)
}

impl<'n> CheckedVault<'_, '_, 'n> {
    fn add(
        &mut self,
        kind: FindingKind,
        about: &[&str],
        paths: &[&VaultPath],
        says: String,
        fix: Result<FindingFix, &'static str>,
    ) {
        self.found.push(HealthFinding::new(kind, about, paths, says, fix));
    }

    /// The notes, in path order.
    fn note_paths(&self) -> Vec<&'n VaultPath> {
        self.links.files.iter().map(|entry| entry.path()).filter(|path| path.is_note()).collect()
    }
}

/// Completes findings that are shown: the nearest name of each missing target. Compares all names, so not for all findings.
pub fn name_nearest(context: &Context<'_>, view: &View, findings: &mut [HealthFinding]) -> Result<(), Reason> {
    // Comparing every name of the vault is only worth it if a finding has none yet.
    if findings.iter().all(|finding| finding.target.is_none() || finding.fix.is_ok()) {
        return Ok(());
    }
    let known = KnownTargets::of(index::notes(context, view)?);
    // One with a fix names its target already.
    for finding in findings.iter_mut().filter(|finding| finding.fix.is_err()) {
        context.check()?;
        let near = finding.target.as_deref().and_then(|target| known.nearest(target));
        if let Some(near) = near {
            finding.says += &format!("; nearest is {}", lapidary_operation::quote::quoted_path(near));
        }
    }
    Ok(())
}
