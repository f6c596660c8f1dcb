//! A canvas as cards and lines that can be changed. Every change replaces the bytes of what it names; all others stay, and
//! what is new is written in the style of what is there.

use std::ops::Range;

use super::{CANVAS_STEPS, CanvasPlace, CanvasReader, push_escaped, requoted};
use crate::count_steps;

/// One of the two lists of a canvas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CanvasList {
    Nodes,
    Edges,
}

impl CanvasList {
    fn key(self) -> &'static str {
        match self {
            Self::Nodes => "nodes",
            Self::Edges => "edges",
        }
    }

    fn other(self) -> Self {
        match self {
            Self::Nodes => Self::Edges,
            Self::Edges => Self::Nodes,
        }
    }
}

/// The members of a new card or line, in order.
pub(super) type CanvasMembers<'t> = Vec<(&'t str, CanvasScalar)>;

/// A value that a change writes.
#[derive(Clone, Debug, PartialEq)]
pub enum CanvasScalar {
    Text(String),
    Number(i64),
}

impl From<&str> for CanvasScalar {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<i64> for CanvasScalar {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

/// A node or an edge.
#[derive(Clone, Debug, Default)]
pub struct CanvasItem {
    span: Range<usize>,
    members: Vec<CanvasMember>,
}

#[derive(Clone, Debug)]
struct CanvasMember {
    key: String,
    /// From the key to the end of the value.
    span: Range<usize>,
    key_end: usize,
    value: Range<usize>,
    text: Option<String>,
    number: Option<f64>,
}

impl CanvasItem {
    /// Of duplicate keys the last counts, as in most JSON parsers.
    fn member(&self, key: &str) -> Option<&CanvasMember> {
        self.members.iter().rev().find(|member| member.key == key)
    }

    pub fn text(&self, key: &str) -> Option<&str> {
        self.member(key)?.text.as_deref()
    }

    /// Rounded: the format has whole numbers, and some programs write others.
    pub fn number(&self, key: &str) -> Option<i64> {
        // Far beyond any canvas, and far from where numbers lose their last digit.
        const FARTHEST: f64 = 1e9;
        let whole = |number: f64| number.clamp(-FARTHEST, FARTHEST).round() as i64;
        self.member(key)?.number.map(whole)
    }

    /// Empty if it has none.
    pub fn id(&self) -> &str {
        self.text("id").unwrap_or_default()
    }
}

/// A list with the place of its brackets.
#[derive(Clone, Debug, Default)]
struct ItemList {
    span: Range<usize>,
    items: Vec<CanvasItem>,
}

/// A canvas that is being changed.
#[derive(Clone, Debug)]
pub struct CanvasBoard {
    text: String,
    /// The whole object; empty in an empty file.
    top: Range<usize>,
    /// The end of its last member, and what separates members.
    last_member: Option<usize>,
    nodes: Option<ItemList>,
    edges: Option<ItemList>,
}

/// The white space of an object.
struct ObjectStyle {
    open: String,
    colon: String,
    separator: String,
    close: String,
}

impl ObjectStyle {
    /// Obsidian's own: everything on one line.
    fn compact() -> Self {
        Self { open: String::new(), colon: ":".to_owned(), separator: ",".to_owned(), close: String::new() }
    }
}

impl CanvasBoard {
    /// `None` if the text is not a canvas: not JSON, or its nodes and edges are not lists of objects.
    pub fn open(text: &str) -> Option<Self> {
        let mut board = Self { text: text.to_owned(), top: 0..0, last_member: None, nodes: None, edges: None };
        let mut reader = CanvasReader { text, at: 0, depth: 0, found: Vec::new() };
        reader.space();
        // An empty file is an empty canvas.
        if reader.at == text.len() {
            board.top = text.len()..text.len();
            return Some(board);
        }
        let start = reader.at;
        reader.take(b'{')?;
        let members = members(&mut reader, |reader, key| match key {
            "nodes" => list(reader).map(|list| board.nodes = Some(list)),
            "edges" => list(reader).map(|list| board.edges = Some(list)),
            _ => reader.value(CanvasPlace::Elsewhere),
        })?;
        // Where a list that is missing would be added.
        board.last_member = members.last().map(|member| member.span.end);
        board.top = start..reader.at;
        reader.space();
        // Anything behind the object makes it a broken file, which is not edited.
        (reader.at == text.len()).then_some(board)
    }

