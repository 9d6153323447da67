//! The bytes of a saved state: a header, the tokens, the KV pages that they fill, a checksum.
//!
//! | bytes | |
//! |---|---|
//! | 8 | `MLXRSTAT` |
//! | 4 × u32 | version of this format, layout, kind of the KV cache, tokens of a page |
//! | u64 | bytes of a page |
//! | 16 | the model's identity |
//! | 2 × u64 | tokens, pages |
//! | u32 a token | tokens |
//! | | pages |
//! | 32 | SHA-256 of all before |
//!
//! Numbers are little-endian. A state can come from anywhere: nothing in it is believed before it was compared.

use crate::model::{Identity, KvType, PAGE_TOKENS, PageForm};
use crate::{Error, Result};
use sha2::{Digest, Sha256};

const MAGIC: &[u8; 8] = b"MLXRSTAT";
const VERSION: u32 = 1;
/// Bytes before the tokens.
pub(super) const HEADER: usize = 64;
const CHECKSUM: usize = 32;

/// What a state must be of to fit a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fit {
    pub model: Identity,
    pub form: PageForm,
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
    pub fn size(tokens: usize, page_bytes: usize) -> Option<usize> {
        let pages = (tokens / PAGE_TOKENS).checked_mul(page_bytes)?;
        let tokens = tokens.checked_mul(4)?;
        tokens.checked_add(pages)?.checked_add(HEADER + CHECKSUM)
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
        let Some(bytes) = bytes.first_chunk::<HEADER>() else {
            return Err(damaged(&format!("it ends after {} bytes", bytes.len())));
        };
        let (words, _) = bytes.as_chunks::<4>();
        let word = |at: usize| u32::from_le_bytes(words[at / 4]);
        let (longs, _) = bytes.as_chunks::<8>();
        let long = |at: usize| usize::try_from(u64::from_le_bytes(longs[at / 8]));
        if word(8) != VERSION {
            return Err(Error::Unsupported(format!(
                "the state is of version {}, this library reads version {VERSION}: save it again",
                word(8)
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
        let size = Header::size(tokens, page_bytes);
        let mut model = Identity::default();
        model.copy_from_slice(&bytes[32..48]);
        let form = PageForm {
            layout: word(12),
            kv,
            bytes: page_bytes,
        };
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
        for word in [VERSION, form.layout, kv_number(form.kv), PAGE_TOKENS as u32] {
            to.extend(word.to_le_bytes());
        }
        to.extend((form.bytes as u64).to_le_bytes());
        to.extend(model);
        to.extend((self.tokens as u64).to_le_bytes());
        to.extend((self.pages as u64).to_le_bytes());
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
        } else if own.form.bytes != other.form.bytes {
            let (own, other) = (own.form.bytes, other.form.bytes);
            return Err(damaged(&format!(
                "pages of {own} bytes, the model's have {other}"
            )));
        } else {
            return Ok(());
        };
        Err(Error::InvalidArgument(format!(
            "{what}: it cannot be loaded here"
        )))
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
    let (tokens, _) = content[HEADER..][..header.tokens * 4].as_chunks::<4>();
    let tokens = tokens.iter().map(|bytes| u32::from_le_bytes(*bytes));
    Ok((header, tokens.collect()))
}
