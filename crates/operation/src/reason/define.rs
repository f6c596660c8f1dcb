//! The macro that turns the table of reasons into types.

/// Generates [`Reason`](super::Reason), [`ReasonKind`](super::Kind) and everything derived from them from one table. A
/// row that lacks a part does not compile. Within a row the fields of the reason are in scope: in `kind` and `data` by
/// reference, in `message` and `hint` as [`InWords`](crate::quote::InWords) renders them, so that no name can be
/// mistaken for the server's own words. In `hint` the tools offered to the caller are also available, under the name
/// given at the top of the table.
macro_rules! reasons {
    (|$offered:ident| $(
        $(#[$about:meta])*
        $reason:ident
            $({ $( $(#[$note:meta])* $field:ident: $type:ty ),+ $(,)? })?
            $(($inner:ident: $inner_type:ty))?
        => {
            kinds: [$( $kind:ident($id:literal, $number:literal, $code:literal, $when:literal) ),* $(,)?],
            kind: $which:expr,
            message: $message:expr,
            data: $data:expr,
            hint: $hint:expr $(,)?
        }
    )+) => {
        /// Why a call was refused.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Reason {
            $( $(#[$about])* $reason $({ $( $(#[$note])* $field: $type ),+ })? $(($inner_type))?, )+
        }

        /// A reason without its data: what a tool declares it may be refused with.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum ReasonKind {
            $( $( $kind, )* )+
        }

        impl ReasonKind {
            pub const ALL: &[Self] = &[$( $( Self::$kind, )* )+];

            /// How it appears on the wire.
            pub fn wire_code(self) -> WireCode {
                match self {
                    $( $( Self::$kind => WireCode { id: $id, number: $number, code: $code, when: $when }, )* )+
                }
            }
        }

        #[allow(unused_variables, reason = "not every part of a row needs every field")]
        impl Reason {
            pub fn kind(&self) -> ReasonKind {
                match self {
                    $( Self::$reason $({ $( $field ),+ })? $(($inner))? => $which, )+
                }
            }

            /// What a program needs to go on, as sent in `data` or `details`.
            pub fn data(&self) -> Map<String, Value> {
                let data = match self {
                    $( Self::$reason $({ $( $field ),+ })? $(($inner))? => $data, )+
                };
                match data {
                    Value::Object(mut data) => {
                        // A row writes a field that is missing as `null`; programs get no such field.
                        data.retain(|_, value| !value.is_null());
                        data
                    }
                    _ => Map::new(),
                }
            }

            /// One or two sentences that name the next step, using tools that the caller has.
            pub fn hint(&self, $offered: &OfferedTools<'_>) -> String {
                match self {
                    $( Self::$reason $({ $( $field ),+ })? $(($inner))? => {
                        $( $( let $field = InWords::in_words($field); )+ )?
                        $( let $inner = InWords::in_words($inner); )?
                        $hint.into()
                    } )+
                }
            }

            /// The name of the row, for the test that every row has a sample.
            #[doc(hidden)]
            pub fn row(&self) -> &'static str {
                match self {
                    $( Self::$reason $({ $( $field ),+ })? $(($inner))? => stringify!($reason), )+
                }
            }

            #[doc(hidden)]
            pub const ROWS: &[&'static str] = &[$( stringify!($reason) ),+];
        }

        #[allow(unused_variables, reason = "not every message has every field")]
        impl std::fmt::Display for Reason {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let message: std::borrow::Cow<'_, str> = match self {
                    $( Self::$reason $({ $( $field ),+ })? $(($inner))? => {
                        $( $( let $field = InWords::in_words($field); )+ )?
                        $( let $inner = InWords::in_words($inner); )?
                        $message.into()
                    } )+
                };
                f.write_str(&message)
            }
        }

        impl std::error::Error for Reason {}
    };
}
