//! Text for a model or a person, and the parts of it that come from elsewhere. A field of a reason gets into a sentence
//! only through [`InWords`]: text from notes, callers and other clients is always quoted.

use std::fmt;

#[doc(hidden)]
pub use lapidary_note::outside_quotations;
use lapidary_note::{ContentHash, EditError, ExpectedHash, PatchError, PatchMismatch};
pub use lapidary_note::{Quoted, one_line, quoted, visible, visible_json};
use lapidary_recipe::RecipeName;
use lapidary_vault::{JoinError, PathError, VaultPath};

use crate::{
    AppFault, AppNeed, ArchiveProblem, ArgumentProblem, Bug, DecodeFault, DiskFault, FilePart, Interruption,
    NameWanted, NearText, OffReason, PartCandidates, PathRefusal, Reason, ServerFault, ShapeProblem, TaskCandidate,
    WebFault,
};

/// A path within a sentence.
pub fn quoted_path(path: &VaultPath) -> Quoted<'_> {
    quoted(path.as_str())
}

/// Several names, as they appear in a sentence.
pub fn quoted_list<T: AsRef<str>>(names: &[T]) -> String {
    // Each is quoted alone: a comma within a name must not look like a separator.
    names.iter().map(|name| quoted(name.as_ref()).to_string()).collect::<Vec<_>>().join(", ")
}

/// Part of a sentence of ours, with all foreign text already quoted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prose(String);

impl Prose {
    /// Text composed of our words and [`Quoted`] ones, or one of our errors, all of which quote.
    pub fn ours(words: impl fmt::Display) -> Self {
        Self(words.to_string())
    }

    /// A message of another library; it may repeat its input.
    pub fn of_others(words: impl fmt::Display) -> Self {
        // Trimmed, because a line break at the end of a message would show as an escape.
        Self(quoted(words.to_string().trim()).to_string())
    }
}

impl From<&'static str> for Prose {
    fn from(words: &'static str) -> Self {
        // A literal in the source is ours.
        Self(words.to_owned())
    }
}

impl fmt::Display for Prose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How a field of a reason appears in sentences about it. A new field type has to decide here whether its text is ours.
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

impl InWords for RecipeName {
    type Word<'a> = Quoted<'a>;
    fn in_words(&self) -> Quoted<'_> {
        quoted(self.as_str())
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

/// Our own words, numbers, and types that quote themselves.
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
    ArchiveProblem,
    DecodeFault,
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
    AppFault,
    AppNeed,
    WebFault,
    ServerFault,
    PathRefusal,
    NameWanted,
    DiskFault,
    lapidary_vault::store::RemoteFault,
    Interruption,
    NearText,
    TaskCandidate,
    ShapeProblem,
    Bug,
    PathError,
    EditError,
    PatchError,
    PatchMismatch,
    JoinError,
    Reason,
);