    /// A new canvas as Obsidian writes one: tabs, and an item on a line.
    pub fn written(lists: &[(CanvasList, Vec<CanvasMembers<'_>>)]) -> String {
        let list = |(list, items): &(CanvasList, Vec<CanvasMembers<'_>>)| {
            let item = |members: &CanvasMembers<'_>| {
                count_steps(CANVAS_STEPS);
                let members = members.iter().map(|(key, value)| format!("\"{key}\":{}", written(value)));
                format!("\n\t\t{{{}}}", members.collect::<Vec<_>>().join(","))
            };
            let items: Vec<String> = items.iter().map(item).collect();
            let end = if items.is_empty() { "" } else { "\n\t" };
            format!("\n\t\"{}\":[{}{end}]", list.key(), items.join(","))
        };
        format!("{{{}\n}}", lists.iter().map(list).collect::<Vec<_>>().join(","))
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn items(&self, list: CanvasList) -> &[CanvasItem] {
        self.list(list).map_or(&[], |list| &list.items)
    }

    pub fn nodes(&self) -> &[CanvasItem] {
        self.items(CanvasList::Nodes)
    }

    pub fn edges(&self) -> &[CanvasItem] {
        self.items(CanvasList::Edges)
    }

    fn list(&self, list: CanvasList) -> Option<&ItemList> {
        match list {
            CanvasList::Nodes => self.nodes.as_ref(),
            CanvasList::Edges => self.edges.as_ref(),
        }
    }

    /// Adds an item at the end of its list: a new card lies above the others. `None` if the result is not a canvas.
    pub fn add(&mut self, list: CanvasList, members: &[(&str, CanvasScalar)]) -> Option<()> {
        let style = self.style(list);
        let written: Vec<String> =
            members.iter().map(|(key, value)| format!("\"{key}\"{}{}", style.colon, written(value))).collect();
        let item = format!("{{{}{}{}}}", style.open, written.join(&style.separator), style.close);
        let (at, inserted) = match self.list(list) {
            Some(known) => self.in_list(list, known, &item),
            // A file without members is written as Obsidian writes a new canvas.
            None if self.last_member.is_none() => {
                let (nodes, edges) = match list {
                    CanvasList::Nodes => (format!("[\n\t\t{item}\n\t]"), "[]".to_owned()),
                    CanvasList::Edges => ("[]".to_owned(), format!("[\n\t\t{item}\n\t]")),
                };
                (self.top.clone(), format!("{{\n\t\"nodes\":{nodes},\n\t\"edges\":{edges}\n}}"))
            }
            None => {
                let end = self.last_member.unwrap_or(self.top.end);
                // A file on one line stays on one line.
                let is_spread = self.text[self.top.clone()].contains('\n');
                let (lead, inner, close) = if is_spread { ("\n\t", "\n\t\t", "\n\t") } else { ("", "", "") };
                (end..end, format!(",{lead}\"{}\":[{inner}{item}{close}]", list.key()))
            }
        };
        self.splice(&[(at, inserted)])
    }

    fn in_list(&self, list: CanvasList, known: &ItemList, item: &str) -> (Range<usize>, String) {
        let inside = known.span.start + 1..known.span.end - 1;
        match &known.items[..] {
            [] => {
                // As in the other list; else as Obsidian writes them, one on a line.
                let other = self.list(list.other()).filter(|other| !other.items.is_empty());
                let (lead, tail) =
                    match other.and_then(|other| Some((other, other.items.first()?, other.items.last()?))) {
                        Some((other, first, last)) => (
                            &self.text[other.span.start + 1..first.span.start],
                            &self.text[last.span.end..other.span.end - 1],
                        ),
                        None => ("\n\t\t", "\n\t"),
                    };
                (inside, format!("{lead}{item}{tail}"))
            }
            [only] => {
                // What is between the bracket and the first item is also what separates items.
                let lead = &self.text[inside.start..only.span.start];
                (only.span.end..only.span.end, format!(",{lead}{item}"))
            }
            [.., before, last] => {
                let between = &self.text[before.span.end..last.span.start];
                (last.span.end..last.span.end, format!("{between}{item}"))
            }
        }
    }

    /// Sets a member of an item, or removes it.
    pub fn set(&mut self, list: CanvasList, index: usize, key: &str, value: Option<&CanvasScalar>) -> Option<()> {
        let item = self.items(list).get(index)?;
        let splices = match (item.member(key), value) {
            (None, None) => return Some(()),
            (Some(member), Some(value)) => {
                let old = &self.text[member.value.clone()];
                let new = match value {
                    // Letters that stay keep their spelling.
                    CanvasScalar::Text(text) if member.text.is_some() => requoted(old, text)?,
                    // A number that means the same stays as it is written.
                    CanvasScalar::Number(number) if item.number(key) == Some(*number) => old.to_owned(),
                    value => written(value),
                };
                vec![(member.value.clone(), new)]
            }
            (None, Some(value)) => {
                let style = self.object_style(item);
                // An object without members has only its braces.
                let end = item.members.last().map_or(item.span.start + 1, |last| last.span.end);
                let separator = if item.members.is_empty() { "" } else { &*style.separator };
                vec![(end..end, format!("{separator}\"{key}\"{}{}", style.colon, written(value)))]
            }
            (Some(_), None) => {
                let spans: Vec<Range<usize>> = item.members.iter().map(|member| member.span.clone()).collect();
                let is_removed: Vec<bool> = item.members.iter().map(|member| member.key == key).collect();
                // Together with the comma before or after it.
                without(&spans, &is_removed, item.span.start + 1..item.span.end - 1)
            }
        };
        self.splice(&splices)
    }

    /// Moves cards to other places, all of them in one pass: reading the canvas again for each would take as long as the
    /// square of their number.
    pub fn place(&mut self, places: &[(usize, i64, i64)]) -> Option<()> {
        let (mut splices, mut unplaced) = (Vec::new(), Vec::new());
        for (index, x, y) in places {
            count_steps(CANVAS_STEPS);
            let item = self.nodes().get(*index)?;
            for (key, number) in [("x", *x), ("y", *y)] {
                match item.member(key) {
                    // A number that means the same stays as it is written.
                    Some(_) if item.number(key) == Some(number) => {}
                    Some(member) => splices.push((member.value.clone(), number.to_string())),
                    None => unplaced.push((*index, key, number)),
                }
            }
        }
        splices.sort_by_key(|(span, _)| span.start);
        if !splices.is_empty() {
            self.splice(&splices)?;
        }
        // A card without a place is a mistake of another program, so there are few.
        unplaced.into_iter().try_for_each(|(index, key, number)| {
            self.set(CanvasList::Nodes, index, key, Some(&CanvasScalar::Number(number)))
        })
    }

    /// Removes items of a list.
    pub fn remove(&mut self, list: CanvasList, is_removed: &[bool]) -> Option<()> {
        let Some(known) = self.list(list) else { return Some(()) };
        let spans: Vec<Range<usize>> = known.items.iter().map(|item| item.span.clone()).collect();
        let splices = without(&spans, is_removed, known.span.start + 1..known.span.end - 1);
        self.splice(&splices)
    }

    /// How items of a list are written; else those of the other.
    fn style(&self, list: CanvasList) -> ObjectStyle {
        // The last item is the most recent example of the style.
        let last = |list| self.items(list).iter().rev().find(|item| !item.members.is_empty());
        last(list).or_else(|| last(list.other())).map_or_else(ObjectStyle::compact, |item| self.object_style(item))
    }

    fn object_style(&self, item: &CanvasItem) -> ObjectStyle {
        // With one member there is no separator to copy.
        let [first, .., last] = &item.members[..] else { return ObjectStyle::compact() };
        let between = |from: usize, to: usize| self.text[from..to].to_owned();
        let second = &item.members[1];
        ObjectStyle {
            open: between(item.span.start + 1, first.span.start),
            colon: between(first.key_end, first.value.start),
            separator: between(first.span.end, second.span.start),
            close: between(last.span.end, item.span.end - 1),
        }
    }

    /// Replaces spans, which are in order, and reads the result.
    fn splice(&mut self, splices: &[(Range<usize>, String)]) -> Option<()> {
        let mut edited = String::with_capacity(self.text.len() + 256);
        let mut end = 0;
        for (span, new) in splices {
            edited += self.text.get(end..span.start)?;
            edited += new;
            end = span.end;
        }
        edited += self.text.get(end..)?;
        count_steps(edited.len() / 16);
        // Parsed again: positions have moved, and a change that breaks the file is refused.
        *self = Self::open(&edited)?;
        Some(())
    }
}

/// The spans to cut out of a list so that these elements and their commas are gone.
fn without(elements: &[Range<usize>], is_removed: &[bool], inside: Range<usize>) -> Vec<(Range<usize>, String)> {
    let is_removed = |index: usize| is_removed.get(index).copied().unwrap_or(false);
    let Some(first_kept) = (0..elements.len()).find(|index| !is_removed(*index)) else {
        return vec![(inside, String::new())];
    };
    let mut cut = Vec::new();
    // The first ones go with the comma behind them, all others with the one before.
    if first_kept > 0 {
        cut.push((elements[0].start..elements[first_kept].start, String::new()));
    }
    let later = (first_kept + 1..elements.len()).filter(|index| is_removed(*index));
    cut.extend(later.map(|index| (elements[index - 1].end..elements[index].end, String::new())));
    cut
}

fn written(value: &CanvasScalar) -> String {
    match value {
        CanvasScalar::Number(number) => number.to_string(),
        CanvasScalar::Text(text) => {
            let mut quoted = String::with_capacity(text.len() + 2);
            quoted.push('"');
            text.chars().for_each(|letter| push_escaped(&mut quoted, letter));
            quoted.push('"');
            quoted
        }
    }
}

fn list(reader: &mut CanvasReader<'_>) -> Option<ItemList> {
    reader.space();
    let start = reader.at;
    reader.take(b'[')?;
    let mut items = Vec::new();
    if reader.take(b']').is_none() {
        loop {
            reader.space();
            let start = reader.at;
            reader.take(b'{')?;
            let members = members(reader, |reader, _| reader.value(CanvasPlace::Elsewhere))?;
            items.push(CanvasItem { span: start..reader.at, members });
            if reader.take(b',').is_none() {
                break;
            }
        }
        reader.take(b']')?;
    }
    Some(ItemList { span: start..reader.at, items })
}

/// The members of an object, after its opening brace.
fn members<'t>(
    reader: &mut CanvasReader<'t>,
    mut other: impl FnMut(&mut CanvasReader<'t>, &str) -> Option<()>,
) -> Option<Vec<CanvasMember>> {
    let mut members = Vec::new();
    if reader.take(b'}').is_some() {
        return Some(members);
    }
    loop {
        count_steps(CANVAS_STEPS);
        reader.space();
        let (key_span, key) = reader.string()?;
        reader.take(b':')?;
        reader.space();
        let start = reader.at;
        let (mut text, mut number) = (None, None);
        if reader.peek()? == b'"' {
            text = Some(reader.string()?.1);
        } else {
            other(reader, &key)?;
            number = reader.text[start..reader.at].parse::<f64>().ok().filter(|number| number.is_finite());
        }
        let value = start..reader.at;
        let span = key_span.start..value.end;
        members.push(CanvasMember { key, span, key_end: key_span.end, value, text, number });
        if reader.take(b',').is_none() {
            reader.take(b'}')?;
            return Some(members);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    const OWN: &str = "{\n\t\"nodes\":[\n\t\t{\"id\":\"a\",\"type\":\"text\",\"text\":\"x \\u00e4\",\"x\":0,\"y\":-1.5},\n\
                       \t\t{\"id\":\"b\",\"extra\":{\"q\":[1, 2 ]}}\n\t],\n\t\"edges\":[],\n\t\"other\" : { }\n}\n";

    fn board(text: &str) -> CanvasBoard {
        CanvasBoard::open(text).unwrap()
    }

    #[test]
    fn cards_are_moved_in_one_pass_as_one_by_one() {
        let text = OWN.replace("\"y\":-1.5", "\"y\" : -1.5,\"x\":2");
        let mut together = board(&text);
        together.place(&[(1, 5, -3), (0, 1, 4)]).unwrap();
        let mut alone = board(&text);
        for (index, x, y) in [(0, 1, 4), (1, 5, -3)] {
            alone.set(CanvasList::Nodes, index, "x", Some(&x.into())).unwrap();
            alone.set(CanvasList::Nodes, index, "y", Some(&y.into())).unwrap();
        }
        assert_eq!(together.text(), alone.text());
        let mut same = board(&text);
        same.place(&[(0, 2, -2)]).unwrap();
        assert_eq!(same.text(), text, "nothing moved");
    }

    #[test]
    fn only_what_is_named_changes() {
        let mut edited = board(OWN);
        edited.set(CanvasList::Nodes, 0, "text", Some(&"y ä".into())).unwrap();
        edited.set(CanvasList::Nodes, 1, "x", Some(&7.into())).unwrap();
        edited.set(CanvasList::Nodes, 0, "y", None).unwrap();
        let expected =
            OWN.replace("x \\u00e4", "y \\u00e4").replace(",\"y\":-1.5", "").replace("2 ]}}", "2 ]},\"x\":7}");
        assert_eq!(edited.text(), expected);
        edited.add(CanvasList::Edges, &[("id", "e".into()), ("fromNode", "a\"".into())]).unwrap();
        let expected = expected.replace("[],", "[\n\t\t{\"id\":\"e\",\"fromNode\":\"a\\\"\"}\n\t],");
        assert_eq!(edited.text(), expected);
        edited.remove(CanvasList::Nodes, &[true, false]).unwrap();
        assert_eq!(edited.nodes()[0].id(), "b");
        edited.remove(CanvasList::Nodes, &[true]).unwrap();
        assert!(edited.text().starts_with("{\n\t\"nodes\":[],\n\t\"edges\":[\n"));
    }

    #[test]
    fn new_items_are_written_like_the_others() {
        let pretty = serde_json::to_string_pretty(&json!({ "nodes": [{ "id": "a", "x": 1 }], "edges": [] })).unwrap();
        let mut edited = board(&pretty);
        edited.add(CanvasList::Nodes, &[("id", "b".into()), ("x", 2.into())]).unwrap();
        edited.add(CanvasList::Edges, &[("id", "e".into()), ("fromNode", "a".into())]).unwrap();
        let expected = json!({ "nodes": [{ "id": "a", "x": 1 }, { "id": "b", "x": 2 }], "edges": [{ "id": "e", "fromNode": "a" }] });
        assert_eq!(edited.text(), serde_json::to_string_pretty(&expected).unwrap());
        for empty in ["", " \n", "{}", "{ }"] {
            let mut edited = board(empty);
            edited.add(CanvasList::Nodes, &[("id", "a".into()), ("x", 2.into())]).unwrap();
            assert_eq!(edited.text().trim(), "{\n\t\"nodes\":[\n\t\t{\"id\":\"a\",\"x\":2}\n\t],\n\t\"edges\":[]\n}");
        }
        let mut edited = board("{\"edges\":[]}");
        edited.add(CanvasList::Nodes, &[("id", "a".into())]).unwrap();
        assert_eq!(edited.text(), "{\"edges\":[],\"nodes\":[{\"id\":\"a\"}]}");
    }

    #[test]
    fn what_is_not_a_canvas_is_refused() {
        for text in ["[]", "null", "{\"nodes\":{}}", "{\"nodes\":[1]}", "{\"nodes\":[{}]", "{} x", "{\"edges\":[{},]}"]
        {
            assert!(CanvasBoard::open(text).is_none(), "{text}");
        }
        assert!(CanvasBoard::open(&format!("{{\"a\":{}", "[".repeat(100_000))).is_none());
    }

    fn items() -> impl Strategy<Value = Vec<Value>> {
        let item = ("[a-z\"\\\\\n\u{e4}]{0,6}", -900_i64..900, any::<bool>());
        let item = item.prop_map(|(text, number, has_more)| match has_more {
            true => json!({ "id": text, "x": number, "more": { "list": [number, null, text] } }),
            false => json!({ "id": text, "x": number }),
        });
        proptest::collection::vec(item, 0..6)
    }

    proptest! {
        /// The same changes to the text and to the values give the same values, in each of the usual styles.
        #[test]
        fn an_edited_text_means_what_was_asked_for(
            nodes in items(), edges in items(), pretty: bool,
            steps in proptest::collection::vec((0_u8..4, 0_usize..6, "[a-z\"\u{1f980}\n]{0,4}"), 0..8),
        ) {
            let mut value = json!({ "nodes": nodes, "edges": edges, "z": 1 });
            let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
            let mut edited = board(&text);
            for (step, index, word) in steps {
                let (list, key) = if word.len() % 2 == 0 { (CanvasList::Nodes, "nodes") } else { (CanvasList::Edges, "edges") };
                let count = edited.items(list).len();
                let items = value[key].as_array_mut().unwrap();
                prop_assert_eq!(count, items.len());
                match step {
                    0 => {
                        edited.add(list, &[("id", (&*word).into()), ("x", 5.into())]).unwrap();
                        items.push(json!({ "id": word, "x": 5 }));
                    }
                    1 if index < count => {
                        let others: Vec<String> = edited.items(list).iter().map(|item| edited.text()[item.span.clone()].to_owned()).collect();
                        edited.set(list, index, "id", Some(&(&*word).into())).unwrap();
                        items[index]["id"] = json!(word);
                        for (at, other) in others.iter().enumerate().filter(|(at, _)| *at != index) {
                            prop_assert_eq!(&edited.text()[edited.items(list)[at].span.clone()], other);
                        }
                    }
                    2 if index < count => {
                        edited.set(list, index, "x", None).unwrap();
                        items[index].as_object_mut().unwrap().shift_remove("x");
                    }
                    3 => {
                        let is_removed: Vec<bool> = (0..count).map(|at| (at + index) % 2 == 0).collect();
                        edited.remove(list, &is_removed).unwrap();
                        let mut keep = is_removed.iter();
                        items.retain(|_| !keep.next().unwrap());
                    }
                    _ => {}
                }
            }
            prop_assert_eq!(serde_json::from_str::<Value>(edited.text()).unwrap(), value);
        }
    }
}
