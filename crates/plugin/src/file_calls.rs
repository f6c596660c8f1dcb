//! Calls about the files of the vault.

use lapidary_store::VaultPath;
use serde::de::DeserializeOwned;
use serde_json::Value;
use ureq::http::{HeaderName, Method, header};

use crate::{
    FileAnswer, FileVersion, FoundFile, ListedName, NoteAnswer, PluginConnection, PluginError, PluginStatus,
    SearchAnswer,
    answers::{ListingBody, StatusBody},
    connection::{PluginReply, PluginRequest},
    plugin_url::encoded,
};

pub(crate) const NOTE_JSON: &str = "application/vnd.olrapi.note+json";
const JSON_LOGIC: &str = "application/vnd.olrapi.jsonlogic+json";
/// Written as it is. Text would be decoded on the way, and JSON written anew.
const BYTES: &str = "application/octet-stream";

/// More than a list of extensions takes. Its values are parsed as they come, which takes far more memory than their text.
const MOST_STATUS_BYTES: u64 = 1 << 20;

const DESTINATION: HeaderName = HeaderName::from_static("destination");

/// The state of a file that a change is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteCondition<'a> {
    /// Not stated.
    Nothing,
    /// This version. A plugin that names no versions ignores it.
    Version(&'a FileVersion),
    /// There is no such file. Plugins that name no versions ignore it.
    NewFile,
}

impl PluginConnection {
    /// What the plugin says of itself. The key need not be right.
    pub fn status(&self) -> Result<PluginStatus, PluginError> {
        let mut request = PluginRequest::get(self.url.endpoint([], true));
        request.most_bytes = MOST_STATUS_BYTES;
        self.send(&request)?.json::<StatusBody>()?.status()
    }

    /// The bytes of a file; a larger one than `max_bytes` is not read.
    pub fn read_file(&self, path: &VaultPath, max_bytes: u64) -> Result<FileAnswer, PluginError> {
        let mut request = PluginRequest::get(self.file_url(path));
        request.most_bytes = max_bytes;
        let reply = self.send(&request)?;
        // A folder is answered with 200 as well, so it has to be told apart.
        is_file(&reply)?;
        Ok(FileAnswer { version: version_of(&reply), bytes: reply.bytes })
    }

    /// A note with its times.
    pub fn read_note(&self, path: &VaultPath, max_bytes: u64) -> Result<NoteAnswer, PluginError> {
        let mut request = PluginRequest::get(self.file_url(path)).header(header::ACCEPT, NOTE_JSON);
        request.most_bytes = max_bytes;
        let reply = self.send(&request)?;
        is_note(&reply)?;
        reply.json()
    }

    /// Whether a file exists, and its size.
    pub fn find_file(&self, path: &VaultPath) -> Result<FoundFile, PluginError> {
        let reply = self.send(&PluginRequest::new(Method::HEAD, self.file_url(path)))?;
        is_file(&reply)?;
        // Without a length the size would be a guess, and sizes tell states of files apart.
        let size = reply.header(&header::CONTENT_LENGTH).and_then(|size| size.parse().ok());
        Ok(FoundFile { size: size.ok_or(PluginError::Unexpected)?, version: version_of(&reply) })
    }

    /// Whether the plugin names the versions of files, by the first file that is found; `None` if there is none close to the top.
    pub fn names_versions(&self) -> Result<Option<bool>, PluginError> {
        const DEEPEST: usize = 4;
        let mut folder: Option<VaultPath> = None;
        for _ in 0..DEEPEST {
            let names = match self.list_folder(folder.as_ref()) {
                Err(PluginError::NotFound) => return Ok(None),
                names => names?,
            };
            let place = |listed: &ListedName| match &folder {
                Some(folder) => VaultPath::spelt(&format!("{folder}/{}", listed.name)),
                None => VaultPath::spelt(&listed.name),
            };
            if let Some(file) = names.iter().filter(|listed| !listed.is_folder).find_map(place) {
                return self.find_file(&file).map(|found| Some(found.version.is_some()));
            }
            let Some(next) = names.iter().find_map(place) else { return Ok(None) };
            folder = Some(next);
        }
        Ok(None)
    }

