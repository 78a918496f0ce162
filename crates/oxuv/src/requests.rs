//! The closures of requests: each is kept under a number, which is the core's value for the request.

use crate::callbacks::{OnDone, OnSent};
use crate::loop_::{Core, Engine, Inner};
use crate::work::Answer;
use crate::{Errno, Result};

/// All of a loop's.
#[derive(Default)]
pub(crate) struct Requests {
    /// Of writes, shutdowns and connects.
    pub(crate) done: Numbered<OnDone>,
    /// Of datagrams that are sent.
    pub(crate) sent: Numbered<OnSent>,
    pub(crate) jobs: Numbered<Box<dyn Answer>>,
}

/// Values, each under a number as long as it is there. A number that is free is used before a larger one.
pub(crate) struct Numbered<T> {
    places: Vec<Place<T>>,
    /// The number of the next value. If it has a place, that leads to the free number behind it.
    next: u32,
}

enum Place<T> {
    Free { next: u32 },
    Taken(T),
}

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Numbered { places: Vec::new(), next: 0 }
    }
}

impl<T> Numbered<T> {
    /// The number that the next value will have.
    ///
    /// # Errors
    /// ENOMEM: there is no room for another.
    #[inline]
    fn reserve(&mut self) -> Result<u32> {
        if self.next as usize == self.places.len() {
            self.grow()?;
        }
        Ok(self.next)
    }

    #[cold]
    fn grow(&mut self) -> Result<()> {
        if self.next == u32::MAX {
            return Err(Errno::ENOMEM);
        }
        self.places.try_reserve(1)?;
        self.places.push(Place::Free { next: self.next + 1 });
        Ok(())
    }

    /// Puts a value under the number that [`Numbered::reserve`] has told.
    #[inline]
    fn put(&mut self, value: T) {
        let place = std::mem::replace(&mut self.places[self.next as usize], Place::Taken(value));
        if let Place::Free { next } = place {
            self.next = next;
        }
    }

    /// Takes the value out, whose number is free then.
    #[inline]
    pub(crate) fn take(&mut self, number: u32) -> Option<T> {
        let place = self.places.get_mut(number as usize).filter(|place| matches!(place, Place::Taken(_)))?;
        match std::mem::replace(place, Place::Free { next: std::mem::replace(&mut self.next, number) }) {
            Place::Taken(value) => Some(value),
            Place::Free { .. } => None,
        }
    }
}

impl Inner {
    /// Makes a request: `ask` asks the core, and gives it the number under which `closure` is kept if it agrees.
    ///
    /// # Errors
    /// As `ask`, with what is handed back; EINVAL when the loop is gone, EBUSY as [`Inner::with`], ENOMEM. The closure is dropped
    /// then, and nothing is borrowed.
    #[inline]
    pub(crate) fn request<F, T, G>(
        &self,
        kind: impl FnOnce(&mut Requests) -> &mut Numbered<F>,
        closure: F,
        ask: impl FnOnce(&mut Core, u32) -> Result<T, (Errno, Option<G>)>,
    ) -> Result<T, (Errno, Option<G>)> {
        // Borrowed after the closure came here, it is given back before that is dropped.
        let mut borrowed = self.core.try_borrow_mut().map_err(|_| (Errno::EBUSY, None))?;
        let Some(Engine { core, requests }) = &mut *borrowed else { return Err((Errno::EINVAL, None)) };
        let closures = kind(requests);
        let number = closures.reserve().map_err(|error| (error, None))?;
        let made = ask(core, number)?;
        closures.put(closure);
        Ok(made)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn insert(numbered: &mut Numbered<Box<u32>>, value: u32) -> u32 {
        let number = numbered.reserve().unwrap();
        numbered.put(Box::new(value));
        number
    }

    #[test]
    fn a_number_is_good_once_and_used_again() {
        let mut numbered = Numbered::default();
        assert_eq!([0, 1, 2].map(|value| insert(&mut numbered, value)), [0, 1, 2]);
        assert_eq!((numbered.take(1).as_deref(), numbered.take(1)), (Some(&1), None));
        assert_eq!((numbered.take(0).as_deref(), numbered.take(7)), (Some(&0), None));
        assert_eq!([3, 4, 5].map(|value| insert(&mut numbered, value)), [0, 1, 3]);
        assert_eq!([0, 1, 2, 3].map(|number| *numbered.take(number).unwrap()), [3, 4, 2, 5]);
    }

    #[test]
    fn a_number_that_was_told_and_not_used_is_told_again() {
        let mut numbered = Numbered::<Box<u32>>::default();
        assert_eq!((numbered.reserve(), numbered.reserve()), (Ok(0), Ok(0)));
        assert_eq!((insert(&mut numbered, 1), numbered.reserve()), (0, Ok(1)));
    }
}
