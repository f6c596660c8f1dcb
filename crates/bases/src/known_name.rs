//! The functions, methods and fields that the language knows, by one name each.

use lapidary_query::nearest;

macro_rules! known_functions {
    ($($name:literal => $variant:ident,)+) => {
        /// A global function or a method. Several types may answer to the same one.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum KnownFunction {
            $($variant,)+
        }

        /// As they are documented.
        pub(super) const FUNCTION_NAMES: &[&str] = &[$($name,)+];

        impl KnownFunction {
            /// By its name in any case.
            pub(super) fn find(name: &str) -> Option<Self> {
                // Compared one after the other: the list is short, and a name is looked up once, when an expression is
                // read.
                $(if name.eq_ignore_ascii_case($name) {
                    return Some(Self::$variant);
                })+
                None
            }
        }
    };
}

known_functions! {
    "if" => If,
    "now" => Now,
    "today" => Today,
    "date" => Date,
    "duration" => Duration,
    "number" => Number,
    "list" => List,
    "min" => Min,
    "max" => Max,
    "link" => Link,
    "file" => File,
    "image" => Image,
    "icon" => Icon,
    "html" => Html,
    "escapeHTML" => EscapeHtml,
    "random" => Random,
    "toString" => ToText,
    "isTruthy" => IsTruthy,
    "isType" => IsType,
    "isEmpty" => IsEmpty,
    "contains" => Contains,
    "containsAll" => ContainsAll,
    "containsAny" => ContainsAny,
    "startsWith" => StartsWith,
    "endsWith" => EndsWith,
    "lower" => Lower,
    "title" => Title,
    "trim" => Trim,
    "reverse" => Reverse,
    "repeat" => Repeat,
    "slice" => Slice,
    "split" => Split,
    "replace" => Replace,
    "abs" => Abs,
    "ceil" => Ceil,
    "floor" => Floor,
    "round" => Round,
    "toFixed" => ToFixed,
    "time" => Time,
    "format" => Format,
    "relative" => Relative,
    "filter" => Filter,
    "map" => Map,
    "reduce" => Reduce,
    "flat" => Flat,
    "join" => Join,
    "sort" => Sort,
    "unique" => Unique,
    "sum" => Sum,
    "mean" => Mean,
    "median" => Median,
    "stddev" => StandardDeviation,
    "earliest" => Earliest,
    "latest" => Latest,
    "keys" => Keys,
    "values" => Values,
    "matches" => Matches,
    "asFile" => AsFile,
    "linksTo" => LinksTo,
    "asLink" => AsLink,
    "hasLink" => HasLink,
    "hasTag" => HasTag,
    "inFolder" => InFolder,
    "hasProperty" => HasProperty,
}

impl KnownFunction {
    /// Whether it can be called without a value before it.
    pub(super) fn is_global(self) -> bool {
        matches!(
            self,
            Self::If
                | Self::Now
                | Self::Today
                | Self::Date
                | Self::Duration
                | Self::Number
                | Self::List
                | Self::Min
                | Self::Max
                | Self::Link
                | Self::File
                | Self::Image
                | Self::Icon
                | Self::Html
                | Self::EscapeHtml
                | Self::Random
        )
    }
}

impl KnownFunction {
    /// Whether a call gives the same for the same arguments during a query, wherever it is made.
    pub(super) fn depends_on_arguments_alone(self) -> bool {
        // `Now` and `Today` too: a query has one clock for all its rows.
        matches!(self, Self::Now | Self::Today | Self::Date | Self::Duration | Self::Number)
    }
}

/// The known function that a name is most like.
pub(super) fn nearest_function(name: &str) -> Option<&'static str> {
    nearest(name, FUNCTION_NAMES.iter().copied())
}

/// A field of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileField {
    File,
    Name,
    Basename,
    Fullname,
    Path,
    Folder,
    Extension,
    Created,
    Modified,
    Size,
    Backlinks,
    Links,
    Embeds,
    Tags,
    Properties,
}

/// Each with the name of its column.
const FILE_FIELDS: [(&str, &str, FileField); 15] = [
    ("file", "file", FileField::File),
    ("name", "file name", FileField::Name),
    ("basename", "file base name", FileField::Basename),
    ("fullname", "file full name", FileField::Fullname),
    ("path", "file path", FileField::Path),
    ("folder", "folder", FileField::Folder),
    ("ext", "file extension", FileField::Extension),
    ("ctime", "created time", FileField::Created),
    ("mtime", "modified time", FileField::Modified),
    ("size", "file size", FileField::Size),
    ("backlinks", "file backlinks", FileField::Backlinks),
    ("links", "file links", FileField::Links),
    ("embeds", "file embeds", FileField::Embeds),
    ("tags", "file tags", FileField::Tags),
    ("properties", "properties", FileField::Properties),
];

impl FileField {
    /// By its name in any case.
    pub(super) fn find(name: &str) -> Option<Self> {
        let found = FILE_FIELDS.iter().find(|(known, _, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, _, field)| *field)
    }

    pub(super) fn label(name: &str) -> Option<&'static str> {
        let found = FILE_FIELDS.iter().find(|(known, _, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, label, _)| *label)
    }

    pub(super) fn nearest(name: &str) -> Option<&'static str> {
        nearest(name, FILE_FIELDS.iter().map(|(known, _, _)| *known))
    }
}
