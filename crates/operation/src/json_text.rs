//! A JSON serialiser with the output of `serde_json` that escapes strings in bulk. Most bytes of an answer are note text,
//! which is written twice: into the facts and as the text that a model reads.

use std::fmt::{self, Display, Write as _};

use memchr::memchr3_iter;
use serde::ser::{
    Error as _, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

/// Why a value cannot be written as JSON.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct JsonTextError(String);

impl serde::ser::Error for JsonTextError {
    fn custom<T: Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

impl From<fmt::Error> for JsonTextError {
    fn from(error: fmt::Error) -> Self {
        Self::custom(error)
    }
}

/// A value as compact JSON.
pub fn json_text(value: &(impl Serialize + ?Sized)) -> Result<String, JsonTextError> {
    let mut text = String::new();
    value.serialize(JsonTextWriter(&mut text))?;
    Ok(text)
}

/// Appends a string literal.
fn put_quoted(text: &str, out: &mut String) {
    // Room for escapes, so that a long text is moved once at most.
    out.reserve(text.len() + text.len() / 16 + 2);
    out.push('"');
    // Branch-free, so that the compiler vectorises it.
    let is_rare = |byte: &u8| (*byte < 0x20) & (*byte != b'\n');
    // Notes almost never have other control characters. Without them, `memchr` jumps from one escape to the next.
    let has_rare = text.as_bytes().iter().fold(false, |any, byte| any | is_rare(byte));
    let mut written = 0;
    if has_rare {
        // All that JSON requires to be escaped; everything else, also above ASCII, is copied as it is.
        let special = |(_, byte): &(usize, u8)| *byte < 0x20 || matches!(*byte, b'"' | b'\\');
        for (at, byte) in text.bytes().enumerate().filter(special) {
            out.push_str(&text[written..at]);
            put_escaped(byte, out);
            written = at + 1;
        }
    } else {
        for at in memchr3_iter(b'"', b'\\', b'\n', text.as_bytes()) {
            out.push_str(&text[written..at]);
            put_escaped(text.as_bytes()[at], out);
            written = at + 1;
        }
    }
    out.push_str(&text[written..]);
    out.push('"');
}

fn put_escaped(byte: u8, out: &mut String) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    match byte {
        b'"' => out.push_str("\\\""),
        b'\\' => out.push_str("\\\\"),
        b'\n' => out.push_str("\\n"),
        b'\r' => out.push_str("\\r"),
        b'\t' => out.push_str("\\t"),
        0x08 => out.push_str("\\b"),
        0x0c => out.push_str("\\f"),
        _ => {
            out.push_str("\\u00");
            // Four digits in all, of which a control character needs only the last two.
            out.extend([byte >> 4, byte & 15].map(|digit| char::from(HEX[usize::from(digit)])));
        }
    }
}

struct JsonTextWriter<'w>(&'w mut String);

/// An unfinished array or object.
struct OpenCompound<'w> {
    out: &'w mut String,
    is_empty: bool,
    end: &'static str,
}

