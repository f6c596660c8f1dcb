//! The demo vault that is part of the binary.

use std::io;

use lapidary_vault::store::DemoFolder;

const FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/demo.rs"));

pub(crate) const NAME: &str = "demo";

/// A fresh copy that lives as long as the value.
pub(crate) fn unpack() -> io::Result<DemoFolder> {
    DemoFolder::unpack(NAME, FILES.iter().copied())
}
