//! What the plugin answers.

use lapidary_store::VaultPath;
use serde::Deserialize;
use serde_json::Value;

use super::{FileVersion, PluginError, PluginVersion};

/// What the plugin says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginStatus {
    /// Whether it accepts the key.
    pub is_authenticated: bool,
    pub version: PluginVersion,
    /// The version of the app, as it writes it.
    pub obsidian: Option<String>,
    pub manifest: Option<PluginManifest>,
    /// Plugins that add to its API.
    pub extensions: Vec<PluginExtension>,
    /// It is `lapidary serve --rest`, and what it says of the app is said for programs that want a version.
    pub is_lapidary: bool,
}

/// The author in the manifest of `lapidary serve --rest`.
pub const LAPIDARY: &str = "Lapidary";

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct PluginManifest {
    pub id: String,
    pub name: String,
    pub version: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct PluginExtension {
    pub id: String,
    #[serde(default)]
    pub name: String,
    #[serde(default)]
    pub version: String,
}

/// The status as it is sent. What is missing in one version or another is optional.
#[derive(Deserialize)]
pub(crate) struct StatusBody {
    #[serde(default)]
    authenticated: bool,
    versions: StatusVersions,
    #[serde(default)]
    manifest: Value,
    #[serde(default, rename = "apiExtensions")]
    extensions: Value,
}

#[derive(Deserialize)]
struct StatusVersions {
    obsidian: Option<String>,
    #[serde(rename = "self")]
    own: String,
}

/// Longer texts in a status are not names and versions.
const MOST_NAME_CHARS: usize = 100;

// Shown to people and models, so a name that is a text, or that moves a cursor, is not passed on.
fn is_name(text: &str) -> bool {
    text.chars().count() <= MOST_NAME_CHARS && !text.chars().any(char::is_control)
}

impl StatusBody {
    pub(crate) fn status(self) -> Result<PluginStatus, PluginError> {
        // Without a version it is not the plugin, whatever else it says.
        let version = PluginVersion::parse(&self.versions.own).ok_or(PluginError::Unexpected)?;
        // Optional: it is missing in older versions, and something else that is there must not spoil the status.
        let is_lapidary = self.manifest["author"] == LAPIDARY;
        let manifest = serde_json::from_value::<PluginManifest>(self.manifest).ok();
        let manifest = manifest.filter(|it| [&it.id, &it.name, &it.version].into_iter().all(|text| is_name(text)));
        let extensions = match self.extensions {
            Value::Array(extensions) => extensions,
            _ => Vec::new(),
        };
        // An extension that cannot be read is left out, the others are not.
        let extensions = extensions.into_iter().filter_map(|it| serde_json::from_value::<PluginExtension>(it).ok());
        Ok(PluginStatus {
            is_authenticated: self.authenticated,
            version,
            obsidian: self.versions.obsidian.filter(|text| is_name(text) && !is_lapidary),
            is_lapidary,
            manifest,
            extensions: extensions.filter(|it| is_name(&it.id) && is_name(&it.name) && is_name(&it.version)).collect(),
        })
    }
}

/// The bytes of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileAnswer {
    pub bytes: Vec<u8>,
    /// If the plugin names versions of files, which later ones do.
    pub version: Option<FileVersion>,
}

/// A file that was not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundFile {
    pub size: u64,
    pub version: Option<FileVersion>,
}

/// An entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedName {
    pub name: String,
    pub is_folder: bool,
}

#[derive(Deserialize)]
pub(crate) struct ListingBody {
    pub(crate) files: Vec<String>,
}

/// Times in milliseconds since 1970, and the size in bytes, as the app knows them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
pub struct FileTimes {
    #[serde(default, rename = "ctime")]
    pub created: f64,
    #[serde(default, rename = "mtime")]
    pub modified: f64,
    #[serde(default)]
    pub size: f64,
}

/// A note with its times. What else the app knows about it is not read: values take far more memory than their text.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct NoteAnswer {
    pub path: String,
    pub content: String,
    pub stat: FileTimes,
}

impl NoteAnswer {
    /// Its place in the vault. One that is not spelt as a path of a vault is not followed.
    pub fn place(&self) -> Result<VaultPath, PluginError> {
        VaultPath::spelt(&self.path).ok_or(PluginError::Unexpected)
    }
}

/// A file that a query found, and what the query says about it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct SearchAnswer<T> {
    pub filename: String,
    pub result: T,
}

/// A command of the app.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct AppCommand {
    pub id: String,
    pub name: String,
}

#[derive(Deserialize)]
pub(crate) struct CommandsBody {
    pub(crate) commands: Vec<AppCommand>,
}
