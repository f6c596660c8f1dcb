//! Where to draw the notes of a graph: linked ones near each other, all others apart.
//!
//! Springs pull linked notes together, each as strongly as its less linked end allows, so that hubs do not draw everything into
//! one point; all notes push each other away; a weak pull keeps parts without a link between them in one picture. The
//! movement cools down and ends after a fixed number of ticks. The same graph always gives the same places.

use super::{
    note_graph::{GraphLink, NoteLinks},
    repulsion::PointTree,
    start_places,
};

/// A place in the picture.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DrawnPoint {
    pub x: f32,
    pub y: f32,
}

/// What is to be laid out.
pub struct LayoutTask<'g> {
    pub links: &'g [GraphLink],
    /// The folder of each note. Notes of a folder begin near each other.
    pub groups: &'g [u32],
    /// Where notes were, if they have been drawn before. If most have, they only move a little.
    pub known: &'g [Option<DrawnPoint>],
}

/// Ticks from the start, and after changes.
const TICKS: u32 = 300;
const FEW_TICKS: u32 = 100;
const WARM_TICKS: u32 = 30;
/// With more notes there are fewer ticks.
const MANY_NOTES: usize = 20_000;
/// How much notes move at first, of 1.
const WARM: f32 = 0.15;
/// How far linked notes want to be from each other.
const LINK_LENGTH: f32 = 30.0;
const REPULSION: f32 = 30.0;
const PULL: f32 = 0.012;
/// Of the velocity, what is left after a tick.
const KEPT: f32 = 0.6;
/// No note is further away than this, whatever happens.
const FURTHEST: f32 = 1e6;
/// Notes between two questions whether to go on.
const BETWEEN: usize = 1024;

/// A spring between two points.
struct LinkSpring {
    one: u32,
    other: u32,
    strength: f32,
    /// The part of the movement that the second end makes: the less linked end moves more.
    share: f32,
}

/// The points that have links, and what moves them.
struct MovingPoints {
    places: Vec<DrawnPoint>,
    velocities: Vec<DrawnPoint>,
    springs: Vec<LinkSpring>,
}

impl LayoutTask<'_> {
    /// A place for each note. `go_on` is told how much is done, of 1, and ends the work by `false`, without a result.
    pub fn run(&self, go_on: &dyn Fn(f32) -> bool) -> Option<Vec<DrawnPoint>> {
        let neighbours = NoteLinks::new(self.groups.len(), self.links);
        let all = 0..u32::try_from(self.groups.len()).unwrap_or(u32::MAX);
        let (linked, single): (Vec<u32>, Vec<u32>) = all.partition(|note| neighbours.degree(*note) > 0);
        let (start, is_warm) = self.start(&linked, &neighbours);
        let mut points = MovingPoints {
            velocities: vec![DrawnPoint::default(); start.len()],
            springs: self.springs(&linked, &neighbours),
            places: start,
        };
        let ticks = match linked.len() {
            _ if is_warm => WARM_TICKS,
            many if many > MANY_NOTES => FEW_TICKS,
            _ => TICKS,
        };
        let (ticks_in_all, heat) = (ticks as f32, if is_warm { WARM } else { 1.0 });
        for tick in 0..ticks {
            let done = tick as f32 / ticks_in_all;
            let warmth = heat * (1.0 - done) * (1.0 - done);
            points.tick(warmth, &|| go_on(done))?;
        }
        points.centre();
        let furthest = points.places.iter().map(|place| place.x.hypot(place.y)).fold(0.0, f32::max);
        let mut places = vec![DrawnPoint::default(); self.groups.len()];
        // Notes without links would only be pushed out of the picture, so they are put around it.
        for (note, place) in linked.iter().zip(&points.places) {
            places[*note as usize] = *place;
        }
        let around = if linked.is_empty() {
            start_places::by_group(&single.iter().map(|note| self.groups[*note as usize]).collect::<Vec<_>>())
        } else {
            start_places::on_rings(single.len(), furthest)
        };
        for (note, place) in single.iter().zip(around) {
            places[*note as usize] = place;
        }
        Some(places)
    }

    /// Where the linked notes begin, and whether that is near their places already.
    fn start(&self, linked: &[u32], neighbours: &NoteLinks) -> (Vec<DrawnPoint>, bool) {
        let groups: Vec<u32> = linked.iter().map(|note| self.groups[*note as usize]).collect();
        let mut start = start_places::by_group(&groups);
        // NaN is not usable either: it compares as false.
        let is_usable = |place: &DrawnPoint| place.x.abs() <= FURTHEST && place.y.abs() <= FURTHEST;
        let known = |note: u32| self.known.get(note as usize).copied().flatten().filter(is_usable);
        let found = linked.iter().filter(|note| known(**note).is_some()).count();
        if found == 0 || 2 * found < linked.len() {
            return (start, false);
        }
        for (note, place) in linked.iter().zip(&mut start) {
            let near = || {
                let both = neighbours.targets(*note).iter().chain(neighbours.sources(*note));
                let known: Vec<DrawnPoint> = both.filter_map(|other| known(*other)).collect();
                let count = known.len() as f32;
                let sum = |of: fn(&DrawnPoint) -> f32| known.iter().map(of).sum::<f32>();
                // Beside the mean of its neighbours, not upon the next new note, which may have the same ones.
                let aside = f32::from(u16::try_from(note % 64).unwrap_or_default()) / 8.0;
                (count > 0.0)
                    .then(|| DrawnPoint { x: sum(|at| at.x) / count + aside, y: sum(|at| at.y) / count - aside })
            };
            if let Some(better) = known(*note).or_else(near) {
                *place = better;
            }
        }
        (start, true)
    }

    fn springs(&self, linked: &[u32], neighbours: &NoteLinks) -> Vec<LinkSpring> {
        let mut numbers = vec![0_u32; self.groups.len()];
        for (number, note) in (0_u32..).zip(linked) {
            numbers[*note as usize] = number;
        }
        let degree = |note: u32| neighbours.degree(note) as f32;
        let spring = |link: &GraphLink| {
            let (one, other) = (degree(link.from), degree(link.to));
            LinkSpring {
                one: numbers[link.from as usize],
                other: numbers[link.to as usize],
                strength: 1.0 / one.min(other),
                share: one / (one + other),
            }
        };
        let inside = |link: &&GraphLink| {
            (link.from as usize) < self.groups.len() && (link.to as usize) < self.groups.len() && link.from != link.to
        };
        self.links.iter().filter(inside).map(spring).collect()
    }
}