impl<'w> JsonTextWriter<'w> {
    fn open(self, start: &str, end: &'static str) -> OpenCompound<'w> {
        self.0.push_str(start);
        OpenCompound { out: self.0, is_empty: true, end }
    }

    /// An object with one entry, whose value is the returned compound.
    fn variant(self, name: &str, start: &str, end: &'static str) -> OpenCompound<'w> {
        self.0.push('{');
        put_quoted(name, self.0);
        self.0.push(':');
        self.open(start, end)
    }

    fn display(self, value: impl Display) -> Result<(), JsonTextError> {
        // Rust and JSON write whole numbers and booleans alike.
        Ok(write!(self.0, "{value}")?)
    }

    /// The library formats floating-point numbers.
    fn number(self, value: impl Serialize) -> Result<(), JsonTextError> {
        // Rust prints `1e20` as twenty digits and `1.0` as `1`; the library writes what JSON readers expect.
        self.0.push_str(&serde_json::to_string(&value).map_err(JsonTextError::custom)?);
        Ok(())
    }
}

impl OpenCompound<'_> {
    fn next(&mut self) {
        if !self.is_empty {
            self.out.push(',');
        }
        self.is_empty = false;
    }

    fn item(&mut self, value: &(impl Serialize + ?Sized)) -> Result<(), JsonTextError> {
        self.next();
        value.serialize(JsonTextWriter(self.out))
    }

    /// Keys in JSON are strings; numbers and booleans are quoted.
    fn name(&mut self, name: &(impl Serialize + ?Sized)) -> Result<(), JsonTextError> {
        self.next();
        let start = self.out.len();
        name.serialize(JsonTextWriter(self.out))?;
        match self.out.as_bytes().get(start) {
            Some(b'"') => {}
            // The first letter says what was written: nothing else that serializes begins so.
            Some(b'0'..=b'9' | b'-' | b't' | b'f') => {
                // The key is already in the output, so it is quoted in place. Only maps of numbers pay for that.
                self.out.insert(start, '"');
                self.out.push('"');
            }
            _ => return Err(JsonTextError::custom("key must be a string")),
        }
        Ok(())
    }

    fn value(&mut self, value: &(impl Serialize + ?Sized)) -> Result<(), JsonTextError> {
        self.out.push(':');
        value.serialize(JsonTextWriter(self.out))
    }

    fn field(&mut self, name: &str, value: &(impl Serialize + ?Sized)) -> Result<(), JsonTextError> {
        self.next();
        put_quoted(name, self.out);
        self.value(value)
    }

    fn close(self) {
        self.out.push_str(self.end);
    }
}

impl<'w> Serializer for JsonTextWriter<'w> {
    type Ok = ();
    type Error = JsonTextError;
    type SerializeSeq = OpenCompound<'w>;
    type SerializeTuple = OpenCompound<'w>;
    type SerializeTupleStruct = OpenCompound<'w>;
    type SerializeTupleVariant = OpenCompound<'w>;
    type SerializeMap = OpenCompound<'w>;
    type SerializeStruct = OpenCompound<'w>;
    type SerializeStructVariant = OpenCompound<'w>;

    fn serialize_bool(self, value: bool) -> Result<(), JsonTextError> {
        self.display(value)
    }

    fn serialize_i8(self, value: i8) -> Result<(), JsonTextError> {
        self.display(value)
    }

    fn serialize_i16(self, value: i16) -> Result<(), JsonTextError> {
        self.display(value)
    }

    fn serialize_i32(self, value: i32) -> Result<(), JsonTextError> {
        self.display(value)
    }

    fn serialize_i64(self, value: i64) -> Result<(), JsonTextError> {
        self.display(value)
    }

    fn serialize_i128(self, value: i128) -> Result<(), JsonTextError> {
        self.display(value)
    }

    fn serialize_u8(self, value: u8) -> Result<(), JsonTextError> {
        self.display(value)
    }

    fn serialize_u16(self, value: u16) -> Result<(), JsonTextError> {
        self.display(value)
    }

    fn serialize_u32(self, value: u32) -> Result<(), JsonTextError> {
        self.display(value)
    }

    fn serialize_u64(self, value: u64) -> Result<(), JsonTextError> {
        self.display(value)
    }

    fn serialize_u128(self, value: u128) -> Result<(), JsonTextError> {
        self.display(value)
    }

    fn serialize_f32(self, value: f32) -> Result<(), JsonTextError> {
        self.number(value)
    }

    fn serialize_f64(self, value: f64) -> Result<(), JsonTextError> {
        self.number(value)
    }

    fn serialize_char(self, value: char) -> Result<(), JsonTextError> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<(), JsonTextError> {
        put_quoted(value, self.0);
        Ok(())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), JsonTextError> {
        // `serde_json` writes bytes as an array of numbers, too.
        self.collect_seq(value)
    }

    fn serialize_none(self) -> Result<(), JsonTextError> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), JsonTextError> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), JsonTextError> {
        self.0.push_str("null");
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), JsonTextError> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<(), JsonTextError> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<(), JsonTextError> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), JsonTextError> {
        // An enum variant is an object with its name as the only key, as `serde_json` writes it.
        let mut object = self.open("{", "}");
        object.field(variant, value)?;
        object.close();
        Ok(())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<OpenCompound<'w>, JsonTextError> {
        Ok(self.open("[", "]"))
    }

    fn serialize_tuple(self, _: usize) -> Result<OpenCompound<'w>, JsonTextError> {
        Ok(self.open("[", "]"))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<OpenCompound<'w>, JsonTextError> {
        Ok(self.open("[", "]"))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<OpenCompound<'w>, JsonTextError> {
        Ok(self.variant(variant, "[", "]}"))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<OpenCompound<'w>, JsonTextError> {
        Ok(self.open("{", "}"))
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<OpenCompound<'w>, JsonTextError> {
        Ok(self.open("{", "}"))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<OpenCompound<'w>, JsonTextError> {
        Ok(self.variant(variant, "{", "}}"))
    }
}

