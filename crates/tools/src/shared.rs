//! What several tools need, under the name of the thing.

pub(crate) mod block;
pub(crate) mod budget;
pub(crate) mod checkpoint;
pub(crate) mod editing;
pub(crate) mod fence;
pub(crate) mod folder;
pub(crate) mod frontmatter;
pub(crate) mod hash;
pub(crate) mod heading;
pub(crate) mod index;
pub(crate) mod link;
pub(crate) mod moving;
pub(crate) mod names;
pub(crate) mod occurrence;
pub(crate) mod page;
pub(crate) mod place;
pub(crate) mod properties;
pub(crate) mod reading;
pub(crate) mod references;
pub(crate) mod removing;
pub(crate) mod tags;
pub(crate) mod target;
pub(crate) mod time;
