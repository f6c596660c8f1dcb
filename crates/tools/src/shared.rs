//! What several tools need, under the name of the thing.

pub(crate) mod fence;
pub(crate) mod hash;
pub(crate) mod properties;
pub(crate) mod reading;
pub(crate) mod target;
