//! Where points begin, and where those without links are put: like the seeds of a sunflower, folder by folder.

use super::layout::DrawnPoint;

/// Between neighbours at the start.
const SPACING: f64 = 14.0;
/// The turn from a seed to the next, which leaves no gaps.
const GOLDEN_ANGLE: f64 = 2.399_963_229_728_653;
/// Folders are set apart from each other.
const APART: f64 = 1.6;

/// A place for each point: points of a group are a sunflower, and the groups, in order, are one of those.
pub(super) fn by_group(groups: &[u32]) -> Vec<DrawnPoint> {
    let mut sizes: std::collections::BTreeMap<u32, u32> = std::collections::BTreeMap::new();
    for group in groups {
        *sizes.entry(*group).or_default() += 1;
    }
    let (mut before, mut middles) = (0.0, std::collections::BTreeMap::new());
    for (turn, (group, size)) in (0_u32..).zip(sizes) {
        let half = f64::from(size) / 2.0;
        // The area up to its middle is that of the points before it.
        let radius = if turn == 0 { 0.0 } else { APART * SPACING * (before + half + 1.0_f64).sqrt() };
        middles.insert(group, (turned(f64::from(turn), radius), 0_u32));
        before += f64::from(size);
    }
    let mut place = |group: &u32| {
        let Some((middle, taken)) = middles.get_mut(group) else { return DrawnPoint::default() };
        let seed = f64::from(*taken);
        *taken += 1;
        let own = turned(seed, SPACING * (seed + 0.5).sqrt());
        DrawnPoint { x: middle.x + own.x, y: middle.y + own.y }
    };
    groups.iter().map(&mut place).collect()
}

/// Places on rings around everything within a radius, for as many points.
pub(super) fn on_rings(count: usize, radius: f32) -> Vec<DrawnPoint> {
    let mut places = Vec::with_capacity(count);
    let mut radius = f64::from(radius) + 3.0 * SPACING;
    while places.len() < count {
        let fitting = ((std::f64::consts::TAU * radius / SPACING) as usize).clamp(1, count - places.len());
        let angle = |at: usize| std::f64::consts::TAU * at as f64 / fitting as f64;
        places.extend((0..fitting).map(|at| at_angle(angle(at), radius)));
        radius += SPACING;
    }
    places
}

fn turned(turns: f64, radius: f64) -> DrawnPoint {
    at_angle(turns * GOLDEN_ANGLE, radius)
}

fn at_angle(angle: f64, radius: f64) -> DrawnPoint {
    let (sine, cosine) = angle.sin_cos();
    let place = DrawnPoint { x: (radius * cosine) as f32, y: (radius * sine) as f32 };
    place
}
