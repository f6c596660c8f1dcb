//! What a browser gets beside pages. Addresses contain the hash of the content, so a browser may keep it
//! permanently and never has an old one.

use std::sync::LazyLock;

use lapidary_note::ContentHash;

/// A style sheet, a script or a picture.
#[derive(Clone, Debug)]
pub struct ConsoleAsset {
    /// Its address.
    pub address: String,
    pub content_type: &'static str,
    pub bytes: &'static [u8],
}

/// As many digits of a hash as distinguish versions.
const DIGITS: usize = 12;

const FILES: [(&str, &str, &[u8]); 3] = [
    ("console.css", "text/css; charset=utf-8", include_bytes!("../static/console.css")),
    ("console.js", "text/javascript; charset=utf-8", include_bytes!("../static/console.js")),
    ("icon.svg", "image/svg+xml", include_bytes!("../static/icon.svg")),
];

static ASSETS: LazyLock<Vec<ConsoleAsset>> = LazyLock::new(|| {
    let asset = |&(name, content_type, bytes): &(&str, &'static str, &'static [u8])| {
        let hash = ContentHash::of(bytes).to_string();
        let digits: String = hash.trim_start_matches("sha256:").chars().take(DIGITS).collect();
        ConsoleAsset { address: format!("/console/static/{digits}/{name}"), content_type, bytes }
    };
    FILES.iter().map(asset).collect()
});

/// What is at this address.
pub fn find_asset(address: &str) -> Option<&'static ConsoleAsset> {
    ASSETS.iter().find(|asset| asset.address == address)
}

/// The address of a file.
pub(crate) fn address_of(name: &str) -> &'static str {
    ASSETS.iter().find(|asset| asset.address.ends_with(name)).map_or("", |asset| &asset.address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_has_an_address_of_its_own_and_no_other_is_served() {
        for (name, _, bytes) in FILES {
            assert_eq!(find_asset(address_of(name)).map(|asset| asset.bytes), Some(bytes), "{name}");
        }
        for other in ["/console/static/console.css", "/console/static/000000000000/console.css", "", "/etc/passwd"] {
            assert!(find_asset(other).is_none(), "{other}");
        }
    }
}
