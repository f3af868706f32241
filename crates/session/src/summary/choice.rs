//! Which declarations are shown, where there is no room for all.

use std::cmp::Reverse;

use super::sheet::{Extent, Sheet};

/// From here on a summary is held to a tenth of its text.
const LARGE: usize = 2_000;
/// What a summary of a smaller text may always take, in lines.
const FLOOR_LINES: usize = 200;
/// What a summary of a smaller text may always take, in bytes.
const FLOOR_BYTES: usize = 10 << 10;
/// Declarations of this rank and above are shown only while the summary is under a tenth of its text, and only if all that
/// matter as much can be.
const OPTIONAL: usize = 4;

/// How much room there is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    /// For what has to be shown if it can be.
    most: Extent,
    /// For what is only good to see.
    good: Extent,
}

impl Budget {
    /// For a text of so many bytes and lines, in an answer of at most `limit` bytes.
    pub(super) fn of(bytes: usize, lines: usize, limit: usize) -> Self {
        let good = Extent {
            bytes: (bytes / 10).min(limit),
            lines: lines / 10,
        };
        let most = Extent {
            bytes: good.bytes.max(FLOOR_BYTES.min(bytes / 2)).min(limit),
            lines: good.lines.max(FLOOR_LINES.min(lines / 2)),
        };
        Self {
            most: if lines >= LARGE { good } else { most },
            good,
        }
    }
}

/// Which declarations to show, by their places and in order; `None` when there is room for none.
pub(super) fn choose(sheet: &Sheet<'_>, budget: &Budget) -> Option<Vec<usize>> {
    let mut order: Vec<usize> = (0..sheet.declarations.len()).collect();
    let weight = |place: usize| {
        let declaration = &sheet.declarations[place];
        (declaration.rank, Reverse(declaration.size.ilog2()))
    };
    order.sort_by_key(|&place| weight(place));
    let mut shown = Vec::new();
    for group in order.chunk_by(|&a, &b| weight(a) == weight(b)) {
        let is_optional = sheet.declarations[group[0]].rank >= OPTIONAL;
        let room = if is_optional {
            budget.good
        } else {
            budget.most
        };
        let fits = |picked: &[usize]| sheet.extent(picked).fits(room);
        let with_all = merged(&shown, group);
        if fits(&with_all) {
            shown = with_all;
        } else if !is_optional {
            // Some of them, evenly, as landmarks; the rest is counted.
            let some = |count: usize| {
                let picks: Vec<_> = (0..count).map(|n| group[n * group.len() / count]).collect();
                merged(&shown, &picks)
            };
            let (mut least, mut most) = (0, group.len());
            while least + 1 < most {
                let count = usize::midpoint(least, most);
                if fits(&some(count)) {
                    least = count;
                } else {
                    most = count;
                }
            }
            if least > 0 {
                shown = some(least);
            }
            break;
        }
    }
    (!shown.is_empty()).then_some(shown)
}

fn merged(shown: &[usize], more: &[usize]) -> Vec<usize> {
    let mut all = [shown, more].concat();
    all.sort_unstable();
    all
}
