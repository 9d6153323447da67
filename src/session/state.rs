//! Saving and loading what a session has computed of a text: the KV pages of its first tokens, and in a model with
//! recurrent layers their state at the end of the last page.
//!
//! A state is a matter of tokens, not of a request: saving runs what is not in the cache, loading puts pages (and a
//! snapshot) into the cache as if a request had left them. So a request that begins with these tokens goes on after them.

use super::Session;
use super::evaluation::Ticket;
use super::sequence::{Sequence, Work};
use super::state_format::{Fit, Header, LONGEST_HEADER, open, seal};
use crate::formats::{missing, open_regular, write_whole};
use crate::model::{Forward, Identity, PAGE_TOKENS, StateForm};
use crate::{Error, Result};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// Which way pages go.
enum Direction {
    Save,
    Load {
        /// Bytes before the first page.
        first: usize,
    },
}

/// A state under way. One thread at a time.
pub(super) struct StateWork {
    direction: Direction,
    form: StateForm,
    /// The state: all of it to load, to save what comes before the pages.
    bytes: Vec<u8>,
    ticket: Arc<Ticket<Vec<u8>>>,
}

impl StateWork {
    /// The page at `place` of the sequence, if it is to be loaded.
    pub fn page(&self, place: usize) -> Option<&[u8]> {
        self.part(place, self.form.page_bytes)
    }

    /// The recurrent state after so many pages, which are all, if there is one and it is to be loaded.
    pub fn slot(&self, pages: usize) -> Option<&[u8]> {
        let bytes = Some(self.form.slot_bytes).filter(|bytes| *bytes > 0)?;
        self.part(pages, bytes)
    }

    /// So many bytes behind the pages up to `place`.
    fn part(&self, place: usize, bytes: usize) -> Option<&[u8]> {
        match self.direction {
            Direction::Save => None,
            Direction::Load { first } => {
                let start = first + place * self.form.page_bytes;
                self.bytes.get(start..start + bytes)
            }
        }
    }

    /// Copies the pages and the slot of a sequence that is computed, if it is to be saved.
    pub fn save(&mut self, pages: &[u32], slot: u32, forward: &mut dyn Forward) -> Result<()> {
        if let Direction::Load { .. } = self.direction {
            return Ok(());
        }
        for &page in pages {
            forward.read_page(page, self.room(self.form.page_bytes))?;
        }
        match self.form.slot_bytes {
            0 => Ok(()),
            bytes => forward.read_slot(slot, self.room(bytes)),
        }
    }

    /// So many more bytes. The caller has reserved all of them.
    fn room(&mut self, bytes: usize) -> &mut [u8] {
        let start = self.bytes.len();
        self.bytes.resize(start + bytes, 0);
        &mut self.bytes[start..]
    }

    /// What to say if its recurrent state was not kept beside its pages: who saves has it, who loads has nothing.
    pub fn not_kept(&self) -> Result<()> {
        match (&self.direction, self.form.slot_bytes) {
            (Direction::Save, _) | (_, 0) => Ok(()),
            (Direction::Load { .. }, bytes) => Err(Error::OutOfMemory(format!(
                "a state was not loaded: the session has no memory to keep a recurrent state of {bytes} bytes"
            ))),
        }
    }

    pub fn finish(mut self, error: Option<Error>) {
        let bytes = std::mem::take(&mut self.bytes);
        self.ticket.answer(match error {
            Some(error) => Err(error),
            None => Ok(bytes),
        });
    }
}

impl Drop for StateWork {
    fn drop(&mut self) {
        // Does nothing after `finish`; before it, somebody would wait forever.
        let error = Error::Internal("the scheduler dropped a state".into());
        self.ticket.answer(Err(error));
    }
}

impl Session {
    fn form(&self) -> Result<StateForm> {
        self.form.map_err(|why| Error::Unsupported(why.into()))
    }

    /// What states are of. All weights are read for it once.
    fn fit(&self) -> Result<Fit> {
        let form = self.form()?;
        let model = match &self.model {
            Some(model) => model.identity()?,
            None => Identity::default(),
        };
        Ok(Fit { model, form })
    }

    /// Bytes of the state of so many tokens. Errors as [`Session::save_state`].
    pub fn state_size(&self, tokens: usize) -> Result<usize> {
        Header::size(tokens, &self.form()?).ok_or_else(|| {
            Error::OutOfMemory(format!("a state of {tokens} tokens is larger than memory"))
        })
    }

