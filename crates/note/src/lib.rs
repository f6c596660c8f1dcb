//! A note as text with structure. Pure: no disk, no clock, no locks, no wire format.

mod blocks;
mod frontmatter;
mod hash;
mod headings;
mod inline;
mod replace;
mod splice;
mod text;
mod yaml;

pub use blocks::{Block, blocks};
pub use frontmatter::{Frontmatter, FrontmatterError};
pub use hash::{ContentHash, ExpectedHash, HashError};
pub use headings::{Heading, HeadingMatch, find_heading, headings};
pub use inline::{Link, LinkKind, links, tags};
pub use replace::{Occurrence, ReplaceError, Replaced, replace_text};
pub use splice::{Splice, splice};
pub use text::{Eol, NotUtf8, Text};
pub use yaml::Value;
