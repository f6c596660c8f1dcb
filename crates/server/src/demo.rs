//! The demo vault bundled in the binary.

use std::io;

use lapidary_pipeline::ServedVault;
use lapidary_tools::recipes::{RecipeName, approved_hash, definition_in};
use lapidary_vault::store::DemoFolder;

const FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/demo.rs"));

pub(crate) const NAME: &str = "demo";
/// Its folder of recipes.
pub(crate) const RECIPES: &str = "Recipes";

/// A fresh copy that is deleted with the value.
pub(crate) fn unpack() -> io::Result<DemoFolder> {
    DemoFolder::unpack(NAME, FILES.iter().copied())
}

/// Approves the recipes as they are bundled.
pub(crate) fn approve_recipes(served: &ServedVault) -> io::Result<()> {
    for (path, bytes) in FILES {
        let name = path.strip_prefix(RECIPES).and_then(|name| name.strip_prefix('/')?.strip_suffix(".md"));
        if let (Some(name), Some(definition)) = (name.and_then(RecipeName::parse), definition_in(bytes)) {
            served.recipes.approve(name.as_str(), approved_hash(&name, &definition))?;
        }
    }
    Ok(())
}
