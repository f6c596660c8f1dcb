//! A graph as the picture reads it: numbers in a row, little-endian, and the names of folders and tags after them.

use lapidary_note::one_line;
use lapidary_query::{DrawnPoint, NoteGraph};
use serde_json::json;

/// Changes with the format; the script refuses another.
const MAGIC: u32 = u32::from_le_bytes(*b"LGR1");
/// Rarer tags cannot be chosen in the picture.
const MOST_TAGS: usize = 500;

/// In this order: five counts (magic, notes, links, uses of tags, bytes of names), the places (all x, all y), when notes were
/// made and changed (in seconds, 0 if that is unknown), their sizes and folders, the links as pairs, where the tags of each note
/// begin, the tags, and the names as JSON.
pub fn graph_bytes(graph: &NoteGraph, places: &[DrawnPoint]) -> Vec<u8> {
    // The list begins with the most frequent, so cutting it leaves out the rarest.
    let shown_tags = graph.tags.len().min(MOST_TAGS);
    let is_shown = |tag: &&u32| (**tag as usize) < shown_tags;
    // A name is a label on one line; a line break in a file name would move the labels after it.
    let shown = |names: &[String]| names.iter().map(|name| one_line(name).into_owned()).collect::<Vec<_>>();
    let names = json!({
        "mark": graph.mark(),
        "folders": shown(&graph.folders),
        "tags": shown(&graph.tags[..shown_tags]),
    });
    let names = names.to_string();
    let uses: usize = graph.notes.iter().map(|note| note.tags.iter().filter(is_shown).count()).sum();
    let mut bytes = NumberRow(Vec::with_capacity(28 * graph.notes.len() + 8 * graph.links.len() + names.len()));
    // The magic number comes first, before the four counts.
    for count in [graph.notes.len(), graph.links.len(), uses, names.len()] {
        if bytes.0.is_empty() {
            bytes.push(MAGIC);
        }
        bytes.push(fitting(count as u64));
    }
    let place = |at: usize| places.get(at).copied().unwrap_or_default();
    (0..graph.notes.len()).for_each(|at| bytes.push(place(at).x.to_bits()));
    (0..graph.notes.len()).for_each(|at| bytes.push(place(at).y.to_bits()));
    // Seconds since 1970 fit into 32 bits until 2106; a file from before 1970 counts as unknown.
    let seconds = |time: Option<jiff::Timestamp>| {
        fitting(time.and_then(|time| u64::try_from(time.as_second()).ok()).unwrap_or_default())
    };
    // Columns rather than records: the script reads each as one typed array on the same bytes, which must be aligned to
    // four.
    graph.notes.iter().for_each(|note| bytes.push(seconds(note.since())));
    graph.notes.iter().for_each(|note| bytes.push(seconds(note.modified)));
    graph.notes.iter().for_each(|note| bytes.push(fitting(note.bytes)));
    graph.notes.iter().for_each(|note| bytes.push(note.folder));
    for link in &graph.links {
        bytes.push(link.from);
        bytes.push(link.to);
    }
    // One more than notes: the end of the last.
    let mut start = 0;
    bytes.push(start);
    for note in &graph.notes {
        start += fitting(note.tags.iter().filter(is_shown).count() as u64);
        bytes.push(start);
    }
    graph.notes.iter().flat_map(|note| note.tags.iter().filter(is_shown)).for_each(|tag| bytes.push(*tag));
    // Last, because their length is not a multiple of four.
    bytes.0.extend_from_slice(names.as_bytes());
    bytes.0
}

struct NumberRow(Vec<u8>);

impl NumberRow {
    fn push(&mut self, number: u32) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }
}

/// The largest number that fits, if it does not.
fn fitting(number: u64) -> u32 {
    // A size or a count that is too large is only drawn too small, which is better than no picture.
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use lapidary_query::{GraphLink, GraphNote};

    use super::*;

    #[test]
    fn a_graph_is_written_as_the_script_reads_it() {
        let note = |path: &str, folder, tags: &[u32], bytes| GraphNote {
            path: path.to_owned(),
            folder,
            tags: tags.to_vec(),
            created: Some(jiff::Timestamp::from_second(7).unwrap()),
            modified: Some(jiff::Timestamp::from_second(9).unwrap()),
            bytes,
        };
        let graph = NoteGraph {
            notes: vec![note("a.md", 0, &[1], 3), note("b/c.md", 1, &[0, 1], u64::MAX)],
            links: vec![GraphLink { from: 1, to: 0 }],
            folders: vec![String::new(), "b\u{202e}".to_owned()],
            tags: vec!["x".to_owned(), "y".to_owned()],
            ..NoteGraph::default()
        };
        let bytes = graph_bytes(&graph, &[DrawnPoint { x: 1.5, y: 2.0 }]);
        let names_at = 4 * (5 + 6 * 2 + 2 + 3 + 3);
        let numbers: Vec<u32> =
            bytes[..names_at].chunks(4).map(|four| u32::from_le_bytes(four.try_into().unwrap())).collect();
        let (first, second) = (1.5_f32.to_bits(), 2.0_f32.to_bits());
        assert_eq!(numbers[1..4], [2, 1, 3]);
        assert_eq!(numbers[4] as usize, bytes.len() - names_at);
        assert_eq!(numbers[5..17], [first, 0, second, 0, 7, 7, 9, 9, 3, u32::MAX, 0, 1]);
        assert_eq!(numbers[17..], [1, 0, 0, 1, 3, 1, 0, 1]);
        let names: serde_json::Value = serde_json::from_slice(&bytes[names_at..]).unwrap();
        assert_eq!(names["tags"], json!(["x", "y"]));
        assert!(!names["folders"][1].as_str().unwrap().contains('\u{202e}'));
        assert_eq!(names["mark"], graph.mark());
        assert_eq!(
            graph_bytes(&NoteGraph::default(), &[]).len() % 4,
            json!({"mark": NoteGraph::default().mark(), "folders": [], "tags": []}).to_string().len() % 4
        );
    }
}