impl MovingPoints {
    /// Moves all so that their middle is that of the picture, and the notes without links are around it.
    fn centre(&mut self) {
        // In double precision: a sum of many large places loses the small ones.
        let count = self.places.len().max(1) as f64;
        let mean = |of: fn(&DrawnPoint) -> f32| {
            (self.places.iter().map(|place| f64::from(of(place))).sum::<f64>() / count) as f32
        };
        let (x, y) = (mean(|place| place.x), mean(|place| place.y));
        self.places.iter_mut().for_each(|place| (place.x, place.y) = (place.x - x, place.y - y));
    }

    /// Moves all points once. `None` if told to stop.
    fn tick(&mut self, warmth: f32, go_on: &dyn Fn() -> bool) -> Option<()> {
        for spring in &self.springs {
            let (one, other) = (spring.one as usize, spring.other as usize);
            let (from, to) = (self.places[one], self.places[other]);
            let (from_moves, to_moves) = (self.velocities[one], self.velocities[other]);
            // With the movement so far: the springs before it in this tick have pulled already.
            let x = to.x + to_moves.x - from.x - from_moves.x;
            let y = to.y + to_moves.y - from.y - from_moves.y;
            // Two notes at the same point have no direction.
            let length = (x * x + y * y).sqrt().max(1e-3);
            let pull = (length - LINK_LENGTH) / length * warmth * spring.strength;
            let (x, y) = (x * pull, y * pull);
            self.velocities[other].x -= x * spring.share;
            self.velocities[other].y -= y * spring.share;
            self.velocities[one].x += x * (1.0 - spring.share);
            self.velocities[one].y += y * (1.0 - spring.share);
        }
        // All are pushed by the places before this tick, so the order does not matter.
        let tree = PointTree::new(&self.places);
        for (number, (place, velocity)) in self.places.iter().zip(&mut self.velocities).enumerate() {
            if number % BETWEEN == 0 && !go_on() {
                return None;
            }
            let push = tree.push(*place);
            velocity.x += (push.x * REPULSION - place.x * PULL) * warmth;
            velocity.y += (push.y * REPULSION - place.y * PULL) * warmth;
        }
        for (place, velocity) in self.places.iter_mut().zip(&mut self.velocities) {
            (velocity.x, velocity.y) = (velocity.x * KEPT, velocity.y * KEPT);
            place.x = (place.x + velocity.x).clamp(-FURTHEST, FURTHEST);
            place.y = (place.y + velocity.y).clamp(-FURTHEST, FURTHEST);
        }
        Some(())
    }
}
