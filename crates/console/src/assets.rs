//! What a browser gets beside pages. Addresses contain a hash, so a browser may keep it permanently and never has an
//! old one. It is the same for all files, so that modules find each other by name: `import "./live.js"`.

use std::{borrow::Cow, sync::LazyLock};

use lapidary_note::ContentHash;

/// A style sheet, a script or a picture.
#[derive(Clone, Debug)]
pub struct ConsoleAsset {
    pub name: Cow<'static, str>,
    /// Its address.
    pub address: String,
    pub content_type: &'static str,
    pub bytes: Cow<'static, [u8]>,
}

/// As many digits of a hash as distinguish versions.
// Twelve hexadecimal digits are 48 bits: far more than the few builds that one browser meets, and addresses stay short.
const DIGITS: usize = 12;

const CSS: &str = "text/css; charset=utf-8";
const JS: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";

/// Every file in `static/`.
const FILES: &[(&str, &str, &[u8])] = &[
    ("activity.js", JS, include_bytes!("../static/activity.js")),
    ("alerts.js", JS, include_bytes!("../static/alerts.js")),
    ("approvals.js", JS, include_bytes!("../static/approvals.js")),
    ("console.css", CSS, include_bytes!("../static/console.css")),
    ("console.js", JS, include_bytes!("../static/console.js")),
    ("graph-camera.js", JS, include_bytes!("../static/graph-camera.js")),
    ("graph-data.js", JS, include_bytes!("../static/graph-data.js")),
    ("graph-groups.js", JS, include_bytes!("../static/graph-groups.js")),
    ("graph-lists.js", JS, include_bytes!("../static/graph-lists.js")),
    ("graph-svg.js", JS, include_bytes!("../static/graph-svg.js")),
    ("graph.css", CSS, include_bytes!("../static/graph.css")),
    ("graph.js", JS, include_bytes!("../static/graph.js")),
    ("icon.svg", SVG, include_bytes!("../static/icon.svg")),
    ("live.js", JS, include_bytes!("../static/live.js")),
    ("raster-worker.js", JS, include_bytes!("../static/raster-worker.js")),
    ("raster.js", JS, include_bytes!("../static/raster.js")),
    ("search.js", JS, include_bytes!("../static/search.js")),
    ("tools.css", CSS, include_bytes!("../static/tools.css")),
    ("try.js", JS, include_bytes!("../static/try.js")),
    ("versions.js", JS, include_bytes!("../static/versions.js")),
];

const ICON: &str = include_str!("../static/icon.svg");
/// The highest number on an icon; more are shown as this with a plus.
const MOST_ON_ICON: usize = 9;

static ASSETS: LazyLock<Vec<ConsoleAsset>> = LazyLock::new(|| {
    // One hash over all files: a script that imports another by name gets the version that belongs to it.
    let all: Vec<u8> = FILES.iter().flat_map(|(_, _, bytes)| bytes.iter().copied()).collect();
    let hash = ContentHash::of(&all).to_string();
    let digits: String = hash.trim_start_matches("sha256:").chars().take(DIGITS).collect();
    let asset = |name: Cow<'static, str>, content_type, bytes| {
        let address = format!("/console/static/{digits}/{name}");
        ConsoleAsset { name, address, content_type, bytes }
    };
    let files = FILES.iter().map(|&(name, kind, bytes)| asset(name.into(), kind, Cow::Borrowed(bytes)));
    // Pictures may not be made by scripts, so there is one for each number.
    let icons = (1..=MOST_ON_ICON + 1).map(|number| asset(icon_of(number).into(), SVG, numbered_icon(number).into()));
    files.chain(icons).collect()
});

/// The name of the icon for this many pending requests.
pub(crate) fn icon_of(pending: usize) -> String {
    match pending {
        0 => "icon.svg".to_owned(),
        1..=MOST_ON_ICON => format!("icon-{pending}.svg"),
        _ => "icon-many.svg".to_owned(),
    }
}

fn numbered_icon(number: usize) -> Vec<u8> {
    let shown = if number > MOST_ON_ICON { format!("{MOST_ON_ICON}+") } else { number.to_string() };
    let badge = format!(
        "<circle cx=\"44\" cy=\"44\" r=\"20\" fill=\"#b3261e\"/><text x=\"44\" y=\"54\" font-family=\"sans-serif\" \
         font-size=\"28\" font-weight=\"700\" text-anchor=\"middle\" fill=\"#fff\">{shown}</text></svg>"
    );
    // The icon is our own file, so its last tag is known; nothing here is text of others.
    ICON.trim_end().replace("</svg>", &badge).into_bytes()
}

/// What is at this address.
pub fn find_asset(address: &str) -> Option<&'static ConsoleAsset> {
    ASSETS.iter().find(|asset| asset.address == address)
}

/// The address of a file.
pub(crate) fn address_of(name: &str) -> &'static str {
    // A name that is not in the list is a mistake in a template; the page is drawn without that file.
    ASSETS.iter().find(|asset| asset.name == name).map_or("", |asset| &asset.address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "looks at the files of this crate")]
    fn every_file_has_an_address_of_its_own_and_no_other_is_served() {
        for (name, _, bytes) in FILES {
            assert_eq!(
                find_asset(address_of(name)).map(|asset| asset.bytes.clone()),
                Some(Cow::Borrowed(*bytes)),
                "{name}"
            );
        }
        // A page that names a file that is missing here would have no address for it.
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("static");
        let on_disk = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        assert_eq!(on_disk.count(), FILES.len());
        for pending in [0, 1, 9, 10, 1_000] {
            let icon = find_asset(address_of(&icon_of(pending))).unwrap();
            assert_eq!(String::from_utf8_lossy(&icon.bytes).contains("<text"), pending > 0, "{pending}");
        }
        for other in ["/console/static/console.css", "/console/static/000000000000/console.css", "", "/etc/passwd"] {
            assert!(find_asset(other).is_none(), "{other}");
        }
    }
}
