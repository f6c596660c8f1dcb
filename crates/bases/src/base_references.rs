//! The files and folders that a base names in its expressions, so that they can follow when those move.

use lapidary_note::{NodeContent, YamlNode, YamlValue};

/// A name in a base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BaseReference<'r> {
    /// As in a link, without brackets, subpath and display text.
    Link(&'r str),
    /// A whole path.
    Path(&'r str),
    /// A folder, without slashes around it.
    Folder(&'r str),
}

/// A text of a base that may name files: where it is in the YAML, and what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseText {
    /// Names of maps and positions in lists.
    pub way: Vec<String>,
    pub text: String,
    kind: BaseTextKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BaseTextKind {
    Expression,
    Folder,
    Path,
}

/// Filters in filters; the reader of bases refuses more.
const MAX_DEPTH: usize = 40;

/// All texts of a base that may name files: filters, formulas, summaries, and where new notes go.
pub fn base_texts(base: &YamlNode) -> Vec<BaseText> {
    let mut texts = Vec::new();
    // A base that is not an object names nothing.
    let NodeContent::Map(entries) = &base.content else { return texts };
    for entry in entries {
        let way = vec![entry.key.clone()];
        match (entry.key.as_str(), &entry.value.content) {
            ("filters", _) => add_filters(&entry.value, way, &mut texts, 0),
            ("formulas" | "summaries", NodeContent::Map(formulas)) => {
                for formula in formulas {
                    let way = vec![entry.key.clone(), formula.key.clone()];
                    add_text(&formula.value, way, BaseTextKind::Expression, &mut texts);
                }
            }
            ("newItemFolder", _) => add_text(&entry.value, way, BaseTextKind::Folder, &mut texts),
            ("newItemTemplate", _) => add_text(&entry.value, way, BaseTextKind::Path, &mut texts),
            ("views", NodeContent::List(views)) => {
                for (at, view) in views.iter().enumerate() {
                    if let Some(filters) = view.get("filters") {
                        // By position, because two views may have the same name.
                        let way = vec![entry.key.clone(), at.to_string(), "filters".to_owned()];
                        add_filters(filters, way, &mut texts, 0);
                    }
                }
            }
            _ => {}
        }
    }
    texts
}

fn add_text(node: &YamlNode, way: Vec<String>, kind: BaseTextKind, texts: &mut Vec<BaseText>) {
    // A number or a list is not a name.
    if let NodeContent::Scalar(YamlValue::Text(text)) = &node.content {
        texts.push(BaseText { way, text: text.clone(), kind });
    }
}

fn add_filters(node: &YamlNode, way: Vec<String>, texts: &mut Vec<BaseText>, depth: usize) {
    let NodeContent::Map(entries) = &node.content else {
        return add_text(node, way, BaseTextKind::Expression, texts);
    };
    // Deeper filters are refused when the base is read.
    for entry in entries.iter().filter(|_| depth < MAX_DEPTH) {
        let NodeContent::List(items) = &entry.value.content else { continue };
        for (at, item) in items.iter().enumerate() {
            let way = way.iter().cloned().chain([entry.key.clone(), at.to_string()]).collect();
            add_filters(item, way, texts, depth + 1);
        }
    }
}

impl BaseText {
    /// The text with other names, and how many changed; nothing if none does. `new` is asked for each name.
    pub fn renamed(&self, new: &mut dyn FnMut(BaseReference<'_>) -> Option<String>) -> Option<(String, usize)> {
        match self.kind {
            BaseTextKind::Expression => renamed_expression(&self.text, new),
            BaseTextKind::Path => new(BaseReference::Path(&self.text)).map(|text| (text, 1)),
            BaseTextKind::Folder => renamed_folder(&self.text, new).map(|text| (text, 1)),
        }
    }
}

fn renamed_folder(text: &str, new: &mut dyn FnMut(BaseReference<'_>) -> Option<String>) -> Option<String> {
    let inner = text.trim_matches('/');
    if inner.is_empty() {
        return None;
    }
    // Slashes around it stay as they are written.
    let start = text.find(inner)?;
    let renamed = new(BaseReference::Folder(inner))?;
    Some(format!("{}{renamed}{}", &text[..start], &text[start + inner.len()..]))
}

fn renamed_expression(text: &str, new: &mut dyn FnMut(BaseReference<'_>) -> Option<String>) -> Option<(String, usize)> {
    let mut renamed = String::new();
    let (mut end, mut count) = (0, 0);
    for literal in text_literals(text) {
        let (before, after) = (&text[..literal.start], &text[literal.end..]);
        // Without its quotes.
        let written = &text[literal.start + 1..literal.end - 1];
        // A name with an escape in it is left as it is: it is not written as it is called.
        if written.contains('\\') {
            continue;
        }
        let Some(name) = renamed_literal(written, before, after, new) else { continue };
        let quote = &text[literal.start..=literal.start];
        renamed += &text[end..literal.start];
        renamed += quote;
        // The new name may have the quote that encloses it.
        renamed += &name.replace('\\', "\\\\").replace(quote, &format!("\\{quote}"));
        renamed += quote;
        end = literal.end;
        count += 1;
    }
    renamed += &text[end..];
    (count > 0).then_some((renamed, count))
}

/// What a literal becomes, by what is written around it.
fn renamed_literal(
    written: &str,
    before: &str,
    after: &str,
    new: &mut dyn FnMut(BaseReference<'_>) -> Option<String>,
) -> Option<String> {
    if let Some(inner) = written.strip_prefix("[[").and_then(|text| text.strip_suffix("]]")) {
        return renamed_link(inner, new).map(|link| format!("[[{link}]]"));
    }
    let before = before.trim_end();
    if let Some(called) = before.strip_suffix('(') {
        let called = called.trim_end().to_lowercase();
        // The last word before the bracket is the function, whatever it is called on.
        let name = called.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        return match name {
            "link" | "file" | "haslink" | "linksto" => renamed_link(written, new),
            "infolder" => renamed_folder(written, new),
            // Of another text it says nothing about folders.
            "startswith" if called.ends_with("file.path.startswith") || called.ends_with("file.folder.startswith") => {
                renamed_folder(written, new)
            }
            _ => None,
        };
    }
    // The operand on either side may be the name.
    let left = before.strip_suffix("==").or_else(|| before.strip_suffix("!="));
    let left = left.map(|text| text.trim_end().to_lowercase());
    let right = after.trim_start();
    let right = right.strip_prefix("==").or_else(|| right.strip_prefix("!="));
    let right = right.map(|text| text.trim_start().to_lowercase());
    let is = |field: &str| {
        left.as_deref().is_some_and(|left| left.ends_with(field))
            || right.as_deref().is_some_and(|right| right.starts_with(field))
    };
    match () {
        () if is("file.folder") => renamed_folder(written, new),
        () if is("file.path") => new(BaseReference::Path(written)),
        () => None,
    }
}

/// Subpath and display text stay.
fn renamed_link(inner: &str, new: &mut dyn FnMut(BaseReference<'_>) -> Option<String>) -> Option<String> {
    let end = inner.find(['#', '|']).unwrap_or(inner.len());
    let path = inner[..end].trim();
    // A link to a place in the same note names no file.
    if path.is_empty() {
        return None;
    }
    let renamed = new(BaseReference::Link(path))?;
    Some(format!("{renamed}{}", &inner[end..]))
}

/// The texts in quotes, with their quotes. Those in a regular expression are none.
fn text_literals(text: &str) -> Vec<std::ops::Range<usize>> {
    let mut found = Vec::new();
    // The last character that is not space decides whether a `/` divides.
    let mut last = None;
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let divides =
            last.is_some_and(|last: char| last.is_alphanumeric() || matches!(last, ')' | ']' | '"' | '\'' | '_' | '$'));
        let length = match c {
            '"' | '\'' => closing(&text[at..], c),
            '/' if !divides => closing(&text[at..], c),
            _ => Some(c.len_utf8()),
        };
        // Never closed: the expression cannot be read, and nothing in it is changed.
        let Some(length) = length else { break };
        if matches!(c, '"' | '\'') {
            found.push(at..at + length);
        }
        at += length;
        last = if c.is_whitespace() { last } else { Some(c) };
    }
    found
}

/// How long a text is up to and with its closing sign.
fn closing(text: &str, sign: char) -> Option<usize> {
    let mut escaped = false;
    let end = text.char_indices().skip(1).find(|(_, c)| {
        let closes = *c == sign && !escaped;
        escaped = *c == '\\' && !escaped;
        closes
    });
    end.map(|(at, c)| at + c.len_utf8())
}

#[cfg(test)]
mod tests {
    use lapidary_note::read_yaml;

    use super::*;

    fn renamed(expression: &str) -> String {
        let text = BaseText { way: Vec::new(), text: expression.to_owned(), kind: BaseTextKind::Expression };
        let mut new = |reference: BaseReference<'_>| match reference {
            BaseReference::Link("Old" | "a/Old.md") => Some("New".to_owned()),
            BaseReference::Path("a/Old.md") => Some("b/New.md".to_owned()),
            BaseReference::Folder(folder) => folder.strip_prefix("a").map(|rest| format!("b\"{rest}")),
            _ => None,
        };
        text.renamed(&mut new).map_or_else(|| "-".to_owned(), |(text, count)| format!("{count} {text}"))
    }

    #[test]
    fn names_follow_where_they_mean_files_and_folders() {
        for (expression, expected) in [
            ("file.hasLink(\"Old#H\") && 'Old' == x", "1 file.hasLink(\"New#H\") && 'Old' == x"),
            ("author == \"[[Old|me]]\"", "1 author == \"[[New|me]]\""),
            ("link('Old') == file( \"a/Old.md\" )", "2 link('New') == file( \"New\" )"),
            ("file.path == \"a/Old.md\"", "1 file.path == \"b/New.md\""),
            ("\"a/Old.md\" != file.path", "1 \"b/New.md\" != file.path"),
            ("file.inFolder('a/')", "1 file.inFolder('b\"/')"),
            ("file.folder == \"a/c\"", "1 file.folder == \"b\\\"/c\""),
            ("file.path.startsWith(\"a/\")", "1 file.path.startsWith(\"b\\\"/\")"),
            ("/\"/.matches(x) || link(\"Old\")", "1 /\"/.matches(x) || link(\"New\")"),
            ("a / b / link(\"Old\")", "1 a / b / link(\"New\")"),
            ("status == \"Old\"", "-"),
            ("file.hasTag(\"Old\")", "-"),
            ("link(\"Old", "-"),
            ("link(\"Ol\\u0064\")", "-"),
        ] {
            assert_eq!(renamed(expression), expected, "{expression}");
        }
    }

    #[test]
    fn texts_are_found_wherever_a_base_has_them() {
        let base = "filters:\n  and:\n    - a\n    - not: [b]\nformulas: {x: c}\nnewItemFolder: d\nviews:\n  - {type: table, name: A, \
                    filters: e}\n  - {type: table, name: B, order: [f]}\n";
        let texts = base_texts(&read_yaml(base).unwrap());
        let ways: Vec<String> = texts.iter().map(|text| format!("{} {}", text.way.join("."), text.text)).collect();
        assert_eq!(
            ways,
            ["filters.and.0 a", "filters.and.1.not.0 b", "formulas.x c", "newItemFolder d", "views.0.filters e"]
        );
    }
}
