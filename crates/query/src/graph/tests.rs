//! Tests of the layout and of ways through a graph.

use std::cell::Cell;

use proptest::prelude::*;

use super::*;

fn link((from, to): (u32, u32)) -> GraphLink {
    GraphLink { from, to }
}

fn laid_out(groups: &[u32], links: &[GraphLink], known: &[Option<DrawnPoint>]) -> Vec<DrawnPoint> {
    LayoutTask { links, groups, known }.run(&|_| true).unwrap()
}

fn distance(one: DrawnPoint, other: DrawnPoint) -> f32 {
    (one.x - other.x).hypot(one.y - other.y)
}

/// All places are numbers, and no two notes have the same.
fn assert_readable(name: &str, places: &[DrawnPoint]) {
    for (at, place) in places.iter().enumerate() {
        assert!(place.x.is_finite() && place.y.is_finite(), "{name}: {place:?}");
        for other in &places[..at] {
            assert!(distance(*place, *other) > 1.0, "{name}: {place:?} {other:?}");
        }
    }
}

#[test]
fn graphs_of_every_shape_are_readable_and_the_same_each_time() {
    let star: Vec<_> = (1..60).map(|leaf| link((0, leaf))).collect();
    let clique: Vec<_> = (0..20).flat_map(|one| (0..one).map(move |other| link((one, other)))).collect();
    let pairs: Vec<_> = (0..30).map(|pair| link((2 * pair, 2 * pair + 1))).collect();
    let chain: Vec<_> = (0..59).map(|at| link((at, at + 1))).collect();
    let both_ways = [link((0, 1)), link((1, 0)), link((2, 2)), link((7, 99))];
    let shapes: [(&str, usize, &[GraphLink]); 8] = [
        ("empty", 0, &[]),
        ("single", 1, &[]),
        ("orphans", 50, &[]),
        ("star", 60, &star),
        ("clique", 20, &clique),
        ("disconnected", 70, &pairs),
        ("chain", 60, &chain),
        ("odd links", 9, &both_ways),
    ];
    for (name, notes, links) in shapes {
        let groups: Vec<u32> = (0_u32..).take(notes).map(|note| note % 3).collect();
        let places = laid_out(&groups, links, &[]);
        assert_eq!(places.len(), notes, "{name}");
        assert_readable(name, &places);
        assert_eq!(places, laid_out(&groups, links, &[]), "{name}");
    }
}

#[test]
fn linked_notes_are_nearer_than_others_and_orphans_are_around_them() {
    // Two cliques with one link between them, and notes without any.
    let clique =
        |first: u32| (0..10).flat_map(move |one| (0..one).map(move |other| link((first + one, first + other))));
    let links: Vec<_> = clique(0).chain(clique(10)).chain([link((0, 10))]).collect();
    let places = laid_out(&[0; 26], &links, &[]);
    let mean = |pairs: &[(usize, usize)]| {
        pairs.iter().map(|(one, other)| distance(places[*one], places[*other])).sum::<f32>()
            / f32::from(u16::try_from(pairs.len()).unwrap())
    };
    let pairs = |ones: std::ops::Range<usize>, others: std::ops::Range<usize>| -> Vec<(usize, usize)> {
        ones.flat_map(|one| others.clone().map(move |other| (one, other))).collect()
    };
    assert!(2.0 * mean(&pairs(0..10, 0..10)) < mean(&pairs(0..10, 10..20)));
    let radius = |place: &DrawnPoint| place.x.hypot(place.y);
    let furthest = places[..20].iter().map(radius).fold(0.0, f32::max);
    assert!(places[20..].iter().all(|place| radius(place) > furthest));
}

#[test]
fn after_an_edit_notes_stay_about_where_they_were() {
    let links: Vec<_> = (1..200).map(|note| link((note, note / 3))).collect();
    let before = laid_out(&[0; 200], &links, &[]);
    let mut known: Vec<_> = before.iter().copied().map(Some).collect();
    known.push(None);
    let more: Vec<_> = links.iter().copied().chain([link((200, 4))]).collect();
    let after = laid_out(&[0; 201], &more, &known);
    assert_readable("edited", &after);
    let size = before.iter().map(|place| place.x.hypot(place.y)).fold(0.0, f32::max);
    let moved: f32 = before.iter().zip(&after).map(|(one, other)| distance(*one, *other)).sum();
    assert!(moved / 200.0 < size / 10.0, "{moved} of {size}");
    assert!(distance(after[200], after[4]) < size / 2.0);
    // Places that cannot be are not used.
    known[7] = Some(DrawnPoint { x: f32::NAN, y: f32::INFINITY });
    assert_readable("odd places", &laid_out(&[0; 201], &more, &known));
}

