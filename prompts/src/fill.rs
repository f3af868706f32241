//! Filling in a template.

/// Puts each value in the place of its `{{name}}`, in one pass: what a value holds is never filled in itself.
///
/// A place without a value is left as it stands; tests of this crate see to it that none is.
pub fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let extra: usize = values.iter().map(|(_, value)| value.len()).sum();
    let mut filled = String::with_capacity(template.len() + extra);
    let mut rest = template;
    while let Some(start) = rest.find("{{") {
        filled.push_str(&rest[..start]);
        let place = &rest[start..];
        let name = place.find("}}").map(|end| &place[2..end]);
        let value = name.and_then(|name| values.iter().find(|(known, _)| *known == name));
        if let Some((name, value)) = value {
            filled.push_str(value);
            rest = &place[name.len() + 4..];
        } else {
            filled.push_str("{{");
            rest = &place[2..];
        }
    }
    filled.push_str(rest);
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_not_filled_in_themselves() {
        assert_eq!(
            fill("a {{x}} b {{y}} {{x}}", &[("x", "{{y}}"), ("y", "1")]),
            "a {{y}} b 1 {{y}}"
        );
    }

    #[test]
    fn what_has_no_value_stays() {
        assert_eq!(fill("{{a {{b}} {{c}}", &[("b", "2")]), "{{a 2 {{c}}");
        assert_eq!(fill("{{", &[]), "{{");
    }
}
