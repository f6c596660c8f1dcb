use lapidary_note::PatchTarget;
use lapidary_operation::clipped;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A part of a note.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Section {
    pub r#type: SectionType,
    /// Heading (`Tasks`, or `Project::Tasks` if not unique), block id, or property.
    #[schemars(length(min = 1))]
    pub target: String,
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

impl Section {
    pub(crate) fn patch_target(&self) -> PatchTarget<'_> {
        match self.r#type {
            SectionType::Heading => PatchTarget::Heading(&self.target),
            SectionType::Block => PatchTarget::Block(&self.target),
            SectionType::Frontmatter => PatchTarget::Property(&self.target),
        }
    }

    /// The same under another name for what it names.
    pub fn named(&self, target: &str) -> SectionOutput {
        SectionOutput { r#type: self.r#type, target: target.to_owned() }
    }
}

/// Longer lists help nobody.
pub const MOST_NAMES: usize = 50;

/// Of the names of a note's parts, as much as a refusal lists.
pub fn names(all: &[String]) -> Vec<String> {
    all.iter().take(MOST_NAMES).map(|name| clipped(name)).collect()
}
