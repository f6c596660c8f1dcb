//! Merges values of properties.

use crate::YamlValue;

/// Where new text or values go relative to the existing ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InsertSide {
    Before,
    Behind,
}

/// A property's value with more in it: lists are joined, a list takes a single value, maps take entries, texts are
/// concatenated. The later value wins if two maps have the same key. `None` if the two cannot be merged.
pub(super) fn merged(old: &YamlValue, new: &YamlValue, side: InsertSide) -> Option<YamlValue> {
    let (first, second) = match side {
        InsertSide::Before => (new, old),
        InsertSide::Behind => (old, new),
    };
    Some(match (first, second) {
        (YamlValue::Null, value) | (value, YamlValue::Null) => value.clone(),
        (YamlValue::Text(first), YamlValue::Text(second)) => YamlValue::Text(format!("{first}{second}")),
        (YamlValue::Map(first), YamlValue::Map(second)) => YamlValue::Map(joined(first, second)),
        (YamlValue::List(first), YamlValue::List(second)) => YamlValue::List([first.as_slice(), second].concat()),
        (YamlValue::List(items), one) if side == InsertSide::Behind => {
            YamlValue::List(items.iter().chain(std::iter::once(one)).cloned().collect())
        }
        (one, YamlValue::List(items)) if side == InsertSide::Before => {
            YamlValue::List(std::iter::once(one).chain(items).cloned().collect())
        }
        _ => return None,
    })
}

fn joined(first: &[(String, YamlValue)], second: &[(String, YamlValue)]) -> Vec<(String, YamlValue)> {
    let mut entries = first.to_vec();
    for (name, value) in second {
        match entries.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => *known = value.clone(),
            None => entries.push((name.clone(), value.clone())),
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_one_kind_go_together() {
        let text = |text: &str| YamlValue::Text(text.to_owned());
        let list = |items: &[&str]| YamlValue::List(items.iter().map(|item| text(item)).collect());
        let map = |entries: &[(&str, &str)]| {
            YamlValue::Map(entries.iter().map(|(name, value)| ((*name).to_owned(), text(value))).collect())
        };
        for (old, new, before, behind) in [
            (text("a"), text("b"), Some(text("ba")), Some(text("ab"))),
            (list(&["a"]), list(&["b", "c"]), Some(list(&["b", "c", "a"])), Some(list(&["a", "b", "c"]))),
            (list(&["a"]), text("b"), Some(list(&["b", "a"])), Some(list(&["a", "b"]))),
            (
                map(&[("k", "1"), ("x", "2")]),
                map(&[("k", "3"), ("y", "4")]),
                Some(map(&[("k", "1"), ("y", "4"), ("x", "2")])),
                Some(map(&[("k", "3"), ("x", "2"), ("y", "4")])),
            ),
            (YamlValue::Null, text("a"), Some(text("a")), Some(text("a"))),
            (text("a"), list(&["b"]), None, None),
            (YamlValue::Integer(1), YamlValue::Integer(2), None, None),
            (YamlValue::Bool(true), text("a"), None, None),
            (map(&[]), text("a"), None, None),
        ] {
            assert_eq!(merged(&old, &new, InsertSide::Before), before, "{old:?} {new:?}");
            assert_eq!(merged(&old, &new, InsertSide::Behind), behind, "{old:?} {new:?}");
        }
    }
}
