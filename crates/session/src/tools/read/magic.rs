//! What a file that is no text is, by its first bytes.

/// The start of a file of each kind.
const STARTS: &[(&[u8], &str)] = &[
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF87a", "a GIF image"),
    (b"GIF89a", "a GIF image"),
    (b"II*\0", "a TIFF image"),
    (b"MM\0*", "a TIFF image"),
    (b"\0\0\x01\0", "an icon"),
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive, or a document made like one"),
    (b"PK\x05\x06", "an empty ZIP archive"),
    (b"\x1f\x8b", "gzip data"),
    (b"BZh", "bzip2 data"),
    (b"\xfd7zXZ\0", "xz data"),
    (b"\x28\xb5\x2f\xfd", "zstd data"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"!<arch>\n", "an `ar` archive"),
    (b"\x7fELF", "an ELF program or library"),
    (b"\xcf\xfa\xed\xfe", "a Mach-O program or library"),
    (b"\xca\xfe\xba\xbe", "a Java class or a Mach-O program"),
    (b"MZ", "a Windows program or library"),
    (b"\0asm", "a WebAssembly module"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"OggS", "Ogg audio or video"),
    (b"ID3", "MP3 audio"),
    (b"fLaC", "FLAC audio"),
    (b"\x1aE\xdf\xa3", "Matroska or WebM video"),
    (b"wOFF", "a web font"),
    (b"wOF2", "a web font"),
    (b"\0\x01\0\0\0", "a TrueType font"),
    (b"OTTO", "an OpenType font"),
    (b"PACK\0", "a Git pack"),
    (b"DIRC\0", "a Git index"),
];

/// What a file is that starts so; `None` for text, as far as can be seen.
pub(super) fn binary_kind(start: &[u8]) -> Option<&'static str> {
    let is_text = !start.contains(&0) && could_be_utf8(start);
    // Its first page is often plain text, and never worth reading.
    if is_text && !start.starts_with(b"%PDF-") {
        return None;
    }
    let known = STARTS
        .iter()
        .find(|(magic, _)| start.starts_with(magic))
        .map(|(_, kind)| *kind)
        .or_else(|| nested(start));
    // Text of another encoding is text.
    known.or_else(|| start.contains(&0).then_some("a binary file"))
}

/// Kinds that name themselves further in.
fn nested(start: &[u8]) -> Option<&'static str> {
    let at = |place: usize, magic: &[u8]| start.get(place..)?.starts_with(magic).then_some(());
    if start.starts_with(b"RIFF") {
        return Some(match start.get(8..12) {
            Some(b"WEBP") => "a WebP image",
            Some(b"WAVE") => "WAV audio",
            Some(b"AVI ") => "AVI video",
            _ => "a RIFF file",
        });
    }
    if at(4, b"ftyp").is_some() {
        return Some("MP4 video or audio, or a HEIF image");
    }
    at(257, b"ustar").map(|()| "a tar archive")
}

fn could_be_utf8(start: &[u8]) -> bool {
    // A character that the end cuts through is none the less one.
    std::str::from_utf8(start).map_or_else(|error| error.error_len().is_none(), |_| true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_text_is_named() {
        let mut tar = vec![b'a'; 100];
        tar.resize(257, 0);
        tar.extend_from_slice(b"ustar\0");
        for (start, kind) in [
            (&b"\x89PNG\r\n\x1a\n\0\0"[..], Some("a PNG image")),
            (b"%PDF-1.7\nplain so far", Some("a PDF document")),
            (b"\x7fELF\x02\0", Some("an ELF program or library")),
            (b"RIFF\0\0\0\0WEBPVP8", Some("a WebP image")),
            (
                b"\0\0\0\x18ftypmp42",
                Some("MP4 video or audio, or a HEIF image"),
            ),
            (&tar, Some("a tar archive")),
            (b"a\0b", Some("a binary file")),
            (b"", None),
            (b"MZ is how this prose begins", None),
            (b"GIF89a, says the manual", None),
            (b"caf\xe9 in Latin-1", None),
            ("cut off: ä".as_bytes().split_last().unwrap().1, None),
        ] {
            assert_eq!(binary_kind(start), kind, "{start:?}");
        }
    }
}
