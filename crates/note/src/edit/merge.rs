use crate::Value;

/// Where new text or values go beside what is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Before,
    Behind,
}

/// A property's value with more in it: lists are joined, a list takes in a single value, maps take in entries, texts are
/// put together. What stands behind wins where two maps have the same name. Nothing if the two do not go together.
pub(super) fn merged(old: &Value, new: &Value, side: Side) -> Option<Value> {
    let (first, second) = match side {
        Side::Before => (new, old),
        Side::Behind => (old, new),
    };
    Some(match (first, second) {
        (Value::Null, value) | (value, Value::Null) => value.clone(),
        (Value::Text(first), Value::Text(second)) => Value::Text(format!("{first}{second}")),
        (Value::Map(first), Value::Map(second)) => Value::Map(joined(first, second)),
        (Value::List(first), Value::List(second)) => Value::List([first.as_slice(), second].concat()),
        (Value::List(items), one) if side == Side::Behind => {
            Value::List(items.iter().chain(std::iter::once(one)).cloned().collect())
        }
        (one, Value::List(items)) if side == Side::Before => {
            Value::List(std::iter::once(one).chain(items).cloned().collect())
        }
        _ => return None,
    })
}

fn joined(first: &[(String, Value)], second: &[(String, Value)]) -> Vec<(String, Value)> {
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
        let text = |text: &str| Value::Text(text.to_owned());
        let list = |items: &[&str]| Value::List(items.iter().map(|item| text(item)).collect());
        let map = |entries: &[(&str, &str)]| {
            Value::Map(entries.iter().map(|(name, value)| ((*name).to_owned(), text(value))).collect())
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
            (Value::Null, text("a"), Some(text("a")), Some(text("a"))),
            (text("a"), list(&["b"]), None, None),
            (Value::Integer(1), Value::Integer(2), None, None),
            (Value::Bool(true), text("a"), None, None),
            (map(&[]), text("a"), None, None),
        ] {
            assert_eq!(merged(&old, &new, Side::Before), before, "{old:?} {new:?}");
            assert_eq!(merged(&old, &new, Side::Behind), behind, "{old:?} {new:?}");
        }
    }
}
