//! Canvases as tools show and change them: cards and lines by short ids.

use lapidary_note::{CanvasBoard, CanvasItem, CanvasList, ContentHash};
use lapidary_operation::{Reason, quote::Prose};
use lapidary_query::PlacedBox;
use lapidary_vault::VaultPath;

/// The ending of canvases.
pub const CANVAS: &str = ".canvas";

/// The fewest letters of an id that are shown, and that name it: fewer fit by chance.
const FEWEST: usize = 4;
/// As many as Obsidian gives an id.
const ID_DIGITS: usize = 16;

pub fn open(path: &VaultPath, text: &str) -> Result<CanvasBoard, Reason> {
    CanvasBoard::open(text).ok_or_else(|| Reason::CanvasInvalid { path: path.clone() })
}

/// The ids of a canvas, cut where each is still the only one that begins so.
pub struct ShortIds {
    sorted: Vec<String>,
}

impl ShortIds {
    pub fn of(board: &CanvasBoard) -> Self {
        let mut sorted: Vec<String> =
            board.nodes().iter().chain(board.edges()).map(|item| item.id().to_owned()).collect();
        sorted.sort();
        // An id that occurs twice would be its own neighbour.
        sorted.dedup();
        Self { sorted }
    }

    pub fn short<'i>(&self, id: &'i str) -> &'i str {
        // Ids are sorted, so the two neighbours are the ones that share the most letters with it.
        let at = self.sorted.partition_point(|other| other.as_str() < id);
        let alike = |other: Option<&String>| {
            let both = other.map(|other| id.chars().zip(other.chars()).take_while(|(one, two)| one == two).count());
            both.unwrap_or(0)
        };
        let is_here = self.sorted.get(at).is_some_and(|found| found == id);
        let before = at.checked_sub(1).and_then(|before| self.sorted.get(before));
        // One letter more than what a neighbour shares, or the next operation could not tell them apart.
        let needed = alike(before).max(alike(self.sorted.get(at + usize::from(is_here)))) + 1;
        let end = id.char_indices().nth(needed.max(FEWEST)).map_or(id.len(), |(end, _)| end);
        &id[..end]
    }
}

/// Which item an id means: the whole id, or the beginning of one alone.
pub fn find(
    tool: &str,
    at: &str,
    board: &CanvasBoard,
    lists: &[CanvasList],
    given: &str,
) -> Result<(CanvasList, usize), Reason> {
    let all = || {
        lists
            .iter()
            .flat_map(|list| board.items(*list).iter().enumerate().map(move |(index, item)| (*list, index, item)))
    };
    let refused = |problem: String| Err(Reason::bad_argument(tool, at, Prose::ours(problem)));
    if given.is_empty() {
        return refused("must be an id of the canvas".to_owned());
    }
    let place = |(list, index, _): (CanvasList, usize, &CanvasItem)| (list, index);
    // A whole id always wins, even if it is the beginning of another one.
    let exact: Vec<_> = all().filter(|(.., item)| item.id() == given).map(place).collect();
    if exact.is_empty() && given.chars().count() < FEWEST {
        return refused(format!("must be a whole id, or at least {FEWEST} letters of it; `canvas_read` shows them"));
    }
    let found = if exact.is_empty() {
        all().filter(|(.., item)| item.id().starts_with(given)).map(place).collect()
    } else {
        exact
    };
    match found[..] {
        [one] => Ok(one),
        [] => refused("is not an id of this canvas; `canvas_read` shows them".to_owned()),
        _ => refused(format!("fits {} ids of this canvas; send more letters of it", found.len())),
    }
}

/// The place of a card; cards without numbers are where the app would put them.
pub fn place(item: &CanvasItem) -> PlacedBox {
    let number = |key, other| item.number(key).unwrap_or(other);
    PlacedBox {
        x: number("x", 0),
        y: number("y", 0),
        // A negative size would turn `contains` below around.
        width: number("width", 0).max(0),
        height: number("height", 0).max(0),
    }
}

/// The smallest group around the middle of a card, by its number among the nodes.
pub fn group_of(board: &CanvasBoard, index: usize) -> Option<usize> {
    let own = place(board.nodes().get(index)?);
    let area = |place: &PlacedBox| place.width.saturating_mul(place.height);
    let holds = |place: &PlacedBox| {
        // The middle decides: a card may stick out of its group a little, as in the app.
        let (x, y) = (own.x + own.width / 2, own.y + own.height / 2);
        (place.x..place.x + place.width).contains(&x) && (place.y..place.y + place.height).contains(&y)
    };
    let groups = board.nodes().iter().enumerate().filter(|(at, item)| *at != index && is_group(item));
    let around =
        // A larger one, so that two groups of the same place do not hold each other.
        groups.map(|(at, item)| (at, place(item))).filter(|(_, place)| holds(place) && area(place) > area(&own));
    around.min_by_key(|(_, place)| area(place)).map(|(at, _)| at)
}

pub fn is_group(item: &CanvasItem) -> bool {
    item.text("type") == Some("group")
}

/// An id like those of the app. Tools have no random numbers: it follows from what it is for.
pub fn new_id(board: &CanvasBoard, seed: &str) -> String {
    let is_taken = |id: &str| board.nodes().iter().chain(board.edges()).any(|item| item.id() == id);
    let mut id = id_of(seed);
    // Each try follows from the one before, so the loop is the same in every run.
    while is_taken(&id) {
        id = id_of(&id);
    }
    id
}

pub fn id_of(seed: &str) -> String {
    let hash = ContentHash::of(seed.as_bytes()).to_string();
    hash.trim_start_matches("sha256:").chars().take(ID_DIGITS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_cut_where_they_are_still_different() {
        let nodes = ["abcdef0", "abcdxx", "q", "ä🦀aaaaaa", "abcdef01"].map(|id| format!("{{\"id\":\"{id}\"}}"));
        let board = CanvasBoard::open(&format!("{{\"nodes\":[{}]}}", nodes.join(","))).unwrap();
        let ids = ShortIds::of(&board);
        let shown: Vec<&str> = board.nodes().iter().map(|item| ids.short(item.id())).collect();
        assert_eq!(shown, ["abcdef0", "abcdx", "q", "ä🦀aa", "abcdef01"]);
        for (index, short) in shown.iter().enumerate() {
            assert_eq!(find("t", "id", &board, &[CanvasList::Nodes], short).unwrap(), (CanvasList::Nodes, index));
        }
        assert!(find("t", "id", &board, &[CanvasList::Nodes], "abcd").is_err());
        assert!(find("t", "id", &board, &[CanvasList::Edges], "q").is_err());
    }
}
