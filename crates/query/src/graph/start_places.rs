//! Where points begin, and where those without links are put: like the seeds of a sunflower, folder by folder.

use std::collections::BTreeMap;

use super::layout::DrawnPoint;

/// Between neighbours at the start.
const SPACING: f64 = 14.0;
/// Cosine and sine of the golden angle, the turn from a seed to the next, which leaves no gaps. Seeds are turned by
/// multiplication, which gives the same bits on every system; sines need not.
const GOLDEN_TURN: (f64, f64) = (-0.737_368_878_078_319_7, 0.675_490_294_261_523_8);
/// Folders are set apart from each other.
const APART: f64 = 1.6;

/// The seeds of a sunflower, from the middle on.
struct SunflowerSeeds {
    middle: (f64, f64),
    direction: (f64, f64),
    taken: u32,
}

impl SunflowerSeeds {
    fn around(middle: (f64, f64)) -> Self {
        Self { middle, direction: (1.0, 0.0), taken: 0 }
    }

    fn next(&mut self) -> DrawnPoint {
        let radius = SPACING * (f64::from(self.taken) + 0.5).sqrt();
        let place = (self.middle.0 + radius * self.direction.0, self.middle.1 + radius * self.direction.1);
        self.direction = turned(self.direction);
        self.taken += 1;
        DrawnPoint { x: place.0 as f32, y: place.1 as f32 }
    }
}

fn turned((x, y): (f64, f64)) -> (f64, f64) {
    let (cosine, sine) = GOLDEN_TURN;
    (x * cosine - y * sine, x * sine + y * cosine)
}

/// A place for each point: points of a group are a sunflower, and the groups, in order, are one of those.
pub(super) fn by_group(groups: &[u32]) -> Vec<DrawnPoint> {
    let mut sizes: BTreeMap<u32, u32> = BTreeMap::new();
    for group in groups {
        *sizes.entry(*group).or_default() += 1;
    }
    let (mut before, mut direction, mut flowers) = (0.0, (1.0, 0.0), BTreeMap::new());
    for (group, size) in sizes {
        // The area up to its middle is that of the points before it.
        let radius =
            if before > 0.0 { APART * SPACING * (before + f64::from(size) / 2.0 + 1.0_f64).sqrt() } else { 0.0 };
        flowers.insert(group, SunflowerSeeds::around((radius * direction.0, radius * direction.1)));
        before += f64::from(size);
        direction = turned(direction);
    }
    groups.iter().map(|group| flowers.get_mut(group).map(SunflowerSeeds::next).unwrap_or_default()).collect()
}

/// Places on rings around everything within a radius, for as many points.
pub(super) fn on_rings(count: usize, radius: f32) -> Vec<DrawnPoint> {
    let mut places = Vec::with_capacity(count);
    let mut radius = f64::from(radius) + 3.0 * SPACING;
    while places.len() < count {
        let fitting = ((std::f64::consts::TAU * radius / SPACING) as usize).clamp(1, count - places.len());
        let angle = |at: usize| std::f64::consts::TAU * at as f64 / fitting as f64;
        places.extend((0..fitting).map(|at| {
            let (sine, cosine) = angle(at).sin_cos();
            DrawnPoint { x: (radius * cosine) as f32, y: (radius * sine) as f32 }
        }));
        radius += SPACING;
    }
    places
}
