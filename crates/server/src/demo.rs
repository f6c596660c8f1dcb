//! The demo vault bundled in the binary.

use std::io;

use lapidary_vault::store::DemoFolder;

const FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/demo.rs"));

pub(crate) const NAME: &str = "demo";

/// A fresh copy that is deleted with the value.
pub(crate) fn unpack() -> io::Result<DemoFolder> {
    DemoFolder::unpack(NAME, FILES.iter().copied())
}
