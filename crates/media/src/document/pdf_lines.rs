//! The letters of a page as lines: which belong together is known only by where they are.

use pdf_extract::{MediaBox, OutputDev, OutputError, Transform};

/// Shares of the size of a letter: what is further apart is another word, or another line.
const WORD_GAP: f64 = 0.1;
const LINE_STEP: f64 = 0.5;
const LINE_GAP: f64 = 1.5;
/// The cosine of directions that count as one.
const SAME_DIRECTION: f64 = 0.9;

/// Collects the text of a page. Lines may run in any direction, as those of a table that is printed sideways do.
#[derive(Default)]
pub(super) struct PageLines {
    text: String,
    line: Vec<String>,
    last: Option<PlacedLetter>,
    begins_word: bool,
    /// Of neighbours in scripts that are read from right to left: how many stand to the right of the one before, and to
    /// the left.
    rightward: usize,
    leftward: usize,
}

/// Where a letter is, seen along its line.
#[derive(Clone, Copy)]
struct PlacedLetter {
    direction: (f64, f64),
    start: f64,
    end: f64,
    across: f64,
    is_from_right: bool,
}

impl PageLines {
    pub(super) fn into_text(mut self) -> String {
        self.end_of_line();
        self.text
    }

    fn end_of_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        // Files have letters in the order in which they are printed, from the left.
        let is_printed_order = self.rightward > self.leftward;
        (self.rightward, self.leftward) = (0, 0);
        let line = if is_printed_order { as_read(&line) } else { line };
        self.text.extend(line);
        self.text.push('\n');
    }

    fn put(&mut self, letter: PlacedLetter, size: f64, text: &str) {
        if let Some(last) = self.last {
            let cosine = last.direction.0 * letter.direction.0 + last.direction.1 * letter.direction.1;
            let step = (letter.across - last.across).abs();
            // Back to the left and on another height: the next line, or another column.
            let goes_back = letter.start < last.end && step > size * LINE_STEP;
            if cosine < SAME_DIRECTION || (self.begins_word && (step > size * LINE_GAP || goes_back)) {
                self.end_of_line();
            } else if self.begins_word && letter.start > last.end + size * WORD_GAP {
                self.line.push(" ".to_owned());
            }
            if last.is_from_right && letter.is_from_right && step <= size * LINE_STEP {
                let side = if letter.start > last.start { &mut self.rightward } else { &mut self.leftward };
                *side += 1;
            }
        }
        self.line.push(text.to_owned());
        self.begins_word = false;
        self.last = Some(letter);
    }
}

impl OutputDev for PageLines {
    fn begin_page(&mut self, _: u32, _: &MediaBox, _: Option<(f64, f64, f64, f64)>) -> Result<(), OutputError> {
        Ok(())
    }

    fn end_page(&mut self) -> Result<(), OutputError> {
        Ok(())
    }

    fn output_character(
        &mut self,
        place: &Transform,
        width: f64,
        _: f64,
        font_size: f64,
        text: &str,
    ) -> Result<(), OutputError> {
        let length = place.m11.hypot(place.m12);
        let direction = if length > 0.0 { (place.m11 / length, place.m12 / length) } else { (1.0, 0.0) };
        // The matrix may scale the letters; its determinant says how much, in any direction.
        let size = font_size.abs() * (place.m11 * place.m22 - place.m12 * place.m21).abs().sqrt();
        // Seen along the line, so that text in any direction is handled as if it were level.
        let start = place.m31 * direction.0 + place.m32 * direction.1;
        let letter = PlacedLetter {
            direction,
            start,
            end: start + width * size,
            across: place.m32 * direction.0 - place.m31 * direction.1,
            is_from_right: text.chars().next().is_some_and(is_from_right),
        };
        self.put(letter, size, text);
        Ok(())
    }

    fn begin_word(&mut self) -> Result<(), OutputError> {
        self.begins_word = true;
        Ok(())
    }

    fn end_word(&mut self) -> Result<(), OutputError> {
        Ok(())
    }

    fn end_line(&mut self) -> Result<(), OutputError> {
        Ok(())
    }
}

/// A letter of Hebrew, Arabic and their relatives; their digits are written from the left.
fn is_from_right(letter: char) -> bool {
    matches!(letter, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}') && !letter.is_numeric()
}

