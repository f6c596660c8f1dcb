//! The properties of a parsed note.

use std::ops::Range;

use crate::{
    FrontmatterError, LinkKind, NodeContent, Note, NoteStructure, Property, PropertyLink, PropertyTag, YamlNode,
    YamlValue, links, tags::is_space, yaml,
};

/// Parses the properties between the fences, with spans of the note.
pub(crate) fn read(text: &str, yaml: Range<usize>) -> Result<Vec<Property>, FrontmatterError> {
    match yaml::read(&text[yaml.clone()]) {
        Ok(YamlNode { content: NodeContent::Map(mut entries), .. }) => {
            entries.iter_mut().for_each(|entry| entry.shift(yaml.start));
            Ok(entries)
        }
        Ok(YamlNode { content: NodeContent::Scalar(YamlValue::Null), .. }) => Ok(Vec::new()),
        Ok(_) => Err(FrontmatterError::NotAMap),
        // The opening fence is line 1 of the note.
        Err(error) => Err(FrontmatterError::Yaml { line: error.line + 1, problem: error.problem.to_string() }),
    }
}

impl Note<'_> {
    /// The properties in document order; empty if there are none or they cannot be parsed, as in Obsidian.
    pub fn readable_properties(&self) -> &[Property] {
        self.properties.as_deref().unwrap_or_default()
    }

    /// The value at the end of a path of keys and list indexes.
    pub fn property(&self, path: &[&str]) -> Option<&YamlNode> {
        let (first, rest) = path.split_first()?;
        let property = self.readable_properties().iter().find(|property| property.key == *first)?;
        rest.iter().try_fold(&property.value, |node, step| node.get(step))
    }

    /// The tags of the property `tags`. Obsidian no longer reads `tag`, and treats a single text as one tag.
    pub fn property_tags(&self) -> Vec<PropertyTag> {
        let tag = |(text, span): (&str, Range<usize>)| {
            let name = text.trim();
            let name = name.strip_prefix('#').unwrap_or(name);
            // Obsidian ignores tags with blanks, rather than cutting them.
            (!name.is_empty() && !name.contains(is_space)).then(|| PropertyTag { name: name.to_owned(), span })
        };
        self.texts("tags").filter_map(tag).collect()
    }

    /// Other names of the note.
    pub fn aliases(&self) -> Vec<&str> {
        self.texts("aliases").map(|(text, _)| text.trim()).filter(|alias| !alias.is_empty()).collect()
    }

    /// The texts of a property that may be one text or a list; its name is compared without case, and of several
    /// spellings the first counts.
    fn texts(&self, name: &str) -> impl Iterator<Item = (&str, Range<usize>)> {
        let property = self.readable_properties().iter().find(|property| property.key.eq_ignore_ascii_case(name));
        property.into_iter().flat_map(|property| texts(&property.value))
    }

    /// The properties, at any depth, whose whole value is a link.
    pub fn property_links(&self) -> Vec<PropertyLink> {
        let mut found = Vec::new();
        for property in self.readable_properties() {
            self.links_of(&property.key, &property.value, &mut found);
        }
        found
    }

    fn links_of(&self, key: &str, node: &YamlNode, found: &mut Vec<PropertyLink>) {
        match &node.content {
            NodeContent::Scalar(YamlValue::Text(value)) => found.extend(self.link_of(key, value, &node.span)),
            NodeContent::Scalar(_) => {}
            // The target of a YAML alias has no place in the text.
            NodeContent::Alias(_) => {}
            NodeContent::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.links_of(&format!("{key}.{index}"), item, found);
                }
            }
            NodeContent::Map(entries) => {
                for entry in entries {
                    self.links_of(&format!("{key}.{}", entry.key), &entry.value, found);
                }
            }
        }
    }

    /// A value is a link only as a whole: `see [[x]]` is text. An embed is not a link.
    fn link_of(&self, key: &str, value: &str, span: &Range<usize>) -> Option<PropertyLink> {
        let link = if value.starts_with("[[") && value.ends_with("]]") {
            links::wiki(value, 0, value.len(), false)?
        } else if value.starts_with('[') && value.ends_with(')') {
            NoteStructure::parse(value)
                .links
                .into_iter()
                .next()
                .filter(|link| link.kind == LinkKind::Markdown && !link.embed)?
        } else {
            return None;
        };
        // Text around it makes it text.
        if link.span != (0..value.len()) {
            return None;
        }
        // With escapes, the value is not in the text as it is, and has no offset there.
        let offset = self.text[span.clone()].find(value).map(|at| span.start + at);
        Some(PropertyLink { key: key.to_owned(), value: value.to_owned(), link, span: span.clone(), offset })
    }
}

fn texts(node: &YamlNode) -> Vec<(&str, Range<usize>)> {
    match &node.content {
        NodeContent::List(items) => items.iter().filter_map(text).collect(),
        _ => text(node).into_iter().collect(),
    }
}

