//! What the core keeps of a write or a send that the kernel did not take at once.

use std::any::Any;

use oxuv_core::{Buffers, Many, One};

/// The bytes, as the program has given them. Those of the usual types are kept as they are, others in a box.
pub(crate) enum Kept {
    Static(&'static [u8]),
    Vec(Vec<u8>),
    Boxed(Box<dyn Buffers>),
}

impl Kept {
    /// Of one buffer.
    #[inline]
    pub(crate) fn one<T: AsRef<[u8]> + 'static>(One(bytes): One<T>) -> Kept {
        // Which of the arms it is, the compiler knows for each `T`.
        let mut bytes = Some(bytes);
        if let Some(bytes) = take_if::<&'static [u8], _>(&mut bytes) {
            return Kept::Static(bytes);
        }
        if let Some(bytes) = take_if::<&'static str, _>(&mut bytes) {
            return Kept::Static(bytes.as_bytes());
        }
        if let Some(bytes) = take_if::<Vec<u8>, _>(&mut bytes) {
            return Kept::Vec(bytes);
        }
        match bytes {
            Some(bytes) => Kept::Boxed(Box::new(One(bytes))),
            None => Kept::Static(&[]),
        }
    }

    /// Of several.
    pub(crate) fn many<T: AsRef<[u8]> + 'static>(parts: Many<Vec<T>>) -> Kept {
        Kept::Boxed(Box::new(parts))
    }
}

/// Takes the value, if it is of this type.
#[inline]
fn take_if<Wanted: 'static, T: 'static>(value: &mut Option<T>) -> Option<Wanted> {
    (value as &mut dyn Any).downcast_mut::<Option<Wanted>>().and_then(Option::take)
}

impl Buffers for Kept {
    #[inline]
    fn count(&self) -> usize {
        match self {
            Kept::Static(_) | Kept::Vec(_) => 1,
            Kept::Boxed(buffers) => buffers.count(),
        }
    }

    #[inline]
    fn get(&self, nth: usize) -> &[u8] {
        match self {
            Kept::Static(bytes) => bytes,
            Kept::Vec(bytes) => bytes,
            Kept::Boxed(buffers) => buffers.get(nth),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn the_usual_types_need_no_box() {
        assert!(matches!(Kept::one(One(b"abc" as &[u8])), Kept::Static(b"abc")));
        assert!(matches!(Kept::one(One("abc")), Kept::Static(b"abc")));
        assert!(matches!(Kept::one(One(vec![1, 2])), Kept::Vec(bytes) if bytes == [1, 2]));
    }

    #[test]
    fn all_types_keep_their_bytes() {
        let all = [
            Kept::one(One("abc")),
            Kept::one(One(b"abc".to_vec())),
            Kept::one(One(String::from("abc"))),
            Kept::one(One(Arc::<[u8]>::from(*b"abc"))),
            Kept::one(One(*b"abc")),
        ];
        for kept in all {
            assert_eq!((kept.count(), kept.get(0)), (1, b"abc" as &[u8]));
        }
        let several = Kept::many(Many(vec!["ab", "c"]));
        assert_eq!((several.count(), several.get(0), several.get(1)), (2, b"ab" as &[u8], b"c" as &[u8]));
    }
}
