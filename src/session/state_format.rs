//! The bytes of a saved state: a header, the tokens, the KV pages that they fill, the recurrent state after these, a
//! checksum.
//!
//! | bytes | |
//! |---|---|
//! | 8 | `MLXRSTAT` |
//! | 4 × u32 | version of this format, layout, kind of the KV cache, tokens of a page |
//! | u64 | bytes of a page |
//! | 16 | the model's identity |
//! | 2 × u64 | tokens, pages |
//! | u64 | version 2 only: bytes of the recurrent state |
//! | u32 a token | tokens |
//! | | pages |
//! | | version 2 only, where there are pages: the recurrent state |
//! | 32 | SHA-256 of all before |
//!
//! Numbers are little-endian. States of models without recurrent layers are of version 1, which all libraries read,
//! others of version 2. A state can come from anywhere: nothing in it is believed before it was compared.

use crate::model::{Identity, KvType, PAGE_TOKENS, StateForm};
use crate::{Error, Result};
use sha2::{Digest, Sha256};

const MAGIC: &[u8; 8] = b"MLXRSTAT";
/// Of pages only, and with a recurrent state.
const PAGES: u32 = 1;
const RECURRENT: u32 = 2;
/// Bytes before the tokens in version 1.
const HEADER: usize = 64;
/// The most in any version.
pub(super) const LONGEST_HEADER: usize = HEADER + 8;
const CHECKSUM: usize = 32;

/// What a state must be of to fit a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fit {
    pub model: Identity,
    pub form: StateForm,
}

/// What the first bytes say.
#[derive(Debug, Clone, Copy)]
pub(super) struct Header {
    pub fit: Fit,
    pub tokens: usize,
    pub pages: usize,
    /// Bytes of the whole state.
    pub size: usize,
}

fn damaged(what: &str) -> Error {
    Error::InvalidFile(format!("the state is damaged: {what}; save it again"))
}

fn kv_number(kv: KvType) -> u32 {
    match kv {
        KvType::F16 => 0,
        KvType::Q8 => 1,
        KvType::Q4 => 2,
    }
}

fn device(layout: u32) -> &'static str {
    match layout {
        1 => "the CPU",
        2 => "a GPU",
        _ => "another device",
    }
}

impl Header {
    /// Bytes of a state of so many tokens; `None` where nobody could have so many.
    pub fn size(tokens: usize, form: &StateForm) -> Option<usize> {
        let pages = tokens / PAGE_TOKENS;
        let slot = if pages > 0 { form.slot_bytes } else { 0 };
        let pages = pages.checked_mul(form.page_bytes)?;
        let size = tokens.checked_mul(4)?.checked_add(pages)?;
        size.checked_add(slot)?
            .checked_add(header_bytes(form) + CHECKSUM)
    }

    /// Where the tokens begin, and the pages.
    pub fn places(&self) -> (usize, usize) {
        let tokens = header_bytes(&self.fit.form);
        (tokens, tokens + self.tokens * 4)
    }

    /// Reads what [`Header::write`] wrote.
    ///
    /// # Errors
    /// `InvalidFile` if it is no state or contradicts itself; `Unsupported` if it is of another version.
    pub fn read(bytes: &[u8]) -> Result<Header> {
        if !bytes.starts_with(MAGIC) {
            return Err(Error::InvalidFile(
                "this is no saved state: it begins with other bytes".into(),
            ));
        }
        let ends = || damaged(&format!("it ends after {} bytes", bytes.len()));
        let (head, rest) = bytes.split_first_chunk::<HEADER>().ok_or_else(ends)?;
        let (words, _) = head.as_chunks::<4>();
        let word = |at: usize| u32::from_le_bytes(words[at / 4]);
        let (longs, _) = head.as_chunks::<8>();
        let long = |at: usize| usize::try_from(u64::from_le_bytes(longs[at / 8]));
        let version = word(8);
        if ![PAGES, RECURRENT].contains(&version) {
            return Err(Error::Unsupported(format!(
                "the state is of version {version}, this library reads versions {PAGES} and {RECURRENT}: save it again"
            )));
        }
        let kv = match word(16) {
            0 => KvType::F16,
            1 => KvType::Q8,
            2 => KvType::Q4,
            other => return Err(damaged(&format!("its kind of KV cache is {other}"))),
        };
        let too_large = |_| damaged("it says that it is larger than memory");
        let page_bytes = long(24).map_err(too_large)?;
        let (tokens, pages) = (long(48).map_err(too_large)?, long(56).map_err(too_large)?);
        if word(20) as usize != PAGE_TOKENS || pages != tokens / PAGE_TOKENS {
            return Err(damaged(&format!(
                "{pages} pages of {} tokens for {tokens} tokens",
                word(20)
            )));
        }
        let slot_bytes = match version {
            PAGES => 0,
            _ => {
                let bytes = rest.first_chunk::<8>().ok_or_else(ends)?;
                let bytes = usize::try_from(u64::from_le_bytes(*bytes)).map_err(too_large)?;
                if bytes == 0 {
                    return Err(damaged("its recurrent state has no bytes"));
                }
                bytes
            }
        };
        let mut model = Identity::default();
        model.copy_from_slice(&head[32..48]);
        let form = StateForm {
            layout: word(12),
            kv,
            page_bytes,
            slot_bytes,
        };
        let size = Header::size(tokens, &form);
        Ok(Header {
            fit: Fit { model, form },
            tokens,
            pages,
            size: size.ok_or_else(|| damaged("it says that it is larger than memory"))?,
        })
    }