#[test]
fn the_work_says_how_far_it_is_and_stops_when_told() {
    let links: Vec<_> = (1..3000).map(|note| link((note, note / 2))).collect();
    let task = LayoutTask { links: &links, groups: &[0; 3000], known: &[] };
    let (asked, last) = (Cell::new(0), Cell::new(0.0));
    let result = task.run(&|done| {
        assert!(done >= last.replace(done) && done < 1.0);
        asked.set(asked.get() + 1);
        asked.get() < 8
    });
    // More than once in a tick.
    assert_eq!((result, asked.get()), (None, 8));
    assert!(last.get() < 0.01);
}

#[test]
fn work_grows_little_faster_than_the_graph() {
    // Steps, not time: a hundred ticks of twice the notes.
    let steps = |notes: u32| {
        let links: Vec<_> = (1..notes).map(|note| link((note, note / 4))).collect();
        let groups = vec![0; notes as usize];
        let ticks = Cell::new(0);
        let run = || {
            LayoutTask { links: &links, groups: &groups, known: &[] }.run(&|_| {
                ticks.set(ticks.get() + 1);
                ticks.get() < 40
            })
        };
        lapidary_note::steps_of(run).1
    };
    assert!(steps(1000) < 3 * steps(500), "{} {}", steps(1000), steps(500));
}

#[test]
fn the_shortest_way_follows_links_in_both_directions() {
    let links = [(0, 1), (1, 2), (2, 3), (4, 3), (0, 4), (6, 7)].map(link);
    let neighbours = NoteLinks::new(8, &links);
    assert_eq!(neighbours.path(0, 3), Some(vec![0, 4, 3]));
    assert_eq!(neighbours.path(3, 0), Some(vec![3, 4, 0]));
    assert_eq!(neighbours.path(5, 5), Some(vec![5]));
    assert_eq!(neighbours.path(0, 7), None);
    assert_eq!(neighbours.path(0, 8), None);
    assert_eq!((neighbours.targets(0), neighbours.sources(3), neighbours.degree(3)), (&[1, 4][..], &[2, 4][..], 2));
    assert_eq!(neighbours.degree(99), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_graph_has_places_that_are_numbers(
        notes in 0_u32..120,
        links in proptest::collection::vec((0_u32..130, 0_u32..130), 0..200),
        known in proptest::collection::vec(proptest::option::of((any::<f32>(), any::<f32>())), 0..130),
    ) {
        let links: Vec<_> = links.into_iter().map(link).collect();
        let known: Vec<_> = known.into_iter().map(|place| place.map(|(x, y)| DrawnPoint { x, y })).collect();
        let groups: Vec<u32> = (0..notes).map(|note| note / 7).collect();
        let places = laid_out(&groups, &links, &known);
        prop_assert_eq!(places.len(), groups.len());
        prop_assert!(places.iter().all(|place| place.x.is_finite() && place.y.is_finite()));
        prop_assert_eq!(&places, &laid_out(&groups, &links, &known));
    }

    #[test]
    fn a_way_is_made_of_links(links in proptest::collection::vec((0_u32..30, 0_u32..30), 0..60)) {
        let links: Vec<_> = links.into_iter().map(link).collect();
        let neighbours = NoteLinks::new(30, &links);
        let is_linked = |one: u32, other: u32| {
            neighbours.targets(one).contains(&other) || neighbours.sources(one).contains(&other)
        };
        for to in 0..30 {
            let Some(way) = neighbours.path(0, to) else { continue };
            prop_assert_eq!((way[0], way[way.len() - 1]), (0, to));
            prop_assert!(way.windows(2).all(|step| is_linked(step[0], step[1])));
        }
    }
}