/// A line in the order in which it is read: from the right where its letters are, with numbers and other words as they are.
fn as_read(line: &[String]) -> Vec<String> {
    let first = |letter: &String| letter.chars().next().unwrap_or(' ');
    let mut read = Vec::with_capacity(line.len());
    let mut rest = line;
    while let Some(start) = rest.iter().position(|letter| is_from_right(first(letter))) {
        // Up to a word that is read from the left.
        let run = &rest[start..];
        let stop = run.iter().position(|letter| first(letter).is_alphabetic() && !is_from_right(first(letter)));
        let run = &run[..stop.unwrap_or(run.len())];
        let end = run.iter().rposition(|letter| is_from_right(first(letter))).map_or(0, |last| last + 1);
        read.extend_from_slice(&rest[..start]);
        let mut turned: Vec<String> = run[..end].iter().rev().cloned().collect();
        turn_numbers_back(&mut turned);
        read.append(&mut turned);
        rest = &rest[start + end..];
    }
    read.extend_from_slice(rest);
    read
}

/// Numbers are read from the left in every script, with the signs between their digits: days, times, decimals.
fn turn_numbers_back(letters: &mut [String]) {
    let first = |letter: &String| letter.chars().next().unwrap_or(' ');
    let is_digit = |letter: Option<&String>| letter.is_some_and(|letter| first(letter).is_numeric());
    let mut start = 0;
    while start < letters.len() {
        let mut end = start;
        while is_digit(letters.get(end))
            || (end > start
                && letters.get(end).is_some_and(|sign| matches!(first(sign), '.' | ',' | '/' | ':' | '-'))
                && is_digit(letters.get(end + 1)))
        {
            end += 1;
        }
        letters[start..end].reverse();
        start = end.max(start + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(letters: &[(&str, f64, f64)], turn: f64) -> String {
        let mut lines = PageLines::default();
        let (sin, cos) = turn.to_radians().sin_cos();
        for (text, x, y) in letters {
            lines.begin_word().unwrap();
            for (number, letter) in text.chars().enumerate() {
                let (x, y) = (x + 5.0 * number as f64, *y);
                let place = Transform::row_major(cos, sin, -sin, cos, x * cos - y * sin, x * sin + y * cos);
                lines.output_character(&place, 0.5, 0.0, 10.0, letter.encode_utf8(&mut [0; 4])).unwrap();
            }
        }
        lines.into_text()
    }

    #[test]
    fn words_and_lines_are_told_apart_in_every_direction() {
        for turn in [0.0, 90.0, 180.0, 270.0, 30.0] {
            let page = [("fine", 0.0, 100.0), ("gra", 25.0, 100.0), ("ined", 40.0, 100.0), ("slate", 0.0, 88.0)];
            assert_eq!(line(&page, turn), "fine grained\nslate\n", "{turn}");
        }
        assert_eq!(line(&[], 0.0), "\n");
    }

    /// Printed from the left: the last letter first.
    #[test]
    fn lines_from_the_right_are_in_the_order_of_reading() {
        assert_eq!(line(&[("םולש", 0.0, 0.0)], 0.0), "שלום\n");
        assert_eq!(line(&[("םולש", 0.0, 0.0), ("21", 25.0, 0.0), ("רפס", 40.0, 0.0)], 0.0), "ספר 21 שלום\n");
        let dated = [("םולש", 0.0, 0.0), ("12/05/2024", 25.0, 0.0), ("3.14,", 80.0, 0.0), ("רפס", 110.0, 0.0)];
        assert_eq!(line(&dated, 0.0), "ספר ,3.14 12/05/2024 שלום\n");
        assert_eq!(line(&[("PDF", 0.0, 0.0), ("םולש", 20.0, 0.0)], 0.0), "PDF שלום\n");
        // Some programs write letter for letter from the right.
        let logical: Vec<(&str, f64, f64)> = vec![("ש", 15.0, 0.0), ("ל", 10.0, 0.0), ("ו", 5.0, 0.0), ("ם", 0.0, 0.0)];
        assert_eq!(line(&logical, 0.0), "שלום\n");
    }
}
