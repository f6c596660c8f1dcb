//! Points that push each other away, each cluster of distant ones as a whole (Barnes and Hut).

use lapidary_note::count_steps;

use super::layout::DrawnPoint;

/// A cluster counts as one point if it looks smaller than this, as the square of its size by its distance.
const OPENING: f32 = 0.9 * 0.9;
/// Nearer points push as if they were further away, so that none is flung out.
const SOFTENED: f32 = 100.0;
/// Bits of a coordinate: so deep does the tree go, wherever points are.
const BITS: u32 = 16;
/// As few points are not divided further.
const LEAF: usize = 4;

/// Points in a tree of squares, in the order of a walk through it.
pub(super) struct PointTree {
    cells: Vec<TreeCell>,
    /// The points, in the order of the cells.
    points: Vec<DrawnPoint>,
}

struct TreeCell {
    middle: DrawnPoint,
    weight: f32,
    /// Of its side.
    square: f32,
    /// The cell after it and all in it.
    next: u32,
    /// Its points, if it is not divided; otherwise none.
    points: std::ops::Range<u32>,
}

impl PointTree {
    pub(super) fn new(points: &[DrawnPoint]) -> Self {
        let (low, side) = bounds(points);
        // All points may be at one place.
        let scale = if side > 0.0 { f32::from(u16::MAX) / side } else { 0.0 };
        // A key names the square of a point; it fits, because no point is out of bounds.
        let cell = |place: f32, low: f32| ((place - low) * scale).clamp(0.0, f32::from(u16::MAX)) as u32;
        let key = |point: &DrawnPoint| spread(cell(point.x, low.x)) | spread(cell(point.y, low.y)) << 1;
        let mut order: Vec<(u32, u32)> = (0_u32..).zip(points).map(|(at, point)| (key(point), at)).collect();
        order.sort_unstable();
        count_steps(16 * order.len());
        let mut tree = Self {
            cells: Vec::with_capacity(points.len()),
            points: order.iter().map(|(_, at)| points[*at as usize]).collect(),
        };
        let keys: Vec<u32> = order.into_iter().map(|(key, _)| key).collect();
        if !keys.is_empty() {
            // Two bits for each level, one of each coordinate.
            tree.divide(&keys, 0, 2 * BITS, side);
        }
        tree
    }

    /// Adds the cell of these keys, which are the same above some bits, and those in it. No deeper than bits are.
    fn divide(&mut self, keys: &[u32], start: usize, bits: u32, side: f32) {
        let own = &self.points[start..start + keys.len()];
        let weight = counted(own.len());
        let sum =
            own.iter().fold(DrawnPoint::default(), |sum, point| DrawnPoint { x: sum.x + point.x, y: sum.y + point.y });
        let middle = DrawnPoint { x: sum.x / weight, y: sum.y / weight };
        let is_leaf = keys.len() <= LEAF || bits == 0;
        let points = if is_leaf { numbered(start)..numbered(start + keys.len()) } else { 0..0 };
        let at = self.cells.len();
        self.cells.push(TreeCell { middle, weight, square: side * side, next: 0, points });
        if !is_leaf {
            let (mut from, below) = (0, bits - 2);
            while from < keys.len() {
                let quarter = keys[from] >> below;
                let length = keys[from..].partition_point(|key| key >> below == quarter);
                self.divide(&keys[from..from + length], start + from, below, side / 2.0);
                from += length;
            }
        }
        self.cells[at].next = numbered(self.cells.len());
    }

    /// How strongly a point is pushed, and where.
    pub(super) fn push(&self, point: DrawnPoint) -> DrawnPoint {
        let mut push = DrawnPoint::default();
        let (mut at, mut steps) = (0, 0);
        while let Some(cell) = self.cells.get(at) {
            steps += 1;
            let (x, y) = (point.x - cell.middle.x, point.y - cell.middle.y);
            let distance = x * x + y * y;
            // The cell is too near to count as one point, so its parts follow.
            if cell.points.is_empty() && cell.square >= OPENING * distance {
                at += 1;
                continue;
            }
            if cell.points.is_empty() {
                add(&mut push, x, y, distance, cell.weight);
            } else {
                for other in &self.points[cell.points.start as usize..cell.points.end as usize] {
                    let (x, y) = (point.x - other.x, point.y - other.y);
                    // Nothing pushes itself, nor does one in the very same place: links and folders part those.
                    add(&mut push, x, y, x * x + y * y, 1.0);
                }
            }
            at = cell.next as usize;
        }
        count_steps(steps);
        push
    }
}

fn add(push: &mut DrawnPoint, x: f32, y: f32, distance: f32, weight: f32) {
    if distance > 0.0 {
        let distance = if distance < SOFTENED { (SOFTENED * distance).sqrt() } else { distance };
        push.x += x * weight / distance;
        push.y += y * weight / distance;
    }
}

/// The lower left corner, and the side of a square that has all.
fn bounds(points: &[DrawnPoint]) -> (DrawnPoint, f32) {
    let Some(first) = points.first() else { return (DrawnPoint::default(), 0.0) };
    let (mut low, mut high) = (*first, *first);
    for point in points {
        (low.x, low.y) = (low.x.min(point.x), low.y.min(point.y));
        (high.x, high.y) = (high.x.max(point.x), high.y.max(point.y));
    }
    (low, (high.x - low.x).max(high.y - low.y))
}

/// The bits of a number with a gap after each.
fn spread(number: u32) -> u32 {
    let mut bits = number & 0xffff;
    for (shift, mask) in [(8, 0x00ff_00ff), (4, 0x0f0f_0f0f), (2, 0x3333_3333), (1, 0x5555_5555)] {
        bits = (bits | bits << shift) & mask;
    }
    bits
}

fn numbered(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

fn counted(count: usize) -> f32 {
    count as f32
}
