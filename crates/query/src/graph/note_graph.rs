//! Notes and the links between them.

use std::collections::VecDeque;

use jiff::Timestamp;
use lapidary_note::{ContentHash, count_steps};

/// The notes that a caller may see, in path order, and the links among them. A note is its place in the list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NoteGraph {
    pub notes: Vec<GraphNote>,
    /// In order, each once, none of a note to itself.
    pub links: Vec<GraphLink>,
    /// The folders with notes in them, in the order in which notes have them; the root is empty.
    pub folders: Vec<String>,
    /// Without `#`, the most frequent first.
    pub tags: Vec<String>,
    /// Links that lead nowhere, those with the most notes first.
    pub unresolved: Vec<UnresolvedLink>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct GraphNote {
    pub path: String,
    /// In `folders`.
    pub folder: u32,
    /// In `tags`, in order.
    pub tags: Vec<u32>,
    pub created: Option<Timestamp>,
    pub modified: Option<Timestamp>,
    pub bytes: u64,
}

/// From a note to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GraphLink {
    pub from: u32,
    pub to: u32,
}

/// A name that notes link to, and no file has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnresolvedLink {
    pub target: String,
    /// The notes with such a link, in order.
    pub sources: Vec<u32>,
}

impl GraphNote {
    /// As people call it.
    pub fn name(&self) -> &str {
        let name = self.path.rsplit_once('/').map_or(self.path.as_str(), |(_, name)| name);
        name.strip_suffix(".md").unwrap_or(name)
    }

    /// When it was made, or else last changed: not every file system knows the first.
    pub fn since(&self) -> Option<Timestamp> {
        match (self.created, self.modified) {
            // A copy of a file is younger than its content.
            (Some(created), Some(modified)) => Some(created.min(modified)),
            (created, modified) => created.or(modified),
        }
    }
}

impl NoteGraph {
    /// The note at a path.
    pub fn find(&self, path: &str) -> Option<u32> {
        let at = self.notes.binary_search_by(|note| note.path.as_str().cmp(path)).ok()?;
        u32::try_from(at).ok()
    }

    pub fn note(&self, number: u32) -> Option<&GraphNote> {
        self.notes.get(number as usize)
    }

    /// Tells numbers of this list of notes from those of another.
    pub fn mark(&self) -> String {
        paths_mark(self.notes.iter().map(|note| note.path.as_str()))
    }

    /// Tells apart everything that a picture of it depends on.
    pub fn digest(&self) -> ContentHash {
        // Also the paths: the same links between other notes are another picture.
        let mut bytes = self.mark().into_bytes();
        for link in &self.links {
            bytes.extend_from_slice(&link.from.to_le_bytes());
            bytes.extend_from_slice(&link.to.to_le_bytes());
        }
        ContentHash::of(&bytes)
    }

    /// Where the links of each note are.
    pub fn neighbours(&self) -> NoteLinks {
        NoteLinks::new(self.notes.len(), &self.links)
    }
}

/// Tells a list of paths from another.
pub fn paths_mark<'p>(paths: impl Iterator<Item = &'p str>) -> String {
    let mut all = String::new();
    for path in paths {
        all += path;
        // No path contains it.
        all.push('\0');
    }
    ContentHash::of(all.as_bytes()).to_string()
}

/// The links of each note, both ways.
#[derive(Clone, Debug, Default)]
pub struct NoteLinks {
    to: LinkRanges,
    from: LinkRanges,
}

/// Lists of notes, one after the other.
#[derive(Clone, Debug, Default)]
struct LinkRanges {
    starts: Vec<u32>,
    others: Vec<u32>,
}

impl LinkRanges {
    fn new(notes: usize, links: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut starts = vec![0_u32; notes + 1];
        for (note, _) in links.clone() {
            // First the counts, then their sums: no list per note has to be allocated.
            starts[note as usize + 1] += 1;
        }
        for at in 0..notes {
            starts[at + 1] += starts[at];
        }
        // The places where the next link of each note goes.
        let mut next = starts.clone();
        let mut others = vec![0; starts[notes] as usize];
        for (note, other) in links {
            count_steps(4);
            let place = &mut next[note as usize];
            others[*place as usize] = other;
            *place += 1;
        }
        Self { starts, others }
    }

    fn of(&self, note: u32) -> &[u32] {
        let at = note as usize;
        match (self.starts.get(at), self.starts.get(at + 1)) {
            (Some(start), Some(end)) => self.others.get(*start as usize..*end as usize).unwrap_or_default(),
            _ => &[],
        }
    }
}

impl NoteLinks {
    /// Links of other notes than these, and of notes to themselves, are left out.
    pub fn new(notes: usize, links: &[GraphLink]) -> Self {
        let is_inside =
            move |link: &&GraphLink| (link.from as usize) < notes && (link.to as usize) < notes && link.from != link.to;
        let links = links.iter().filter(is_inside);
        Self {
            to: LinkRanges::new(notes, links.clone().map(|link| (link.from, link.to))),
            from: LinkRanges::new(notes, links.map(|link| (link.to, link.from))),
        }
    }

    /// The notes that it links to, in order.
    pub fn targets(&self, note: u32) -> &[u32] {
        self.to.of(note)
    }

    /// The notes that link to it, in order.
    pub fn sources(&self, note: u32) -> &[u32] {
        self.from.of(note)
    }

    /// How many links it has, both ways.
    pub fn degree(&self, note: u32) -> usize {
        self.targets(note).len() + self.sources(note).len()
    }

    /// The shortest way from a note to another along links, in either direction, with both ends. Among equals the same
    /// one each time.
    pub fn path(&self, from: u32, to: u32) -> Option<Vec<u32>> {
        const NOT_SEEN: u32 = u32::MAX;
        let notes = self.to.starts.len().saturating_sub(1);
        if from as usize >= notes || to as usize >= notes {
            return None;
        }
        let mut before = vec![NOT_SEEN; notes];
        // The start leads to itself, which ends the way back.
        before[from as usize] = from;
        // In rings around the first note, so the first way that is found is the shortest.
        let mut waiting = VecDeque::from([from]);
        while let Some(note) = waiting.pop_front() {
            if note == to {
                let way = std::iter::successors(Some(to), |note| (*note != from).then(|| before[*note as usize]));
                let mut way: Vec<u32> = way.collect();
                way.reverse();
                return Some(way);
            }
            for &next in self.targets(note).iter().chain(self.sources(note)) {
                count_steps(4);
                if before[next as usize] == NOT_SEEN {
                    before[next as usize] = note;
                    waiting.push_back(next);
                }
            }
        }
        None
    }
}
