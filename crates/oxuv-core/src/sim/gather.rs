//! Sends that are gathered: each is done as if it were alone.

use oxuv_os::Result;

/// What a simulated kernel gathers. There is little room, so that this is met.
#[derive(Debug, Default, Clone)]
pub(super) struct Gathering {
    pub(super) sends: Vec<Send>,
    /// So many of them are told of.
    told: usize,
}

#[derive(Debug, Clone)]
pub(super) struct Send {
    pub(super) number: i32,
    pub(super) token: u64,
    pub(super) bytes: Vec<u8>,
    /// `None` until it is done.
    pub(super) result: Option<Result<usize>>,
}

const MOST: usize = 3;

impl Gathering {
    pub(super) fn add(&mut self, number: i32, bytes: &[u8], token: u64) -> bool {
        if self.told == self.sends.len() {
            self.sends.clear();
            self.told = 0;
        }
        assert!(self.sends.iter().all(|send| send.result.is_none()), "those that are done are to be told of first");
        assert!(self.sends.iter().all(|send| send.number != number), "there is one for each socket");
        let has_room = self.sends.len() < MOST;
        if has_room {
            self.sends.push(Send { number, token, bytes: bytes.to_vec(), result: None });
        }
        has_room
    }

    pub(super) fn unsent(&self) -> impl Iterator<Item = &Send> {
        self.sends.iter().filter(|send| send.result.is_none())
    }

    pub(super) fn next(&mut self) -> Option<&Send> {
        let next = self.sends.get(self.told).filter(|send| send.result.is_some())?;
        self.told += 1;
        Some(next)
    }

    /// In a child: its parent sends them.
    pub(super) fn lose(&mut self) {
        *self = Gathering::default();
    }
}
