//! One child: turns, model clients, tools, and the yield.

pub mod model;
pub mod tools;