    /// The names in a folder; `None` is the vault itself. Only folders with files in them exist.
    pub fn list_folder(&self, folder: Option<&VaultPath>) -> Result<Vec<ListedName>, PluginError> {
        let names = folder.into_iter().flat_map(VaultPath::names);
        let reply = self.send(&PluginRequest::get(self.url.endpoint(["vault"].into_iter().chain(names), true)))?;
        // Some versions answer with the file of that name.
        if reply.headers.contains_key(header::CONTENT_DISPOSITION) {
            return Err(PluginError::NotFound);
        }
        // The plugin marks folders with a slash at the end.
        let listed = |name: String| match name.strip_suffix('/') {
            Some(folder) => ListedName { name: folder.to_owned(), is_folder: true },
            None => ListedName { name, is_folder: false },
        };
        Ok(reply.json::<ListingBody>()?.files.into_iter().map(listed).collect())
    }

    /// Replaces or creates a file, with the folders above it. The new version, if the plugin names it.
    pub fn put_file(
        &self,
        path: &VaultPath,
        bytes: &[u8],
        condition: WriteCondition<'_>,
    ) -> Result<Option<FileVersion>, PluginError> {
        let request = PluginRequest::new(Method::PUT, self.file_url(path)).body(BYTES, bytes);
        self.send(&conditional(request, condition))?.done().map(|reply| version_of(&reply))
    }

    /// Deletes a file: to the trash if the plugin has one (see [`PluginVersion::deletes_to_trash`]) and the file is not
    /// to be gone.
    ///
    /// [`PluginVersion::deletes_to_trash`]: crate::PluginVersion::deletes_to_trash
    pub fn delete_file(
        &self,
        path: &VaultPath,
        is_permanent: bool,
        condition: WriteCondition<'_>,
    ) -> Result<(), PluginError> {
        let mut url = self.file_url(path);
        if is_permanent {
            url += "?permanent=true";
        }
        self.send(&conditional(PluginRequest::new(Method::DELETE, url), condition))?.done().map(drop)
    }

    /// Gives a file another path, which must be free. The app may change links to it in other notes.
    pub fn move_file(
        &self,
        from: &VaultPath,
        to: &VaultPath,
        condition: WriteCondition<'_>,
    ) -> Result<(), PluginError> {
        // A constant that always parses; the method is not one of the known ones.
        let method = Method::from_bytes(b"MOVE").map_err(|_| PluginError::Unexpected)?;
        // Encoded part by part, so that a slash inside a name cannot make a folder.
        let to: Vec<String> = to.names().map(encoded).collect();
        let request = PluginRequest::new(method, self.file_url(from)).header(DESTINATION, to.join("/"));
        self.send(&conditional(request, condition))?.done().map(drop)
    }

    /// The notes for which a JsonLogic query is true, with what it says about each.
    pub fn search_notes<T: DeserializeOwned>(&self, logic: &Value) -> Result<Vec<SearchAnswer<T>>, PluginError> {
        let url = self.url.endpoint(["search"], true);
        let body = logic.to_string();
        self.send(&PluginRequest::new(Method::POST, url).body(JSON_LOGIC, body.as_bytes()))?.json()
    }

    pub(crate) fn file_url(&self, path: &VaultPath) -> String {
        self.url.endpoint(["vault"].into_iter().chain(path.names()), false)
    }
}

/// A file is an attachment. A folder is answered with JSON, and what is neither comes from something in between, such as the page of
/// a proxy where one signs in: it must not be taken for a note, least of all by an edit.
fn is_file(reply: &PluginReply) -> Result<(), PluginError> {
    match reply.headers.contains_key(header::CONTENT_DISPOSITION) {
        true => Ok(()),
        false if is_of_kind(reply, "application/json") => Err(PluginError::IsFolder),
        false => Err(PluginError::Unexpected),
    }
}

/// A note with its times says so by its type.
fn is_note(reply: &PluginReply) -> Result<(), PluginError> {
    match is_of_kind(reply, NOTE_JSON) {
        true => Ok(()),
        false if is_of_kind(reply, "application/json") => Err(PluginError::IsFolder),
        false => Err(PluginError::Unexpected),
    }
}

fn is_of_kind(reply: &PluginReply, kind: &str) -> bool {
    reply.header(&header::CONTENT_TYPE).is_some_and(|found| found.starts_with(kind))
}

fn version_of(reply: &PluginReply) -> Option<FileVersion> {
    reply.header(&header::ETAG).and_then(FileVersion::of_tag)
}

fn conditional<'a>(request: PluginRequest<'a>, condition: WriteCondition<'_>) -> PluginRequest<'a> {
    match condition {
        WriteCondition::Nothing => request,
        WriteCondition::Version(version) => request.header(header::IF_MATCH, version.tag()),
        WriteCondition::NewFile => request.header(header::IF_NONE_MATCH, "*"),
    }
}
