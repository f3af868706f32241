//! UTF-16 read as UTF-8.

use std::io::{self, Read};

/// How much is read at once, in bytes.
const BLOCK: usize = 16 << 10;

/// Which byte of a unit comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// The low one.
    Little,
    /// The high one.
    Big,
}

impl Order {
    /// The order that a byte order mark at the start of a file tells; `None` when there is none of UTF-16.
    pub(super) fn of_mark(start: &[u8]) -> Option<Self> {
        match start {
            // UTF-32 starts like it.
            [0xFF, 0xFE, 0, 0, ..] => None,
            [0xFF, 0xFE, ..] => Some(Self::Little),
            [0xFE, 0xFF, ..] => Some(Self::Big),
            _ => None,
        }
    }

    /// Its name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Little => "UTF-16 LE",
            Self::Big => "UTF-16 BE",
        }
    }

    fn unit(self, bytes: [u8; 2]) -> u16 {
        match self {
            Self::Little => u16::from_le_bytes(bytes),
            Self::Big => u16::from_be_bytes(bytes),
        }
    }
}

/// A source of UTF-16 as a source of UTF-8. What is no character becomes `U+FFFD`.
#[derive(Debug)]
pub(super) struct Utf16<R> {
    source: R,
    order: Order,
    /// A byte without the other of its unit.
    odd: Option<u8>,
    /// A unit without the other of its character.
    high: Option<u16>,
    /// What is decoded and not yet handed out.
    ready: io::Cursor<Vec<u8>>,
}

impl<R: Read> Utf16<R> {
    /// Decodes `source`, which starts after the mark.
    pub(super) fn new(source: R, order: Order) -> Self {
        Self {
            source,
            order,
            odd: None,
            high: None,
            ready: io::Cursor::default(),
        }
    }

    /// Decodes the next block. Leaves nothing at the end.
    fn fill(&mut self) -> io::Result<()> {
        let mut bytes: Vec<u8> = self.odd.take().into_iter().collect();
        let read = (&mut self.source)
            .take(BLOCK as u64)
            .read_to_end(&mut bytes)?;
        let (pairs, rest) = bytes.as_chunks::<2>();
        let mut units: Vec<u16> = self.high.take().into_iter().collect();
        units.extend(pairs.iter().map(|pair| self.order.unit(*pair)));
        if read > 0 {
            self.odd = rest.first().copied();
            // The first unit of a pair waits for the second.
            self.high = units.pop_if(|last| (0xD800..0xDC00).contains(last));
        } else if !rest.is_empty() {
            units.push(0xFFFD);
        }
        let text: String = char::decode_utf16(units)
            .map(|decoded| decoded.unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect();
        self.ready = io::Cursor::new(text.into_bytes());
        // Half a character is no end.
        if self.ready.get_ref().is_empty() && read > 0 {
            return self.fill();
        }
        Ok(())
    }
}

impl<R: Read> Read for Utf16<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.ready.read(buffer)? {
            0 if !buffer.is_empty() => {
                self.fill()?;
                self.ready.read(buffer)
            }
            len => Ok(len),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decoded(bytes: &[u8], order: Order) -> String {
        let mut text = String::new();
        Utf16::new(bytes, order).read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn halves_are_replaced() {
        assert_eq!(decoded(b"a\0b", Order::Little), "a\u{FFFD}");
        assert_eq!(decoded(b"\xD8\x3D\0a", Order::Big), "\u{FFFD}a");
        assert_eq!(decoded(b"\xD8\x3D", Order::Big), "\u{FFFD}");
        assert_eq!(decoded(b"", Order::Big), "");
    }

    #[test]
    fn only_marks_of_utf16_are_taken_for_them() {
        assert_eq!(Order::of_mark(b"\xFF\xFEa\0"), Some(Order::Little));
        assert_eq!(Order::of_mark(b"\xFE\xFF\0a"), Some(Order::Big));
        assert_eq!(Order::of_mark(b"\xFF\xFE\0\0a\0\0\0"), None);
        assert_eq!(Order::of_mark(b"\xEF\xBB\xBFa"), None);
    }

    proptest! {
        #[test]
        fn every_text_comes_back(text in ".{0,40}", long in 0_usize..3) {
            // Over the edge of a block, at every offset.
            let text = "x".repeat(long * (BLOCK / 2 - 7)) + &text;
            for (order, bytes) in [
                (Order::Little, text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>()),
                (Order::Big, text.encode_utf16().flat_map(u16::to_be_bytes).collect()),
            ] {
                prop_assert_eq!(&decoded(&bytes, order), &text);
            }
        }
    }
}
