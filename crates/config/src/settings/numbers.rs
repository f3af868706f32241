//! Settings that are numbers, and limits that may be absent.

use std::num::{NonZeroU32, NonZeroU64};

use serde_json::{Value, json};

use super::{Depth, Limit, value::SettingValue};
use crate::{Kind, Node};

/// A whole number as it is written: without quotes, a sign, or a fraction.
fn whole(node: &Node) -> Result<u64, &Node> {
    match &node.kind {
        Kind::Number(number, _) => number.as_u64().ok_or(node),
        _ => Err(node),
    }
}

macro_rules! whole_numbers {
    ($($type:ty, $noun:literal, $least:literal, $make:expr, $value:expr;)+) => {$(
        impl SettingValue for $type {
            const NOUN: &'static str = $noun;

            fn read(node: &Node) -> Result<Self, &Node> {
                whole(node).ok().and_then($make).ok_or(node)
            }

            fn narrow(&self, wanted: Self) -> Option<Self> {
                (wanted <= *self).then_some(wanted)
            }

            fn schema() -> Value {
                json!({"type": "integer", "minimum": $least})
            }

            fn to_json(&self) -> Value {
                let value: fn(&Self) -> _ = $value;
                Value::from(value(self))
            }
        }
    )+};
}

whole_numbers! {
    u32, "a whole number, 0 or more", 0, |n| u32::try_from(n).ok(), |n| *n;
    u64, "a whole number, 0 or more", 0, Some, |n| *n;
    NonZeroU32, "a whole number, 1 or more", 1, |n| u32::try_from(n).ok().and_then(NonZeroU32::new), |n| n.get();
    NonZeroU64, "a whole number, 1 or more", 1, NonZeroU64::new, |n| n.get();
}

/// Whether `wanted` is no more than `now`, where `None` is no limit.
fn at_most<N: PartialOrd>(wanted: Option<N>, now: Option<N>) -> bool {
    match (wanted, now) {
        (_, None) => true,
        (None, Some(_)) => false,
        (Some(wanted), Some(now)) => wanted <= now,
    }
}

impl SettingValue for Limit<u64> {
    const NOUN: &'static str = "a whole number, 0 or more";

    fn read(node: &Node) -> Result<Self, &Node> {
        whole(node).map(|limit| Self((limit != 0).then_some(limit)))
    }

    fn narrow(&self, wanted: Self) -> Option<Self> {
        at_most(wanted.0, self.0).then_some(wanted)
    }

    fn schema() -> Value {
        json!({"type": "integer", "minimum": 0})
    }

    fn to_json(&self) -> Value {
        self.or_zero().into()
    }
}

impl SettingValue for Limit<f64> {
    const NOUN: &'static str = "a number, 0 or more";

    fn read(node: &Node) -> Result<Self, &Node> {
        match &node.kind {
            Kind::Number(number, _) => number
                .as_f64()
                .filter(|limit| *limit >= 0.0)
                .map(|limit| Self((limit > 0.0).then_some(limit)))
                .ok_or(node),
            _ => Err(node),
        }
    }

    fn narrow(&self, wanted: Self) -> Option<Self> {
        at_most(wanted.0, self.0).then_some(wanted)
    }

    fn schema() -> Value {
        json!({"type": "number", "minimum": 0})
    }

    fn to_json(&self) -> Value {
        self.or_zero().into()
    }
}

impl SettingValue for Depth {
    const NOUN: &'static str = "a whole number";

    fn read(node: &Node) -> Result<Self, &Node> {
        let Kind::Number(number, _) = &node.kind else {
            return Err(node);
        };
        match number.as_i64().map(u32::try_from) {
            Some(Ok(depth)) => Ok(Self(Some(depth))),
            Some(Err(_)) if number.as_i64() < Some(0) => Ok(Self(None)),
            _ => Err(node),
        }
    }

    fn narrow(&self, wanted: Self) -> Option<Self> {
        at_most(wanted.0, self.0).then_some(wanted)
    }

    fn schema() -> Value {
        json!({"type": "integer"})
    }

    fn to_json(&self) -> Value {
        self.0.map_or(json!(-1), Value::from)
    }
}
