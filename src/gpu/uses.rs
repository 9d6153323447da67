//! Which queued work still uses a thing.

use parking_lot::Mutex;

/// A point in a stream's queue: the number of the stream and how many operations were queued on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    pub stream: u64,
    pub ticket: u64,
}

/// The last use of a thing on each stream that used it. Nearly always one stream.
#[derive(Debug, Default)]
pub(super) struct Uses(Mutex<Marks>);

/// Marks, at most one a stream.
#[derive(Debug, Default, Clone)]
pub(super) struct Marks {
    first: Option<Mark>,
    more: Vec<Mark>,
}

impl Uses {
    /// Notes a use. Called after the work is queued, while the caller still holds the thing.
    pub fn add(&self, mark: Mark) {
        self.0.lock().add(mark);
    }

    /// Notes all uses of another thing.
    pub fn merge(&self, marks: &Marks) {
        let mut own = self.0.lock();
        marks.iter().for_each(|mark| own.add(mark));
    }

    /// The uses so far; they stay noted.
    pub fn so_far(&self) -> Marks {
        self.0.lock().clone()
    }

    /// The uses so far, which are forgotten.
    pub fn take(&self) -> Marks {
        std::mem::take(&mut *self.0.lock())
    }
}

impl From<Marks> for Uses {
    fn from(marks: Marks) -> Uses {
        Uses(Mutex::new(marks))
    }
}

impl From<Mark> for Marks {
    fn from(mark: Mark) -> Marks {
        Marks {
            first: Some(mark),
            more: Vec::new(),
        }
    }
}

impl Marks {
    fn add(&mut self, mark: Mark) {
        let Some(first) = &mut self.first else {
            self.first = Some(mark);
            return;
        };
        let mut own = std::iter::once(first).chain(self.more.iter_mut());
        match own.find(|own| own.stream == mark.stream) {
            Some(own) => own.ticket = own.ticket.max(mark.ticket),
            None => self.more.push(mark),
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = Mark> + '_ {
        self.first.iter().chain(&self.more).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_use_on_each_stream_counts() {
        let uses = Uses::default();
        let mark = |stream, ticket| Mark { stream, ticket };
        for (stream, ticket) in [(1, 5), (2, 1), (1, 3), (3, 9), (2, 4)] {
            uses.add(mark(stream, ticket));
        }
        let marks: Vec<_> = uses.take().iter().collect();
        assert_eq!(marks, [mark(1, 5), mark(2, 4), mark(3, 9)]);
        let other = Uses::default();
        other.add(mark(2, 7));
        uses.add(mark(2, 4));
        uses.add(mark(4, 1));
        other.merge(&uses.so_far());
        let marks: Vec<_> = other.take().iter().collect();
        assert_eq!(marks, [mark(2, 7), mark(4, 1)]);
        assert_eq!(uses.take().iter().count(), 2);
        assert_eq!(uses.take().iter().count(), 0);
    }
}
