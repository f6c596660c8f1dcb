//! Walks along links, from note to note. Each note is looked up when a walk gets to it, so a short walk costs little in a
//! large vault, and nothing kept can be stale.
//!
//! Links in properties and embeds count like all others, and so do the cards of canvases: a canvas is a note among notes.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use lapidary_note::count_steps;
use lapidary_operation::{Context, Reason};
use lapidary_vault::{VaultPath, View, VisibleNotes};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    index,
    link::{OutLink, canvas_links},
};

// Which links a walk follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WalkDirection {
    /// Links of a note.
    Out,
    /// Links to a note.
    In,
    #[default]
    Both,
}

impl WalkDirection {
    pub fn name(self) -> &'static str {
        match self {
            Self::Out => "out",
            Self::In => "in",
            Self::Both => "both",
        }
    }

    pub fn arrow(self) -> char {
        match self {
            Self::Out => '→',
            Self::In => '←',
            Self::Both => '↔',
        }
    }

    fn follows(self, other: Self) -> bool {
        self == other || self == Self::Both
    }
}

/// A canvas and its links.
pub(crate) struct CanvasSource<'n> {
    pub(crate) path: &'n VaultPath,
    pub(crate) links: Vec<OutLink>,
}

/// All canvases. They are few, and the index does not know what they show.
pub(crate) fn canvases<'n>(context: &Context<'_>, notes: &'n VisibleNotes) -> Result<Vec<CanvasSource<'n>>, Reason> {
    let mut found = Vec::new();
    for entry in notes.other_sources().filter(|entry| entry.path().is_canvas()) {
        context.check()?;
        let Some(text) = notes.shown_text(entry.path()) else { continue };
        let links = canvas_links(&text, entry.path(), notes).into_iter().map(|card| card.link).collect();
        found.push(CanvasSource { path: entry.path(), links });
    }
    Ok(found)
}

/// The notes and canvases of a vault, and how to get from one to the next.
pub struct LinkWalk<'n> {
    notes: &'n VisibleNotes,
    /// What each canvas shows, in order, and the canvases that show a file.
    on_canvas: HashMap<&'n VaultPath, Vec<&'n VaultPath>>,
    canvases_with: HashMap<&'n VaultPath, Vec<&'n VaultPath>>,
}

/// A note that a walk came to.
#[derive(Clone, Copy, Debug)]
pub struct ReachedNote<'n> {
    pub path: &'n VaultPath,
    pub hops: usize,
    /// How likely it is that a walk which takes a link at random gets there: a note with hundreds of links passes little
    /// on to each.
    pub weight: f64,
    /// The note before it on the likeliest way.
    pub via: &'n VaultPath,
    /// Whose links connect it with the start, if it is one link away.
    pub direction: Option<WalkDirection>,
    share: f64,
    /// How many links connect it with the start, and how many notes it is linked with: what tells direct neighbours
    /// apart, which a random walk reaches alike.
    closeness: (usize, usize),
}

/// How many links two notes have to each other.
#[derive(Clone, Copy, Default)]
struct LinkCounts {
    out: usize,
    back: usize,
}

impl LinkCounts {
    fn direction(self) -> WalkDirection {
        match (self.out, self.back) {
            (_, 0) => WalkDirection::Out,
            (0, _) => WalkDirection::In,
            _ => WalkDirection::Both,
        }
    }
}

/// What a walk found, nearest first and by weight.
pub struct WalkedNotes<'n> {
    pub reached: Vec<ReachedNote<'n>>,
    /// The walk ended early, because it came to too many notes.
    pub is_cut: bool,
}

/// More notes around one say nothing about it.
const MOST_REACHED: usize = 20_000;
/// With more neighbours, how well each is connected is not counted.
const MOST_COUNTED: usize = 500;
/// What a link counts that is followed.
const LINK_STEPS: usize = 16;

