//! What the unit tests share.

pub(crate) use crate::sim::Random;
