//! Catalogues as they may be shown: a report quotes the lines around a fault, and a key may stand in them.

use std::ops::Range;

use super::{KeySource, read::split_url};
use crate::{Node, Source};

/// `source` with `*` for every key, header value, and URL with a user or a query. Every position stays.
pub(super) fn without_values(source: &Source, catalogue: &Node) -> Source {
    let mut text = source.text().to_owned();
    let providers = catalogue.get("providers").and_then(Node::as_map);
    for (_, provider) in providers.unwrap_or_default() {
        let key = provider.get("apiKey").into_iter();
        let headers = provider.get("headers").and_then(Node::as_map);
        let headers = headers.unwrap_or_default().iter().map(|(_, value)| value);
        let values = key.chain(headers).filter(|value| is_secret(value));
        let url = provider.get("baseUrl").filter(|url| is_secret_url(url));
        for value in values.chain(url) {
            cover(&mut text, value.span.clone());
        }
    }
    Source::new(source.path(), text)
}

/// `source` without anything that follows a `:`, for a text that is no catalogue.
pub(super) fn without_any_value(source: &Source) -> Source {
    let mut text = source.text().to_owned();
    let mut start = 0;
    for line in source.text().split_inclusive('\n') {
        let from = line.find(':').map_or(0, |at| at + 1);
        cover(&mut text, start + from..start + line.len());
        start += line.len();
    }
    Source::new(source.path(), text)
}

fn is_secret(value: &Node) -> bool {
    let source = value.as_text().map(KeySource::parse);
    !matches!(source, Some(KeySource::Variable(_) | KeySource::Command(_)))
}

fn is_secret_url(url: &Node) -> bool {
    !matches!(url.as_text().and_then(split_url), Some((_, None)))
}

/// Puts as many bytes of `*` in place of what is neither a space nor a line's end.
fn cover(text: &mut String, span: Range<usize>) {
    let covered: String = text
        .get(span.clone())
        .unwrap_or_default()
        .chars()
        .flat_map(|c| match c {
            c if c.is_whitespace() => std::iter::repeat_n(c, 1),
            c => std::iter::repeat_n('*', c.len_utf8()),
        })
        .collect();
    if !covered.is_empty() {
        text.replace_range(span, &covered);
    }
}