impl<'n> LinkWalk<'n> {
    pub fn new(context: &Context<'_>, view: &'n View) -> Result<Self, Reason> {
        let notes = index::notes(context, view)?;
        let (mut on_canvas, mut canvases_with) = (HashMap::new(), HashMap::<_, Vec<_>>::new());
        for canvas in canvases(context, notes)? {
            // Each file once for a canvas, however many cards show it.
            let targets: BTreeSet<&VaultPath> =
                canvas.links.iter().filter_map(|link| shown_path(notes, link)).collect();
            let targets: Vec<&VaultPath> = targets.into_iter().filter(|target| *target != canvas.path).collect();
            targets.iter().for_each(|target| canvases_with.entry(*target).or_default().push(canvas.path));
            on_canvas.insert(canvas.path, targets);
        }
        Ok(Self { notes, on_canvas, canvases_with })
    }

    pub fn notes(&self) -> &'n VisibleNotes {
        self.notes
    }

    /// The note or canvas at a path, as spelt on disk.
    pub fn find(&self, path: &VaultPath) -> Option<&'n VaultPath> {
        self.notes.find(path).map(|entry| entry.path()).filter(|path| path.is_searched())
    }

    /// The notes and canvases that one is linked with, each once, in path order.
    pub fn beside(&self, path: &'n VaultPath, direction: WalkDirection) -> Vec<&'n VaultPath> {
        let mut found: BTreeSet<&VaultPath> = BTreeSet::new();
        if direction.follows(WalkDirection::Out) {
            // A canvas has no digest of links; what it shows was read above.
            match self.on_canvas.get(path) {
                Some(targets) => found.extend(targets),
                None => found.extend(self.targets(path)),
            }
        }
        if direction.follows(WalkDirection::In) {
            found.extend(self.notes.backlinks(path).into_iter().map(|backlink| backlink.source));
            found.extend(self.canvases_with.get(path).into_iter().flatten());
        }
        // A note that links to itself is not beside itself, and other files have no links to go on.
        found.into_iter().filter(|other| *other != path && other.is_searched()).collect()
    }

    fn targets(&self, path: &'n VaultPath) -> impl Iterator<Item = &'n VaultPath> {
        let (notes, links) = (self.notes, self.notes.digest(path).into_iter().flat_map(|digest| digest.links()));
        links.filter_map(move |link| {
            count_steps(LINK_STEPS);
            notes.resolve(link.target, path)
        })
    }

    /// How many links a note has to and from each other.
    fn counts(&self, path: &'n VaultPath) -> HashMap<&'n VaultPath, LinkCounts> {
        let mut counts: HashMap<&VaultPath, LinkCounts> = HashMap::new();
        match self.on_canvas.get(path) {
            Some(targets) => targets.iter().for_each(|target| counts.entry(target).or_default().out += 1),
            None => self.targets(path).for_each(|target| counts.entry(target).or_default().out += 1),
        }
        let links = self.notes.backlinks(path).into_iter().map(|backlink| backlink.source);
        let cards = self.canvases_with.get(path).into_iter().flatten().copied();
        links.chain(cards).for_each(|source| counts.entry(source).or_default().back += 1);
        counts
    }

    /// Tells direct neighbours apart.
    fn rank_direct(
        &self,
        context: &Context<'_>,
        start: &'n VaultPath,
        ring: &mut BTreeMap<&'n VaultPath, ReachedNote<'n>>,
    ) -> Result<(), Reason> {
        let (counts, is_counted) = (self.counts(start), ring.len() <= MOST_COUNTED);
        for (path, reached) in ring {
            context.check()?;
            let links = counts.get(path).copied().unwrap_or_default();
            let degree = if is_counted { self.beside(path, WalkDirection::Both).len() } else { 0 };
            reached.direction = Some(links.direction());
            reached.closeness = (links.out + links.back, degree);
        }
        Ok(())
    }

    /// All notes within a number of links of one, without itself.
    pub fn around(
        &self,
        context: &Context<'_>,
        start: &'n VaultPath,
        hops: usize,
        direction: WalkDirection,
    ) -> Result<WalkedNotes<'n>, Reason> {
        let mut walked = WalkedNotes { reached: Vec::new(), is_cut: false };
        let mut seen: HashSet<&VaultPath> = HashSet::from([start]);
        let mut ring = vec![(start, 1.0)];
        for hops in 1..=hops {
            let mut next: BTreeMap<&VaultPath, ReachedNote<'n>> = BTreeMap::new();
            for (via, weight) in &ring {
                context.check()?;
                let beside = self.beside(via, direction);
                // Each link gets an equal part of what reached the note.
                let share = weight / f64::from(u32::try_from(beside.len()).unwrap_or(u32::MAX).max(1));
                for path in beside.into_iter().filter(|path| !seen.contains(path)) {
                    count_steps(LINK_STEPS);
                    let new = ReachedNote { path, hops, weight: 0.0, via, direction: None, share, closeness: (0, 0) };
                    let known = next.entry(path).or_insert(new);
                    known.weight += share;
                    // The way with the largest share is the one that is named.
                    if share > known.share {
                        (known.via, known.share) = (via, share);
                    }
                }
                // Checked after each note, so a hub with thousands of links ends the walk soon.
                if seen.len() + next.len() > MOST_REACHED {
                    walked.is_cut = true;
                    break;
                }
            }
            if hops == 1 {
                self.rank_direct(context, start, &mut next)?;
            }
            seen.extend(next.keys());
            ring = next.values().map(|reached| (reached.path, reached.weight)).collect();
            walked.reached.extend(next.into_values());
            if ring.is_empty() || walked.is_cut {
                break;
            }
        }
        // Stable, so equals stay in path order.
        walked.reached.sort_by(|one, other| {
            let by_weight = || other.weight.total_cmp(&one.weight);
            one.hops.cmp(&other.hops).then_with(by_weight).then_with(|| other.closeness.cmp(&one.closeness))
        });
        Ok(walked)
    }

    /// The shortest ways from one note to another, with both ends; the same ones each time. Empty if none has at
    /// most this many links.
    pub fn ways(
        &self,
        context: &Context<'_>,
        (from, to): (&'n VaultPath, &'n VaultPath),
        longest: usize,
        direction: WalkDirection,
        most: usize,
    ) -> Result<Vec<Vec<&'n VaultPath>>, Reason> {
        // The notes right before each note that was reached, on all shortest ways.
        let mut before: HashMap<&VaultPath, Vec<&'n VaultPath>> = HashMap::from([(from, Vec::new())]);
        let mut ring = vec![from];
        for _ in 0..longest {
            // All shortest ways are complete once the ring with the end is.
            if before.contains_key(to) {
                break;
            }
            let mut next: BTreeMap<&VaultPath, Vec<&'n VaultPath>> = BTreeMap::new();
            for via in ring {
                context.check()?;
                for path in self.beside(via, direction) {
                    count_steps(LINK_STEPS);
                    // Only notes of an earlier ring are known, so each note is reached at its shortest distance.
                    if !before.contains_key(path) {
                        next.entry(path).or_default().push(via);
                    }
                }
            }
            ring = next.keys().copied().collect();
            before.extend(next);
        }
        // From the end, one note at a time; ways are all of one length, so none is given up.
        let mut ways = if before.contains_key(to) { vec![vec![to]] } else { Vec::new() };
        // All ways are extended together, one note for each round.
        while ways.first().and_then(|way: &Vec<&VaultPath>| way.last()).is_some_and(|last| *last != from) {
            let longer = ways.iter().flat_map(|way| {
                let earlier = way.last().and_then(|last| before.get(last)).into_iter().flatten();
                earlier.map(move |path| way.iter().copied().chain([*path]).collect())
            });
            ways = longer.take(most).collect();
        }
        ways.iter_mut().for_each(|way| way.reverse());
        ways.sort_unstable();
        Ok(ways)
    }
}

/// The file that a link on a canvas leads to, as spelt on disk.
pub(crate) fn shown_path<'n>(notes: &'n VisibleNotes, link: &OutLink) -> Option<&'n VaultPath> {
    let path = VaultPath::spelt(link.path.as_deref()?)?;
    notes.get(&path).map(|entry| entry.path())
}