fn text(node: &YamlNode) -> Option<(&str, Range<usize>)> {
    match &node.content {
        NodeContent::Scalar(YamlValue::Text(text)) | NodeContent::Alias(YamlValue::Text(text)) => {
            Some((text, node.span.clone()))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_property_is_cut_out_exactly() {
        let text = "---\na: 1\nb:\nc: [x, 'y']\nd:\n  - p\n  - q: \"1\"\n    r: 2\n\ne: \"[[L]]\" # c\nf: |-\n  lit\n  two\n\ng: &an v\nh: *an\n'q k': {m: n}\nk: multi\n  line\nö: ü\nz:\n- x\n-\n- z\nlast: ~\n---\n";
        let note = Note::parse(text);
        for (path, key, value) in [
            (vec!["a"], "a", "1"),
            (vec!["b"], "b", ""),
            (vec!["c"], "c", "[x, 'y']"),
            (vec!["c", "1"], "c", "'y'"),
            (vec!["d"], "d", "- p\n  - q: \"1\"\n    r: 2"),
            (vec!["d", "1"], "d", "q: \"1\"\n    r: 2"),
            (vec!["d", "1", "q"], "d", "\"1\""),
            (vec!["e"], "e", "\"[[L]]\""),
            (vec!["f"], "f", "|-\n  lit\n  two"),
            (vec!["g"], "g", "v"),
            (vec!["h"], "h", "*an"),
            (vec!["q k"], "'q k'", "{m: n}"),
            (vec!["q k", "m"], "'q k'", "n"),
            (vec!["k"], "k", "multi\n  line"),
            (vec!["ö"], "ö", "ü"),
            (vec!["z"], "z", "- x\n-\n- z"),
            (vec!["z", "1"], "z", ""),
            (vec!["last"], "last", "~"),
        ] {
            let node = note.property(&path).unwrap_or_else(|| panic!("{path:?}"));
            assert_eq!(&text[node.span.clone()], value, "{path:?}");
            let property = note.readable_properties().iter().find(|property| property.key == path[0]).unwrap();
            assert_eq!(&text[property.key_span.clone()], key, "{path:?}");
        }
        let absent = note.property(&["b"]).unwrap().span.start;
        assert!(text[..absent].ends_with("\nb:"));
        assert_eq!(note.property(&["d", "x"]), None);
        assert_eq!(note.property(&[]), None);
    }

    #[test]
    fn tags_aliases_and_classes_take_their_forms() {
        for (yaml, tags, aliases) in [
            (
                "tags: [work, 42, '#a/b', true, x y, '']\naliases: [One, ' Two ', 3]",
                vec!["work", "a/b"],
                vec!["One", "Two"],
            ),
            ("Tags:\n  - a\n  - '#b'\nALIASES: Solo name", vec!["a", "b"], vec!["Solo name"]),
            ("tags: solo\nalias: no\ntag: no", vec!["solo"], vec![]),
            ("tags: a, b\naliases:", vec![], vec![]),
            ("tags: a b", vec![], vec![]),
            ("tags: {a: b}", vec![], vec![]),
            ("TAGS: [x]\ntags: [y]", vec!["x"], vec![]),
        ] {
            let text = format!("---\n{yaml}\n---\n");
            let note = Note::parse(&text);
            let found = note.property_tags();
            assert_eq!(found.iter().map(|tag| &*tag.name).collect::<Vec<_>>(), tags, "{yaml}");
            assert!(found.iter().all(|tag| text[tag.span.clone()].contains(&tag.name)), "{yaml}");
            assert_eq!(note.aliases(), aliases, "{yaml}");
        }
    }

    #[test]
    fn a_property_is_a_link_only_as_a_whole() {
        let text = "---\na: \"[[N#H|x]]\"\nb: ['[[M]]', \"see [[x]]\", '[t](N%20o.md)']\nc: {d: [\"[[\\u0041]]\"]}\ne: [[x]]\nf: \"![[e]]\"\ng: '[t](https://x.y)'\nh: \"[[a]] [[b]]\"\n---\n";
        let note = Note::parse(text);
        let found: Vec<(String, String, bool, Option<String>)> = note
            .property_links()
            .into_iter()
            .map(|found| {
                let path = found.link.path.clone();
                let written = found.offset.map(|offset| text[path.start + offset..path.end + offset].to_owned());
                (found.key, found.value[path].to_owned(), found.link.internal, written)
            })
            .collect();
        let written = |text: &str| Some(text.to_owned());
        assert_eq!(
            found,
            [
                ("a".into(), "N".into(), true, written("N")),
                ("b.0".into(), "M".into(), true, written("M")),
                ("b.2".into(), "N%20o.md".into(), true, written("N%20o.md")),
                ("c.d.0".into(), "A".into(), true, None),
                ("g".into(), "https://x.y".into(), false, written("https://x.y")),
            ]
        );
    }

    #[test]
    fn a_link_behind_a_yaml_alias_is_found_once_where_it_is_written() {
        for (yaml, found) in [
            ("a: &x \"[[N]]\"\nb: *x\nc: [*x]\n", vec![("a", "\"[[N]]\"")]),
            ("a: &x ['[[N]]', y]\nb: *x\nd: {k: *x}\n", vec![("a.0", "'[[N]]'")]),
            ("a: &x {k: \"[[N]]\"}\nb: *x\n", vec![("a.k", "\"[[N]]\"")]),
            ("a: &x|y |-\n  [[N]]\nb: *x|y\n", vec![("a", "|-\n  [[N]]")]),
            ("a: &x \"[[N]]\"\nb: \"[[N]]\"\nc: *x\n", vec![("a", "\"[[N]]\""), ("b", "\"[[N]]\"")]),
        ] {
            let text = format!("---\n{yaml}---\n");
            let links = Note::parse(&text).property_links();
            let spans: Vec<(&str, &str)> = links.iter().map(|link| (&*link.key, &text[link.span.clone()])).collect();
            assert_eq!(spans, found, "{yaml}");
            assert!(links.iter().all(|link| text[link.offset.unwrap()..].starts_with(&link.value)), "{yaml}");
        }
    }
}