/// Compounds of items.
macro_rules! items {
    ($($kind:ident $put:ident),*) => { $(
        impl $kind for OpenCompound<'_> {
            type Ok = ();
            type Error = JsonTextError;

            fn $put<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), JsonTextError> {
                self.item(value)
            }

            fn end(self) -> Result<(), JsonTextError> {
                self.close();
                Ok(())
            }
        }
    )* };
}

/// Compounds of named fields.
macro_rules! fields {
    ($($kind:ident),*) => { $(
        impl $kind for OpenCompound<'_> {
            type Ok = ();
            type Error = JsonTextError;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                value: &T,
            ) -> Result<(), JsonTextError> {
                self.field(name, value)
            }

            fn end(self) -> Result<(), JsonTextError> {
                self.close();
                Ok(())
            }
        }
    )* };
}

items!(
    SerializeSeq serialize_element,
    SerializeTuple serialize_element,
    SerializeTupleStruct serialize_field,
    SerializeTupleVariant serialize_field
);
fields!(SerializeStruct, SerializeStructVariant);

impl SerializeMap for OpenCompound<'_> {
    type Ok = ();
    type Error = JsonTextError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, name: &T) -> Result<(), JsonTextError> {
        self.name(name)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), JsonTextError> {
        self.value(value)
    }

    fn end(self) -> Result<(), JsonTextError> {
        self.close();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use serde::Serialize;
    use serde_json::{Value, json};

    use super::*;

    #[derive(Serialize)]
    enum SampleShape {
        Unit,
        Newtype(Option<u8>),
        Tuple(i64, char),
        Struct { a: f32, b: () },
    }

    #[derive(Serialize)]
    struct EveryKind<'a> {
        shapes: Vec<SampleShape>,
        tuple: (u8, &'a str, [bool; 2]),
        #[serde(flatten)]
        more: BTreeMap<&'a str, f64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        nothing: Option<u8>,
        numbered: BTreeMap<i32, u128>,
        flagged: BTreeMap<bool, i128>,
        lettered: BTreeMap<char, ()>,
    }

    #[test]
    fn every_kind_of_value_is_written_as_the_library_writes_it() {
        let everything = EveryKind {
            shapes: vec![
                SampleShape::Unit,
                SampleShape::Newtype(Some(3)),
                SampleShape::Newtype(None),
                SampleShape::Tuple(-5, '"'),
                SampleShape::Struct { a: 0.1, b: () },
            ],
            tuple: (255, "a\"b", [true, false]),
            more: BTreeMap::from([("x", 1e300), ("y", f64::NAN), ("z", 1.0)]),
            nothing: None,
            numbered: BTreeMap::from([(-1, u128::MAX), (7, 0)]),
            flagged: BTreeMap::from([(false, i128::MIN), (true, 1)]),
            lettered: BTreeMap::from([('\n', ()), ('石', ())]),
        };
        assert_eq!(json_text(&everything).unwrap(), serde_json::to_string(&everything).unwrap());
        let bad = BTreeMap::from([(vec![1], 1)]);
        assert!(json_text(&bad).is_err() && serde_json::to_string(&bad).is_err());
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<f64>().prop_map(|number| json!(number)),
            "[\\PC\u{0}-\u{1f}\"\\\\]{0,40}".prop_map(Value::from),
            "[a-z\n ]{0,80}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 20, 5, |inner| {
            let key = "[\\PC\n\"\\\\]{0,6}";
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::btree_map(key, inner, 0..5).prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn any_value_is_written_as_the_library_writes_it(value in values()) {
            prop_assert_eq!(json_text(&value).unwrap(), serde_json::to_string(&value).unwrap());
        }
    }
}