    pub fn write(&self, to: &mut Vec<u8>) {
        let Fit { model, form } = self.fit;
        to.extend(MAGIC);
        let version = match form.slot_bytes {
            0 => PAGES,
            _ => RECURRENT,
        };
        for word in [version, form.layout, kv_number(form.kv), PAGE_TOKENS as u32] {
            to.extend(word.to_le_bytes());
        }
        to.extend((form.page_bytes as u64).to_le_bytes());
        to.extend(model);
        to.extend((self.tokens as u64).to_le_bytes());
        to.extend((self.pages as u64).to_le_bytes());
        if version == RECURRENT {
            to.extend((form.slot_bytes as u64).to_le_bytes());
        }
    }

    /// Whether it fits a session.
    ///
    /// # Errors
    /// `InvalidArgument` says what differs.
    pub fn check(&self, session: &Fit) -> Result<()> {
        let (own, other) = (&self.fit, session);
        let hex = |model: &Identity| u128::from_be_bytes(*model);
        let what = if own.model != other.model {
            format!(
                "the state is of another model ({:032x}, the session's is {:032x})",
                hex(&own.model),
                hex(&other.model)
            )
        } else if own.form.layout != other.form.layout {
            let (own, other) = (device(own.form.layout), device(other.form.layout));
            format!("the state was saved on {own}, the session's model is on {other}")
        } else if own.form.kv != other.form.kv {
            let (own, other) = (own.form.kv, other.form.kv);
            format!(
                "the state is of a KV cache of {own:?}, the session's is of {other:?} (kv_type)"
            )
        } else if own.form.page_bytes != other.form.page_bytes {
            let (own, other) = (own.form.page_bytes, other.form.page_bytes);
            return Err(damaged(&format!(
                "pages of {own} bytes, the model's have {other}"
            )));
        } else if own.form.slot_bytes != other.form.slot_bytes {
            let (own, other) = (own.form.slot_bytes, other.form.slot_bytes);
            return Err(damaged(&format!(
                "a recurrent state of {own} bytes, the model's has {other}"
            )));
        } else {
            return Ok(());
        };
        Err(Error::InvalidArgument(format!(
            "{what}: it cannot be loaded here"
        )))
    }
}

fn header_bytes(form: &StateForm) -> usize {
    match form.slot_bytes {
        0 => HEADER,
        _ => LONGEST_HEADER,
    }
}

/// Adds the checksum to a state that is whole otherwise.
pub(super) fn seal(state: &mut Vec<u8>) {
    let sum = Sha256::digest(&state);
    state.extend(sum);
}

/// The header and the tokens of a whole state.
///
/// # Errors
/// As [`Header::read`]; `InvalidFile` if it was cut or changed.
pub(super) fn open(state: &[u8]) -> Result<(Header, Vec<u32>)> {
    let header = Header::read(state)?;
    if state.len() != header.size {
        return Err(damaged(&format!(
            "it has {} bytes instead of {}",
            state.len(),
            header.size
        )));
    }
    let (content, sum) = state.split_at(header.size - CHECKSUM);
    if Sha256::digest(content).as_slice() != sum {
        return Err(damaged("its checksum is wrong"));
    }
    let (first, end) = header.places();
    let (tokens, _) = content[first..end].as_chunks::<4>();
    let tokens = tokens.iter().map(|bytes| u32::from_le_bytes(*bytes));
    Ok((header, tokens.collect()))
}
