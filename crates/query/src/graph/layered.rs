//! Cards in layers: what links comes before what it links to, and no card covers another. For canvases and drawings, where
//! a person reads from left to right; the whole vault is drawn by [`super::layout`].

use std::cmp::Reverse;

use lapidary_note::count_steps;

/// A card to be placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LayeredCard {
    pub width: i64,
    pub height: i64,
    /// The number of its group, if it is in one.
    pub group: Option<usize>,
}

/// The place of a card or a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlacedBox {
    pub x: i64,
    pub y: i64,
    pub width: i64,
    pub height: i64,
}

impl PlacedBox {
    pub fn overlaps(&self, other: &Self) -> bool {
        let apart = |start: i64, length: i64, other: i64, other_length: i64| {
            start + length <= other || other + other_length <= start
        };
        !apart(self.x, self.width, other.x, other.width) && !apart(self.y, self.height, other.y, other.height)
    }

    fn moved(self, x: i64, y: i64) -> Self {
        Self { x: self.x + x, y: self.y + y, ..self }
    }
}

/// Where everything is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LayeredPlaces {
    pub cards: Vec<PlacedBox>,
    /// Around the cards of each group; a group without cards has no size.
    pub groups: Vec<PlacedBox>,
}

/// Everything is on a grid of this size, as in the app.
const GRID: i64 = 20;
/// Between cards above each other.
const ROW_GAP: i64 = 40;
/// Between layers: lines need room.
const COLUMN_GAP: i64 = 120;
/// Between the border of a group and its cards, and above them for its label.
const GROUP_MARGIN: i64 = 40;
const BLOCK_GAP: i64 = 120;
/// Of the whole, width to height, as screens are.
const WIDE: f64 = 1.6;

/// Cards that stay together: a group, or notes that hang together. Places are relative to its corner.
struct CardBlock {
    cards: Vec<(usize, PlacedBox)>,
    group: Option<usize>,
    width: i64,
    height: i64,
}

/// Places cards with links between them, in the order given; links name cards by their number.
pub fn layered(cards: &[LayeredCard], links: &[(usize, usize)], groups: usize) -> LayeredPlaces {
    let mut blocks: Vec<CardBlock> = Vec::new();
    for group in 0..groups {
        let inside: Vec<usize> = (0..cards.len()).filter(|card| cards[*card].group == Some(group)).collect();
        if !inside.is_empty() {
            blocks.push(framed(drawn_together(cards, links, &inside), group));
        }
    }
    let outside: Vec<usize> =
        // A group that does not exist is treated as none rather than losing the card.
        (0..cards.len()).filter(|card| cards[*card].group.is_none_or(|group| group >= groups)).collect();
    blocks.extend(hanging_together(&outside, links).iter().map(|part| drawn_together(cards, links, part)));
    packed(blocks, cards.len(), groups)
}

/// The parts that links connect, the largest first; all cards without links are one part, which comes last.
fn hanging_together(cards: &[usize], links: &[(usize, usize)]) -> Vec<Vec<usize>> {
    // The cards are in order of their numbers, so the search works.
    let place = |card: usize| cards.binary_search(&card).ok();
    let mut leads: Vec<usize> = (0..cards.len()).collect();
    fn root(leads: &mut [usize], mut at: usize) -> usize {
        while leads[at] != at {
            // Halves the way to the root each time, so that long chains stay cheap.
            leads[at] = leads[leads[at]];
            at = leads[at];
        }
        at
    }
    for (from, to) in links {
        count_steps(1);
        if let (Some(from), Some(to)) = (place(*from), place(*to)) {
            let (from, to) = (root(&mut leads, from), root(&mut leads, to));
            // The smaller number leads, so that the result does not depend on the order of the links.
            leads[from.max(to)] = from.min(to);
        }
    }
    let mut parts: Vec<Vec<usize>> = vec![Vec::new(); cards.len()];
    for (at, card) in cards.iter().enumerate() {
        parts[root(&mut leads, at)].push(*card);
    }
    // One by one they would each become a block, and the picture mostly gaps.
    let alone: Vec<usize> = parts.iter().filter(|part| part.len() == 1).flatten().copied().collect();
    parts.retain(|part| part.len() > 1);
    parts.sort_by_key(|part| Reverse(part.len()));
    parts.extend((!alone.is_empty()).then_some(alone));
    parts
}

