//! What a browser gets beside pages. Addresses contain a hash, so a browser may keep it permanently and never has an
//! old one. It is the same for all files, so that modules find each other by name: `import "./live.js"`.

use std::sync::LazyLock;

use lapidary_note::ContentHash;

/// A style sheet, a script or a picture.
#[derive(Clone, Debug)]
pub struct ConsoleAsset {
    pub name: &'static str,
    /// Its address.
    pub address: String,
    pub content_type: &'static str,
    pub bytes: &'static [u8],
}

/// As many digits of a hash as distinguish versions.
const DIGITS: usize = 12;

const CSS: &str = "text/css; charset=utf-8";
const JS: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";

/// Every file in `static/`.
const FILES: &[(&str, &str, &[u8])] = &[
    ("activity.js", JS, include_bytes!("../static/activity.js")),
    ("console.css", CSS, include_bytes!("../static/console.css")),
    ("console.js", JS, include_bytes!("../static/console.js")),
    ("icon.svg", SVG, include_bytes!("../static/icon.svg")),
    ("live.js", JS, include_bytes!("../static/live.js")),
];

static ASSETS: LazyLock<Vec<ConsoleAsset>> = LazyLock::new(|| {
    let all: Vec<u8> = FILES.iter().flat_map(|(_, _, bytes)| bytes.iter().copied()).collect();
    let hash = ContentHash::of(&all).to_string();
    let digits: String = hash.trim_start_matches("sha256:").chars().take(DIGITS).collect();
    let asset = |&(name, content_type, bytes): &(&'static str, &'static str, &'static [u8])| ConsoleAsset {
        name,
        address: format!("/console/static/{digits}/{name}"),
        content_type,
        bytes,
    };
    FILES.iter().map(asset).collect()
});

/// What is at this address.
pub fn find_asset(address: &str) -> Option<&'static ConsoleAsset> {
    ASSETS.iter().find(|asset| asset.address == address)
}

/// The address of a file.
pub(crate) fn address_of(name: &str) -> &'static str {
    ASSETS.iter().find(|asset| asset.name == name).map_or("", |asset| &asset.address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "looks at the files of this crate")]
    fn every_file_has_an_address_of_its_own_and_no_other_is_served() {
        for (name, _, bytes) in FILES {
            assert_eq!(find_asset(address_of(name)).map(|asset| asset.bytes), Some(*bytes), "{name}");
        }
        // A page that names a file that is missing here would have no address for it.
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("static");
        let on_disk = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        assert_eq!(on_disk.count(), FILES.len());
        for other in ["/console/static/console.css", "/console/static/000000000000/console.css", "", "/etc/passwd"] {
            assert!(find_asset(other).is_none(), "{other}");
        }
    }
}
