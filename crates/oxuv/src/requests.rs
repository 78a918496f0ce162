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
    /// The place that the next value is for.
    ///
    /// # Errors
    /// ENOMEM: there is no room for another.
    #[inline]
    fn vacant(&mut self) -> Result<Vacant<'_, T>> {
        let number = self.next as usize;
        if number >= self.places.len() {
            self.grow()?;
        }
        Ok(Vacant { place: self.places.get_mut(number).ok_or(Errno::ENOMEM)?, next: &mut self.next })
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

/// A free place for a value, which may be left as it is.
struct Vacant<'a, T> {
    place: &'a mut Place<T>,
    /// Its number; once it is filled, the number of the next free one.
    next: &'a mut u32,
}

impl<T> Vacant<'_, T> {
    /// The number that the value will have.
    fn number(&self) -> u32 {
        *self.next
    }

    #[inline]
    fn fill(self, value: T) {
        if let Place::Free { next } = std::mem::replace(self.place, Place::Taken(value)) {
            *self.next = next;
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
        let place = kind(requests).vacant().map_err(|error| (error, None))?;
        let made = ask(core, place.number())?;
        place.fill(closure);
        Ok(made)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn insert(numbered: &mut Numbered<Box<u32>>, value: u32) -> u32 {
        let place = numbered.vacant().unwrap();
        let number = place.number();
        place.fill(Box::new(value));
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
        let next = |numbered: &mut Numbered<_>| numbered.vacant().map(|place| place.number());
        assert_eq!((next(&mut numbered), next(&mut numbered)), (Ok(0), Ok(0)));
        assert_eq!((insert(&mut numbered, 1), next(&mut numbered)), (0, Ok(1)));
    }
}
