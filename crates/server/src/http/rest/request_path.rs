//! The path of a request: split at its slashes first, and each part decoded by itself, so that an encoded slash stays in its
//! part.

use lapidary_vault::VaultPath;

use super::api_error::{ApiError, is_configuration};

/// The decoded parts of a path below an endpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RequestPath {
    pub(super) parts: Vec<String>,
    /// It ended with a slash, or has no parts: a folder is meant.
    pub(super) is_folder: bool,
    /// The note that the path begins with, if it does not exist and a change makes it.
    pub(super) new_note: Option<NewNote>,
}

/// A note that comes with its first change, so that a request that fails makes none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NewNote {
    pub(super) path: VaultPath,
    /// Its text before that change.
    pub(super) begins: String,
}

impl RequestPath {
    /// From the text behind the name of an endpoint.
    pub(super) fn parse(raw: &str) -> Result<Self, ApiError> {
        let is_folder = raw.is_empty() || raw.ends_with('/');
        // Some programs put one more behind the name of a folder.
        let raw = raw.trim_end_matches('/');
        if raw.is_empty() {
            return Ok(Self { is_folder, ..Self::default() });
        }
        let parts: Vec<String> =
            raw.split('/').map(|part| decoded(part).ok_or(ApiError::coded(40021))).collect::<Result<_, _>>()?;
        Ok(Self { parts, is_folder, new_note: None })
    }

    /// The path of a file, and what is behind it, which addresses a part of the file.
    pub(super) fn of(path: &VaultPath, behind: Vec<String>) -> Self {
        let parts = path.as_str().split('/').map(str::to_owned).chain(behind).collect();
        Self { parts, ..Self::default() }
    }

    /// The text that the note begins with, if it has to be made.
    pub(super) fn begins(&self) -> Option<&str> {
        self.new_note.as_ref().map(|note| note.begins.as_str())
    }

    /// The same of something in the vault.
    pub(super) fn parse_in_vault(raw: &str) -> Result<Self, ApiError> {
        let path = Self::parse(raw)?;
        // After decoding, so that `%2e%2e` is seen as what it is.
        match path.parts.iter().any(|part| leads_out(part)) {
            true => Err(ApiError::coded(40021)),
            false => Ok(path),
        }
    }

    /// The parts as one path of a file; `None` if one of them cannot be a name.
    pub(super) fn file(&self) -> Option<String> {
        // A slash that was encoded belongs to one name, and no file has it.
        let is_name = |part: &String| !part.is_empty() && !part.contains('/');
        self.parts.iter().all(is_name).then(|| self.parts.join("/"))
    }

    /// The same for an endpoint that has no parts of files: a slash counts, however it is written.
    pub(super) fn of_file(self) -> Self {
        let parts = self.parts.iter().flat_map(|part| part.split('/')).map(str::to_owned).collect();
        Self { parts, ..self }
    }

    /// Whether it is in Obsidian's own folder, which is not served, whatever is in it.
    pub(super) fn is_configuration(&self) -> bool {
        self.parts.first().is_some_and(|first| is_configuration(first))
    }

    /// Whether a part is the word for a kind of target.
    pub(super) fn names_target(&self) -> bool {
        self.parts.iter().any(|part| matches!(part.as_str(), "heading" | "block" | "frontmatter"))
    }
}

/// Whether a part of a path, or what an encoded slash makes of it, goes up or nowhere. Some systems drop dots and blanks at
/// the end of a name, so `.. ` goes up there too.
pub(super) fn leads_out(part: &str) -> bool {
    let is_dots = |name: &str| name.starts_with('.') && name.trim_end_matches(['.', ' ']).is_empty();
    part.contains(['\0', '\\']) || part.split('/').any(is_dots)
}

/// Percent-decoded; `None` if it is not valid, or not text.
pub(super) fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                // Also `None` at the end: `%4` is not a character.
                let mut digit = || char::from(rest.next()?).to_digit(16);
                u8::try_from(digit()? * 16 + digit()?).ok()?
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

/// A path as a header may carry it: each part encoded as `encodeURIComponent` does.
pub(super) fn encoded_path(path: &str) -> String {
    path.split('/').map(encoded).collect::<Vec<_>>().join("/")
}

pub(super) fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' => encoded.push(char::from(byte)),
            // The characters that `encodeURIComponent` leaves as they are.
            b'-' | b'_' | b'.' | b'!' | b'~' | b'*' | b'\'' | b'(' | b')' => encoded.push(char::from(byte)),
            byte => encoded += &format!("%{byte:02X}"),
        }
    }
    encoded
}

/// The value of a parameter in a query; `None` if it is missing or there twice.
pub(super) fn query_value(query: &str, name: &str) -> Option<String> {
    let mut values = query.split('&').filter_map(|pair| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        // In a query a plus is a blank.
        (decoded(&key.replace('+', " "))? == name).then_some(value)
    });
    let value = values.next()?;
    if values.next().is_some() {
        return None;
    }
    decoded(&value.replace('+', " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_split_before_it_is_decoded() {
        let parts = |raw: &str| RequestPath::parse_in_vault(raw).map(|path| (path.parts, path.is_folder));
        let owned = |parts: &[&str]| parts.iter().map(|part| (*part).to_owned()).collect::<Vec<_>>();
        assert_eq!(parts(""), Ok((owned(&[]), true)));
        assert_eq!(parts("a/"), Ok((owned(&["a"]), true)));
        assert_eq!(parts("a%20b/%C3%BC.md"), Ok((owned(&["a b", "ü.md"]), false)));
        assert_eq!(parts("n.md/heading/A%2FB"), Ok((owned(&["n.md", "heading", "A/B"]), false)));
        for bad in [
            "..%2F..%2Fetc",
            "a/%2e%2e/b",
            "..%20/x",
            "...%2Fx",
            "a/..%20./b",
            "%",
            "%zz",
            "%ff",
            "a%00b",
            "a%5Cb",
            ".",
        ] {
            assert_eq!(parts(bad).unwrap_err().code, 40021, "{bad}");
        }
        assert_eq!(RequestPath::parse("a%2Fb").unwrap().file(), None);
    }

    #[test]
    fn a_parameter_is_read_once() {
        assert_eq!(query_value("query=a+b%26&x=1", "query").as_deref(), Some("a b&"));
        assert_eq!(query_value("query=a&query=b", "query"), None);
        assert_eq!(query_value("", "query"), None);
    }
}
