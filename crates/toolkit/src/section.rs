//! The argument that names a section.

use lapidary_note::{Heading, HeadingMatch, Note, PatchTarget};
use lapidary_operation::{Reason, clipped};
use lapidary_vault::VaultPath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::heading::{DELIMITER, missing};

/// A part of a note.
#[derive(Deserialize, JsonSchema)]
#[serde(from = "SectionInput")]
pub struct NoteSection {
    pub r#type: SectionType,
    pub target: String,
    /// Which of several headings, counted from 1.
    occurrence: Option<usize>,
}

/// The same as given by a caller. A bare string is a heading, or a block if it starts with `^`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-short" = {
    "anyOf": [{ "type": "string" }, { "type": "object" }],
    "description": "Heading (`Tasks`, `Plan::Tasks`) or `^block`.",
}))]
struct SectionInput {
    /// By default a heading, or a block if `target` starts with `^`.
    r#type: Option<SectionType>,
    /// Heading (`Tasks` or `Project::Tasks`), block id or property.
    #[schemars(length(min = 1))]
    target: String,
    /// Which of several headings that match, counted from 1.
    #[schemars(range(min = 1))]
    occurrence: Option<usize>,
}

impl From<SectionInput> for NoteSection {
    fn from(SectionInput { r#type, target, occurrence }: SectionInput) -> Self {
        // The mark is how blocks are written in links, and no heading needs it.
        let implied = if target.starts_with('^') { SectionType::Block } else { SectionType::Heading };
        Self { r#type: r#type.unwrap_or(implied), target, occurrence }
    }
}

#[derive(Clone, Copy, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SectionType {
    Heading,
    Block,
    Frontmatter,
}

#[derive(Serialize, JsonSchema)]
pub struct SectionOutput {
    pub r#type: SectionType,
    pub target: String,
}

impl SectionType {
    pub fn name(self) -> &'static str {
        match self {
            Self::Heading => "heading",
            Self::Block => "block",
            Self::Frontmatter => "frontmatter",
        }
    }
}

impl NoteSection {
    pub(crate) fn patch_target(&self) -> PatchTarget<'_> {
        match self.r#type {
            SectionType::Heading => match self.occurrence {
                Some(occurrence) => PatchTarget::NthHeading(&self.target, occurrence),
                None => PatchTarget::Heading(&self.target),
            },
            SectionType::Block => PatchTarget::Block(&self.target),
            SectionType::Frontmatter => PatchTarget::Property(&self.target),
        }
    }

    pub fn is_property(&self) -> bool {
        matches!(self.r#type, SectionType::Frontmatter)
    }

    /// The headings that are meant, which is one where `occurrence` says which.
    pub fn find_heading<'n>(&self, note: &'n Note<'_>) -> HeadingMatch<'n> {
        note.find_nth_heading(&self.target, self.occurrence)
    }

    /// The one heading that is meant.
    pub fn heading<'n>(&self, path: &VaultPath, note: &'n Note<'_>) -> Result<&'n Heading, Reason> {
        let path_of = |heading: &Heading| note.heading_path(heading).join(DELIMITER);
        match self.find_heading(note) {
            HeadingMatch::One(heading) => Ok(heading),
            // With all names, as the nearest one is looked for among them.
            HeadingMatch::None => Err(missing(path, "heading", &self.target, note.headings.iter().map(path_of))),
            HeadingMatch::Several(several) => {
                // The refusal shows only a few of them.
                let candidates: Vec<String> = several.into_iter().take(MOST_NAMES).map(path_of).collect();
                let (path, target) = (path.clone(), clipped(&self.target));
                Err(Reason::AmbiguousSection { path, target, candidates: names(&candidates) })
            }
        }
    }

    /// The same under another name for the target.
    pub fn named(&self, target: &str) -> SectionOutput {
        SectionOutput { r#type: self.r#type, target: target.to_owned() }
    }
}

/// Longer lists are not useful.
pub const MOST_NAMES: usize = 20;

/// How many names of parts a refusal lists.
pub fn names(all: &[String]) -> Vec<String> {
    all.iter().take(MOST_NAMES).map(|name| clipped(name)).collect()
}