/// Cards in layers, then those without links in rows below.
fn drawn_together(cards: &[LayeredCard], links: &[(usize, usize)], inside: &[usize]) -> CardBlock {
    let place = |card: usize| inside.binary_search(&card).ok();
    // Links out of this block have no line here, and a card cannot be in a layer before itself.
    let both = |(from, to): &(usize, usize)| Some((place(*from)?, place(*to)?)).filter(|(from, to)| from != to);
    let links: Vec<(usize, usize)> = links.iter().filter_map(both).collect();
    let mut is_linked = vec![false; inside.len()];
    for (from, to) in &links {
        (is_linked[*from], is_linked[*to]) = (true, true);
    }
    let columns = columns(inside.len(), &links, &is_linked);
    let alone: Vec<usize> = (0..inside.len()).filter(|at| !is_linked[*at]).collect();
    let mut block = CardBlock { cards: Vec::new(), group: None, width: 0, height: 0 };
    let size = |at: usize| cards[inside[at]];
    let height_of = |column: &[usize]| {
        column.iter().map(|at| size(*at).height + ROW_GAP).sum::<i64>() - if column.is_empty() { 0 } else { ROW_GAP }
    };
    let tallest = columns.iter().map(|column| height_of(column)).max().unwrap_or(0);
    let mut x = 0;
    for column in &columns {
        // In the middle, so that lines are short.
        let mut y = (tallest - height_of(column)) / 2 / GRID * GRID;
        for at in column {
            let LayeredCard { width, height, .. } = size(*at);
            block.cards.push((inside[*at], PlacedBox { x, y, width, height }));
            y += height + ROW_GAP;
        }
        x += column.iter().map(|at| size(*at).width).max().unwrap_or(0) + COLUMN_GAP;
    }
    // There is no gap after the last column.
    block.width = (x - COLUMN_GAP).max(0);
    block.height = tallest;
    if !alone.is_empty() {
        in_rows(&mut block, inside, &alone, size);
    }
    block
}

/// Cards without links, from left to right, below what is there.
fn in_rows(block: &mut CardBlock, inside: &[usize], alone: &[usize], size: impl Fn(usize) -> LayeredCard) {
    let area: i64 = alone.iter().map(|at| (size(*at).width + ROW_GAP) * (size(*at).height + ROW_GAP)).sum();
    // As wide as the layers above, so that the block stays a rectangle.
    let width = square(area).max(block.width);
    let mut y = if block.height == 0 { 0 } else { block.height + ROW_GAP };
    let (mut x, mut tallest) = (0, 0);
    for at in alone {
        let LayeredCard { width: own, height, .. } = size(*at);
        // The first of a row always fits, however wide it is.
        if x > 0 && x + own > width {
            (x, y, tallest) = (0, y + tallest + ROW_GAP, 0);
        }
        block.cards.push((inside[*at], PlacedBox { x, y, width: own, height }));
        x += own + ROW_GAP;
        tallest = tallest.max(height);
        block.width = block.width.max(x - ROW_GAP);
    }
    block.height = y + tallest;
}

