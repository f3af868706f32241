//! What a recording says to whoever opens it.

use super::Part;
use crate::history::StoredRun;

/// How each recording begins, behind the `# ` of a comment.
pub(super) const SIGN: &str = "Recorded from run ";

/// The lines above the entries.
pub(super) fn of(run: &StoredRun, name: &str, parts: &[Part<'_>]) -> String {
    let mut lines = vec![
        format!("{SIGN}{}. Beside its batch it replays by", run.run),
        format!("  sortie run BATCH --model script/{name}"),
        "Every task says and calls what it said and called then; tools really run.".to_owned(),
    ];
    let lost: Vec<_> = parts
        .iter()
        .filter_map(|part| Some(format!("  {}: {}", part.task, part.lost?)))
        .collect();
    if !lost.is_empty() {
        lines.push(
            "How these ended was not a model's doing, and does not come again; who asks for more than is here ends as `script_ended`:"
                .to_owned(),
        );
        lines.extend(lost);
    }
    lines.join("\n")
}
