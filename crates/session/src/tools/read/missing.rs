//! What to say of a path that leads nowhere.

use std::{fs, path::Path};

use similar::TextDiff;

use crate::tools::arguments::Named;

/// How many names are looked through for one that was meant.
const LOOKED_THROUGH: usize = 5_000;
/// How alike a name must be to be suggested, from 0 to 1.
const ALIKE: f32 = 0.6;

/// Says that a file is missing, and which one was perhaps meant.
pub(in crate::tools) fn missing(file: &Named<'_>, cwd: &Path) -> String {
    if let Ok(target) = fs::read_link(&file.path) {
        let target = target.display();
        return format!(
            "`{}` is a link to `{target}`, which does not exist",
            file.text
        );
    }
    let absent = format!("`{}` does not exist", file.text);
    let Some((folder, name)) = file.path.parent().zip(file.path.file_name()) else {
        return absent;
    };
    let Ok(entries) = fs::read_dir(folder) else {
        let folder = folder.strip_prefix(cwd).unwrap_or(folder).display();
        return format!("{absent}, and neither does its folder `{folder}`");
    };
    let near = nearest(&name.to_string_lossy(), entries);
    if near.is_empty() {
        absent
    } else {
        format!("{absent}; near it: {}", near.join(", "))
    }
}

fn nearest(name: &str, entries: fs::ReadDir) -> Vec<String> {
    let wanted = name.to_lowercase();
    let mut near: Vec<_> = entries
        .flatten()
        .take(LOOKED_THROUGH)
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .map(|other| {
            let ratio =
                TextDiff::from_chars(wanted.as_str(), other.to_lowercase().as_str()).ratio();
            (ratio, other)
        })
        .filter(|(ratio, _)| *ratio >= ALIKE)
        .collect();
    near.sort_by(|(a, name), (b, other)| b.total_cmp(a).then_with(|| name.cmp(other)));
    near.truncate(3);
    near.into_iter()
        .map(|(_, name)| format!("`{name}`"))
        .collect()
}
