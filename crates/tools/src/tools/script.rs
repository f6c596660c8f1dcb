//! Several calls that read, as one.

pub(super) mod tools_script;
