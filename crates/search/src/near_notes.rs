//! Notes that are close to a note.

use std::sync::Arc;

use lapidary_index::{FileState, GoOn, VisibleFiles};

use super::{
    evaluate::digest_of,
    meaning::{NearNote, NearPair},
    passage::NotePiece,
    shown::with_shown,
};
use crate::{IndexError, RankedIndexCache, VaultPath};

/// Below this, two notes have nothing to do with each other.
const LEAST_WHOLE: f32 = 0.3;

/// A note that is close to another by what it says.
#[derive(Clone, Debug, PartialEq)]
pub struct CloseNote {
    pub path: VaultPath,
    /// From -1 to 1.
    pub cosine: f64,
    /// The piece of the first note, and the one of this note that is nearest to it. `None` for a note without text.
    pub own: Option<NotePiece>,
    pub other: Option<NotePiece>,
}

impl RankedIndexCache {
    /// The notes among these that are closest to one of them, best first; `None` if the model does not know its script,
    /// or there is no search by meaning.
    pub fn close_notes(
        &self,
        files: &VisibleFiles,
        path: &VaultPath,
        most: usize,
        go_on: GoOn<'_>,
    ) -> Result<Option<Vec<CloseNote>>, IndexError> {
        let Some(start) = files.get(path).filter(|_| self.meaning.is_on()) else { return Ok(None) };
        let serving = self.serving(files);
        let known = text_of(files, start.state(), |text| serving.knows_script(text));
        if known != Some(true) {
            return Ok(None);
        }
        let vectors = serving.index(files, go_on)?;
        let mut near = vectors.near_note(start.state().id, |id| files.shows(id));
        near.retain(|pair| pair.whole >= LEAST_WHOLE);
        // Numbers of files say nothing, but they are the same for the same vault.
        near.sort_by(|one, other| other.whole.total_cmp(&one.whole).then(one.near.id.cmp(&other.near.id)));
        near.truncate(most);
        let close = |pair: NearPair| {
            let state = files.snapshot().files_by_id().get(&pair.near.id)?;
            let own = NearNote { span: pair.own.clone(), ..pair.near.clone() };
            Some(CloseNote {
                path: state.path.clone(),
                cosine: f64::from(pair.whole),
                own: piece_of(files, start.state(), &own),
                other: piece_of(files, state, &pair.near),
            })
        };
        Ok(Some(near.into_iter().filter_map(close).collect()))
    }
}

fn text_of<T>(files: &VisibleFiles, state: &FileState, look: impl FnOnce(&str) -> T) -> Option<T> {
    let bytes = files.source().text(state)?;
    Some(with_shown(&state.path, &bytes, look))
}

fn piece_of(files: &VisibleFiles, state: &Arc<FileState>, near: &NearNote) -> Option<NotePiece> {
    text_of(files, state, |text| NotePiece::of(near, text, &digest_of(state))).flatten()
}