/// The linked cards in columns, by layer: a card comes after those that link to it, as far as that is possible.
fn columns(cards: usize, links: &[(usize, usize)], is_linked: &[bool]) -> Vec<Vec<usize>> {
    let order = order(cards, links);
    let mut forward: Vec<(usize, usize)> =
        // A link back in a circle is turned around, only for the layers: otherwise they would never end.
        links.iter().map(|(from, to)| if order[*from] < order[*to] { (*from, *to) } else { (*to, *from) }).collect();
    // In this order, the layer of a card is final before it is handed on.
    forward.sort_by_key(|(from, to)| (order[*from], order[*to]));
    forward.dedup();
    let mut layer = vec![0_usize; cards];
    for (from, to) in &forward {
        count_steps(1);
        layer[*to] = layer[*to].max(layer[*from] + 1);
    }
    let layers = layer.iter().max().map_or(0, |last| last + 1);
    let mut columns: Vec<Vec<usize>> = vec![Vec::new(); layers];
    for card in (0..cards).filter(|card| is_linked[*card]) {
        columns[layer[card]].push(card);
    }
    let mut neighbours: Vec<Vec<usize>> = vec![Vec::new(); cards];
    for (from, to) in &forward {
        neighbours[*from].push(*to);
        neighbours[*to].push(*from);
    }
    sorted_by_neighbours(&mut columns, &layer, &neighbours);
    // A layer of many cards becomes several columns.
    let most = usize::try_from(square(i64::try_from(cards).unwrap_or(i64::MAX))).unwrap_or(1).max(6);
    columns.into_iter().flat_map(|column| column.chunks(most).map(<[usize]>::to_vec).collect::<Vec<_>>()).collect()
}

/// A number for each card; as many links as possible lead from a lower to a higher one. Where there is a circle, the card
/// that links to the most others begins.
fn order(cards: usize, links: &[(usize, usize)]) -> Vec<usize> {
    let mut open_in = vec![0_usize; cards];
    let mut targets: Vec<Vec<usize>> = vec![Vec::new(); cards];
    for (from, to) in links {
        open_in[*to] += 1;
        targets[*from].push(*to);
    }
    let mut order = vec![usize::MAX; cards];
    for number in 0..cards {
        count_steps(cards);
        let left = (0..cards).filter(|card| order[*card] == usize::MAX);
        // Ties are decided by the number, so that the same cards always give the same picture.
        let Some(next) = left.min_by_key(|card| (open_in[*card] > 0, Reverse(targets[*card].len()), *card)) else {
            break;
        };
        order[next] = number;
        for to in &targets[next] {
            open_in[*to] = open_in[*to].saturating_sub(1);
        }
    }
    order
}

/// Each card near the middle of those that it is linked with in the layers beside: fewer lines cross.
fn sorted_by_neighbours(columns: &mut [Vec<usize>], layer: &[usize], neighbours: &[Vec<usize>]) {
    const SWEEPS: usize = 4;
    let mut place = vec![0_usize; layer.len()];
    for column in columns.iter() {
        column.iter().enumerate().for_each(|(at, card)| place[*card] = at);
    }
    for sweep in 0..SWEEPS {
        let is_forward = sweep % 2 == 0;
        for step in 0..columns.len() {
            let at = if is_forward { step } else { columns.len() - 1 - step };
            let near = |card: usize| {
                let beside =
                    // Forwards only the layers before count, backwards only those after.
                    neighbours[card].iter().filter(|other| (layer[**other] < at) == is_forward && layer[**other] != at);
                let (sum, count) = beside.fold((0, 0), |(sum, count), other| (sum + place[*other], count + 1));
                // In hundredths, so that the order is the same on every machine.
                (sum * 100).checked_div(count).unwrap_or(place[card] * 100)
            };
            let column = &mut columns[at];
            count_steps(column.iter().map(|card| neighbours[*card].len() + 1).sum());
            column.sort_by_cached_key(|card| (near(*card), place[*card]));
            column.iter().enumerate().for_each(|(at, card)| place[*card] = at);
        }
    }
}

/// A block with room for the border of its group.
fn framed(block: CardBlock, group: usize) -> CardBlock {
    let cards = block.cards.into_iter().map(|(card, place)| (card, place.moved(GROUP_MARGIN, GROUP_MARGIN))).collect();
    let (width, height) = (block.width + 2 * GROUP_MARGIN, block.height + 2 * GROUP_MARGIN);
    CardBlock { cards, group: Some(group), width, height }
}

