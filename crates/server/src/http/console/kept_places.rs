//! The places of notes in the state folder, beside the index: the next start draws the same picture at once, and after edits
//! notes only move a little. They can always be computed again, so what is damaged is left out.

use std::collections::HashMap;

use lapidary_note::ContentHash;
use lapidary_query::DrawnPoint;
use lapidary_vault::store::{CacheFile, CacheRow};

/// Of a row. Other formats are discarded.
const FORMAT: u32 = 1;
/// Notes in a row.
const IN_ROW: usize = 4_096;

/// Where notes were drawn, and in which graph.
#[derive(Debug, Default, PartialEq)]
pub(super) struct KeptPlaces {
    /// `None` if some of them are lost.
    pub(super) digest: Option<ContentHash>,
    pub(super) by_path: HashMap<String, DrawnPoint>,
}

impl KeptPlaces {
    pub(super) fn load(file: &CacheFile) -> Self {
        match file.load(FORMAT) {
            Ok(rows) => Self::of_rows(&rows),
            Err(error) => {
                tracing::debug!(%error, "the places of the graph cannot be read");
                Self::default()
            }
        }
    }

    /// Keeps the places of a graph, in place of those before.
    pub(super) fn save(file: &CacheFile, digest: &ContentHash, places: &[(&str, DrawnPoint)]) {
        let rows = || {
            places.chunks(IN_ROW).map(|chunk| {
                let bytes = row(digest, places.len(), chunk);
                (checksum(&bytes), bytes)
            })
        };
        if let Err(error) = file.replace(FORMAT, rows) {
            tracing::debug!(%error, "the places of the graph cannot be kept");
        }
    }

    fn of_rows(rows: &[CacheRow]) -> Self {
        let (mut kept, mut wanted) = (Self::default(), None);
        // A row with a wrong checksum is lost, and its notes start anywhere.
        for row in rows.iter().filter(|row| row.checksum == checksum(&row.bytes)) {
            let Some((digest, count)) = kept.read(&row.bytes) else { continue };
            // Two servers may write at the same time; rows of one picture belong together.
            match wanted {
                None => wanted = Some((digest, count)),
                Some(first) if first == (digest, count) => {}
                // A mixture is still good as a start; only the claim to be complete is dropped.
                Some(_) => return Self { digest: None, ..kept },
            }
        }
        kept.digest = wanted.filter(|(_, count)| *count == kept.by_path.len()).map(|(digest, _)| digest);
        kept
    }

    /// Takes the places of a row; the graph that it is of, and how many notes that has.
    fn read(&mut self, bytes: &[u8]) -> Option<(ContentHash, usize)> {
        let mut rest = bytes;
        let mut text = || -> Option<String> {
            // `split_off` gives nothing if there are fewer bytes, so damaged lengths end the reading.
            let length = u32::from_le_bytes(*rest.split_off(..4)?.first_chunk()?);
            String::from_utf8(rest.split_off(..usize::try_from(length).ok()?)?.to_vec()).ok()
        };
        let (digest, count) = (text()?.parse().ok()?, text()?.parse().ok()?);
        while !rest.is_empty() {
            let length = u32::from_le_bytes(*rest.split_off(..4)?.first_chunk()?);
            let path = String::from_utf8(rest.split_off(..usize::try_from(length).ok()?)?.to_vec()).ok()?;
            let mut number = || Some(f32::from_le_bytes(*rest.split_off(..4)?.first_chunk()?));
            let place = DrawnPoint { x: number()?, y: number()? };
            // Only what is somewhere can be a start.
            if place.x.is_finite() && place.y.is_finite() {
                self.by_path.insert(path, place);
            }
        }
        Some((digest, count))
    }
}

fn row(digest: &ContentHash, count: usize, places: &[(&str, DrawnPoint)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let text = |bytes: &mut Vec<u8>, text: &str| {
        // A path has at most some thousand bytes.
        bytes.extend_from_slice(&u32::try_from(text.len()).unwrap_or_default().to_le_bytes());
        bytes.extend_from_slice(text.as_bytes());
    };
    text(&mut bytes, &digest.to_string());
    text(&mut bytes, &count.to_string());
    for (path, place) in places {
        text(&mut bytes, path);
        bytes.extend_from_slice(&place.x.to_le_bytes());
        bytes.extend_from_slice(&place.y.to_le_bytes());
    }
    bytes
}

fn checksum(bytes: &[u8]) -> u64 {
    // Not against forgery, only against damage, so a part of the hash is enough.
    let hash = ContentHash::of(bytes).to_string();
    hash.get(hash.len() - 16..).and_then(|digits| u64::from_str_radix(digits, 16).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(parts: &[Vec<u8>]) -> Vec<CacheRow> {
        parts.iter().map(|bytes| CacheRow { checksum: checksum(bytes), bytes: bytes.clone() }).collect()
    }

    #[test]
    fn places_come_back_as_they_were_and_damage_costs_only_what_is_damaged() {
        let point = |x, y| DrawnPoint { x, y };
        let digest = ContentHash::of(b"graph");
        let (one, other) = ([("ä/a.md", point(1.5, -2.0))], [("b.md", point(0.0, 1e6)), ("c.md", point(3.0, 4.0))]);
        let both = [row(&digest, 3, &one), row(&digest, 3, &other)];
        let kept = KeptPlaces::of_rows(&rows(&both));
        assert_eq!(kept.digest, Some(digest));
        assert_eq!(kept.by_path, one.into_iter().chain(other).map(|(path, at)| (path.to_owned(), at)).collect());
        let mut damaged = rows(&both);
        damaged[1].bytes[70] ^= 1;
        let kept = KeptPlaces::of_rows(&damaged);
        assert_eq!((kept.digest, kept.by_path.len()), (None, 1));
        let mixed = [row(&digest, 3, &one), row(&ContentHash::of(b"other"), 3, &other)];
        assert_eq!(KeptPlaces::of_rows(&rows(&mixed)).digest, None);
        let nowhere = [("n.md", point(f32::NAN, 0.0))];
        assert_eq!(KeptPlaces::of_rows(&rows(&[row(&digest, 1, &nowhere)])), KeptPlaces::default());
        let long = [vec![255; 200], Vec::new(), both[0][..both[0].len() - 1].to_vec()];
        assert_eq!(KeptPlaces::of_rows(&rows(&long)).digest, None);
    }
}
