//! One child: turns, model clients, tools, and the yield.
