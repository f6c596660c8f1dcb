//! What is said to a model or a person, and what in it is not ours. A field of a reason reaches a sentence only by
//! [`InWords`]: text from notes, callers and other clients comes out quoted, whatever the row does with it.

use std::fmt;

#[doc(hidden)]
pub use lapidary_note::outside_quotations;
use lapidary_note::{ContentHash, EditError, ExpectedHash, PatchError, PatchMismatch};
pub use lapidary_note::{Quoted, one_line, quoted, visible, visible_json};
use lapidary_vault::{JoinError, PathError, VaultPath};

use crate::{
    ArgumentProblem, Bug, DiskFault, FilePart, Interruption, NameWanted, NearText, OffReason, PartCandidates,
    PathRefusal, Reason,
};

/// A path within a sentence.
pub fn quoted_path(path: &VaultPath) -> Quoted<'_> {
    quoted(path.as_str())
}

/// Several names, as they stand in a sentence.
pub fn quoted_list<T: AsRef<str>>(names: &[T]) -> String {
    names.iter().map(|name| quoted(name.as_ref()).to_string()).collect::<Vec<_>>().join(", ")
}

/// Part of a sentence of ours, in which whatever is not ours is quoted already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prose(String);

impl Prose {
    /// What was put together from our words and [`Quoted`] ones, or an error of ours, all of which quote.
    pub fn ours(words: impl fmt::Display) -> Self {
        Self(words.to_string())
    }

    /// What another library says; it may repeat what it was given.
    pub fn of_others(words: impl fmt::Display) -> Self {
        Self(quoted(words.to_string().trim()).to_string())
    }
}

impl From<&'static str> for Prose {
    fn from(words: &'static str) -> Self {
        Self(words.to_owned())
    }
}

impl fmt::Display for Prose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How a field of a reason is seen by the sentences about it. A new type of field has to decide here whether it is ours.
pub(crate) trait InWords {
    type Word<'a>
    where
        Self: 'a;
    fn in_words(&self) -> Self::Word<'_>;
}

impl InWords for String {
    type Word<'a> = Quoted<'a>;
    fn in_words(&self) -> Quoted<'_> {
        quoted(self)
    }
}

impl InWords for VaultPath {
    type Word<'a> = Quoted<'a>;
    fn in_words(&self) -> Quoted<'_> {
        quoted_path(self)
    }
}

impl<T: InWords> InWords for Option<T> {
    type Word<'a>
        = Option<T::Word<'a>>
    where
        T: 'a;
    fn in_words(&self) -> Self::Word<'_> {
        self.as_ref().map(InWords::in_words)
    }
}

impl<T: InWords> InWords for Vec<T> {
    type Word<'a>
        = Vec<T::Word<'a>>
    where
        T: 'a;
    fn in_words(&self) -> Self::Word<'_> {
        self.iter().map(InWords::in_words).collect()
    }
}

impl<T: InWords> InWords for Box<T> {
    type Word<'a>
        = T::Word<'a>
    where
        T: 'a;
    fn in_words(&self) -> Self::Word<'_> {
        T::in_words(self)
    }
}

/// Words of ours, numbers, and what quotes by itself.
macro_rules! said_as_it_is {
    ($($type:ty),+ $(,)?) => {
        $(impl InWords for $type {
            type Word<'a> = &'a Self;
            fn in_words(&self) -> &Self {
                self
            }
        })+
    };
}

said_as_it_is!(
    bool,
    usize,
    u64,
    &'static str,
    ContentHash,
    ExpectedHash,
    Prose,
    ArgumentProblem,
    PartCandidates,
    FilePart,
    OffReason,
    PathRefusal,
    NameWanted,
    DiskFault,
    Interruption,
    NearText,
    Bug,
    PathError,
    EditError,
    PatchError,
    PatchMismatch,
    JoinError,
    Reason,
);
