//! Media types by extension.

use lapidary_vault::VaultPath;

/// For unknown extensions.
pub(super) const UNKNOWN: &str = "application/octet-stream";
pub(super) const PLAIN_TEXT: &str = "text/plain";

/// The media type of a file, by its extension.
pub fn media_type(path: &VaultPath) -> Option<&'static str> {
    let (_, extension) = path.name().rsplit_once('.')?;
    let extension = extension.to_ascii_lowercase();
    TYPES.iter().find(|(known, _)| *known == extension).map(|(_, media_type)| *media_type)
}

/// Whether it is shown or played rather than read. A drawing is, although it is stored as text.
pub(super) fn is_shown(media_type: &str) -> bool {
    ["image/", "audio/", "video/", "font/"].iter().any(|kind| media_type.starts_with(kind))
}

/// Formats that Obsidian shows, and others often found in vaults.
const TYPES: &[(&str, &str)] = &[
    ("md", "text/markdown"),
    ("canvas", "application/json"),
    ("base", "application/yaml"),
    ("txt", PLAIN_TEXT),
    ("csv", "text/csv"),
    ("tsv", "text/tab-separated-values"),
    ("json", "application/json"),
    ("yaml", "application/yaml"),
    ("yml", "application/yaml"),
    ("toml", "application/toml"),
    ("xml", "application/xml"),
    ("html", "text/html"),
    ("htm", "text/html"),
    ("css", "text/css"),
    ("js", "text/javascript"),
    ("tex", "application/x-tex"),
    ("bib", "application/x-bibtex"),
    ("ics", "text/calendar"),
    ("avif", "image/avif"),
    ("bmp", "image/bmp"),
    ("gif", "image/gif"),
    ("heic", "image/heic"),
    ("ico", "image/vnd.microsoft.icon"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("png", "image/png"),
    ("svg", "image/svg+xml"),
    ("tif", "image/tiff"),
    ("tiff", "image/tiff"),
    ("webp", "image/webp"),
    ("3gp", "audio/3gpp"),
    ("flac", "audio/flac"),
    ("m4a", "audio/mp4"),
    ("mp3", "audio/mpeg"),
    ("oga", "audio/ogg"),
    ("ogg", "audio/ogg"),
    ("opus", "audio/ogg"),
    ("wav", "audio/wav"),
    ("mkv", "video/matroska"),
    ("mov", "video/quicktime"),
    ("mp4", "video/mp4"),
    ("ogv", "video/ogg"),
    ("webm", "video/webm"),
    ("pdf", "application/pdf"),
    ("epub", "application/epub+zip"),
    ("zip", "application/zip"),
    ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
    ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    ("woff2", "font/woff2"),
];
