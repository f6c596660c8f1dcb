//! What several tools need, under the name of the thing.

pub(crate) mod budget;
pub(crate) mod cursor;
pub(crate) mod fence;
pub(crate) mod folder;
pub(crate) mod hash;
pub(crate) mod index;
pub(crate) mod link;
pub(crate) mod names;
pub(crate) mod page;
pub(crate) mod patching;
pub(crate) mod periodic;
pub(crate) mod place;
pub(crate) mod properties;
pub(crate) mod reading;
pub(crate) mod section;
pub(crate) mod tags;
pub(crate) mod target;
pub(crate) mod time;
pub(crate) mod writing;