    /// The state of `tokens`: the KV pages that they fill (of [`PAGE_TOKENS`] tokens; what is left over is run again
    /// after loading), and the recurrent state after these. Tokens that are not in the cache are run, in turn with the
    /// requests.
    ///
    /// # Errors
    /// As [`Session::logits`]; `Unsupported` for batch-invariant sessions on GPUs.
    pub fn save_state(&self, tokens: &[u32]) -> Result<Vec<u8>> {
        let size = self.state_size(tokens.len())?;
        self.check_tokens(tokens)?;
        let fit = self.fit()?;
        let mut bytes: Vec<u8> = Vec::new();
        bytes
            .try_reserve_exact(size)
            .map_err(|_| Error::OutOfMemory(format!("no memory for a state of {size} bytes")))?;
        Header {
            fit,
            tokens: tokens.len(),
            pages: tokens.len() / PAGE_TOKENS,
            size,
        }
        .write(&mut bytes);
        bytes.extend(tokens.iter().flat_map(|token| token.to_le_bytes()));
        let whole = tokens.len() / PAGE_TOKENS * PAGE_TOKENS;
        let mut bytes = self.run_state(&tokens[..whole], Direction::Save, bytes, fit.form)?;
        seal(&mut bytes);
        Ok(bytes)
    }

    /// Puts a state into the cache, where it stays until room is needed; returns its tokens. A state is believed:
    /// who makes one decides what this session's requests that begin with its tokens see.
    ///
    /// # Errors
    /// `InvalidFile` if it is damaged, `InvalidArgument` if it is of another model or kind of cache, `ContextFull` if
    /// it is longer than the context, `OutOfMemory` where its recurrent state cannot be kept, `Unsupported` as
    /// [`Session::save_state`] and for another version.
    pub fn load_state(&self, state: &[u8]) -> Result<Vec<u32>> {
        Header::read(state)?.check(&self.fit()?)?;
        self.load(state.to_vec())
    }

    fn load(&self, state: Vec<u8>) -> Result<Vec<u32>> {
        let (header, tokens) = open(&state)?;
        let fit = self.fit()?;
        header.check(&fit)?;
        self.check_tokens(&tokens)?;
        let (_, first) = header.places();
        let whole = &tokens[..header.pages * PAGE_TOKENS];
        self.run_state(whole, Direction::Load { first }, state, fit.form)?;
        Ok(tokens)
    }

    fn run_state(
        &self,
        tokens: &[u32],
        direction: Direction,
        bytes: Vec<u8>,
        form: StateForm,
    ) -> Result<Vec<u8>> {
        if tokens.is_empty() {
            return Ok(bytes);
        }
        let ticket = Arc::new(Ticket::default());
        let work = Work::State(StateWork {
            direction,
            form,
            bytes,
            ticket: ticket.clone(),
        });
        self.open.0.submit(Sequence::new(tokens.to_vec(), work))?;
        ticket.wait()
    }

    /// [`Session::save_state`] to a file, which is there whole or not at all.
    ///
    /// # Errors
    /// Also `Io`.
    pub fn save_state_file(&self, tokens: &[u32], path: &Path) -> Result<()> {
        let state = self.save_state(tokens)?;
        write_whole(path, |file| Ok(file.write_all(&state)))
    }

    /// [`Session::load_state`] from a file.
    ///
    /// # Errors
    /// Also `Io`.
    pub fn load_state_file(&self, path: &Path) -> Result<Vec<u32>> {
        let io = |error: std::io::Error| Error::of_file(path, &error);
        let file = open_regular(path)?;
        let mut file = file.ok_or_else(|| missing(path))?;
        let mut state = Vec::new();
        let mut head = Read::by_ref(&mut file).take(LONGEST_HEADER as u64);
        head.read_to_end(&mut state).map_err(io)?;
        let loaded = Header::read(&state).and_then(|header| {
            header.check(&self.fit()?)?;
            let rest = header.size.saturating_sub(state.len());
            // What the header says is only believed of a file that is so long.
            let length = file.metadata().map_err(io)?.len();
            if length != header.size as u64 {
                return Err(Error::InvalidFile(format!(
                    "the state is damaged: it has {length} bytes instead of {}; save it again",
                    header.size
                )));
            }
            state.try_reserve_exact(rest).map_err(|_| {
                Error::OutOfMemory(format!("no memory for a state of {} bytes", header.size))
            })?;
            file.take(rest as u64).read_to_end(&mut state).map_err(io)?;
            self.load(state)
        });
        loaded.map_err(|error| match error {
            Error::InvalidFile(what) => Error::InvalidFile(format!("{}: {what}", path.display())),
            Error::InvalidArgument(what) => {
                Error::InvalidArgument(format!("{}: {what}", path.display()))
            }
            other => other,
        })
    }
}

/// The tokens of a state, those that fill no page included.
///
/// # Errors
/// `InvalidFile` if it is damaged, `Unsupported` if it is of another version.
pub fn state_tokens(state: &[u8]) -> Result<Vec<u32>> {
    Ok(open(state)?.1)
}