/// Blocks in rows, from left to right.
fn packed(blocks: Vec<CardBlock>, cards: usize, groups: usize) -> LayeredPlaces {
    let mut places =
        LayeredPlaces { cards: vec![PlacedBox::default(); cards], groups: vec![PlacedBox::default(); groups] };
    let area: i64 = blocks.iter().map(|block| (block.width + BLOCK_GAP) * (block.height + BLOCK_GAP)).sum();
    let widest = blocks.iter().map(|block| block.width).max().unwrap_or(0);
    let width = widest.max(square(area));
    let (mut x, mut y, mut tallest) = (0, 0, 0);
    for block in blocks {
        if x > 0 && x + block.width > width {
            (x, y, tallest) = (0, y + tallest + BLOCK_GAP, 0);
        }
        for (card, place) in block.cards {
            places.cards[card] = place.moved(x, y);
        }
        if let Some(group) = block.group {
            places.groups[group] = PlacedBox { x, y, width: block.width, height: block.height };
        }
        x += block.width + BLOCK_GAP;
        tallest = tallest.max(block.height);
    }
    places
}

/// The width of an area of this size that has the shape of a screen.
fn square(area: i64) -> i64 {
    // Roughly: only where a row ends depends on it.
    (area as f64 * WIDE).sqrt().ceil() as i64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SIZE: LayeredCard = LayeredCard { width: 280, height: 100, group: None };

    #[test]
    fn what_links_comes_before_what_it_links_to() {
        let places = layered(&[SIZE; 4], &[(2, 1), (1, 0), (2, 3), (0, 0)], 0).cards;
        assert!(places[2].x < places[1].x && places[1].x < places[0].x && places[3].x == places[1].x);
        // A circle has a beginning too.
        let places = layered(&[SIZE; 3], &[(0, 1), (1, 2), (2, 0)], 0).cards;
        assert!(places[0].x < places[1].x && places[1].x < places[2].x);
    }

    #[test]
    fn a_hub_with_many_links_does_not_become_a_tower() {
        let links: Vec<(usize, usize)> = (1..400).map(|card| (0, card)).collect();
        let places = layered(&[SIZE; 400], &links, 0).cards;
        let (width, height) = (
            places.iter().map(|place| place.x + place.width).max().unwrap(),
            places.iter().map(|place| place.y + place.height).max().unwrap(),
        );
        assert!(height < 2 * width && width < 6 * height, "{width} {height}");
    }

    proptest! {
        #[test]
        fn no_card_covers_another_and_groups_hold_their_cards(
            cards in proptest::collection::vec((1_i64..30, 1_i64..20, proptest::option::of(0_usize..5)), 0..60),
            links in proptest::collection::vec((0_usize..60, 0_usize..60), 0..150),
        ) {
            let cards: Vec<LayeredCard> = cards
                .into_iter()
                .map(|(width, height, group)| LayeredCard { width: width * GRID, height: height * GRID, group })
                .collect();
            let links: Vec<_> = links.into_iter().filter(|(from, to)| *from < cards.len() && *to < cards.len()).collect();
            let places = layered(&cards, &links, 5);
            prop_assert_eq!(&places, &layered(&cards, &links, 5));
            for (at, place) in places.cards.iter().enumerate() {
                prop_assert_eq!((place.width, place.height), (cards[at].width, cards[at].height));
                prop_assert!(place.x % GRID == 0 && place.y % GRID == 0);
                prop_assert!(!places.cards[..at].iter().any(|other| other.overlaps(place)));
                for (group, border) in places.groups.iter().enumerate() {
                    let is_inside = border.x <= place.x && border.y <= place.y
                        && place.x + place.width <= border.x + border.width
                        && place.y + place.height <= border.y + border.height;
                    prop_assert_eq!(is_inside, cards[at].group == Some(group));
                    prop_assert!(is_inside || !border.overlaps(place));
                }
            }
        }
    }
}
