//! Models and tokenizers.

use crate::device::Device;
use crate::error::{Result, call, field, filled, filled_text, handle, owned};
use mlxrocm_sys as sys;
use std::any::Any;
use std::ffi::c_void;
use std::mem::zeroed;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::ptr::{null, null_mut};

handle!(ModelHandle, mlxrocm_model, mlxrocm_model_free);
handle!(TokenizerHandle, mlxrocm_tokenizer, mlxrocm_tokenizer_free);
handle!(TemplateHandle, mlxrocm_chat_template, mlxrocm_chat_template_free);

/// Facts about a model.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ModelInfo {
    pub family: String,
    pub name: String,
    pub quantization: String,
    pub layers: u32,
    pub parameters: u64,
    pub weight_bytes: u64,
    pub context_length: usize,
    pub vocab_size: usize,
    pub hidden_size: usize,
    pub kv_bytes_per_token: u64,
    pub load_seconds: f64,
}

/// Who hears how far loading or quantizing is.
pub(crate) struct Hears<'a> {
    pub progress: &'a mut dyn FnMut(u64, u64) -> bool,
    pub panicked: Option<Box<dyn Any + Send>>,
}

pub(crate) unsafe extern "C" fn report(done: u64, total: u64, hears: *mut c_void) -> i32 {
    // SAFETY: load_with or quantize_with gave it, waits, and is called back on its own thread.
    let hears = unsafe { &mut *hears.cast::<Hears>() };
    // No panic goes through the library.
    match catch_unwind(AssertUnwindSafe(|| (hears.progress)(done, total))) {
        Ok(go_on) => i32::from(!go_on),
        Err(panicked) => {
            hears.panicked = Some(panicked);
            1
        }
    }
}

/// A loaded model, immutable.
#[derive(Debug)]
pub struct Model(pub(crate) ModelHandle);

impl Model {
    /// Loads a GGUF file or an MLX folder, to run on the best GPU, else the CPU.
    pub fn load(path: impl AsRef<Path>) -> Result<Model> {
        Model::load_on(path, None, 0)
    }

    /// The same with a device (`None`: the best), and CPU threads (0: one for each CPU).
    pub fn load_on(path: impl AsRef<Path>, device: Option<&Device>, threads: u32) -> Result<Model> {
        Model::load_with(path, device, threads, |_, _| true)
    }

    /// The same with a function that hears how many of how many bytes are loaded, and says whether to go on: `false`
    /// ends loading with [`Status::Cancelled`](crate::Status::Cancelled).
    pub fn load_with(
        path: impl AsRef<Path>,
        device: Option<&Device>,
        threads: u32,
        mut progress: impl FnMut(u64, u64) -> bool,
    ) -> Result<Model> {
        let path = path.as_ref().as_os_str().as_encoded_bytes();
        let mut hears = Hears { progress: &mut progress, panicked: None };
        let options = sys::mlxrocm_model_options {
            struct_size: size_of::<sys::mlxrocm_model_options>() as u32,
            threads,
            device: device.map_or(null(), |device| device.0.get()),
            progress: Some(report),
            user_data: (&raw mut hears).cast(),
            // Zero is each field's default.
            // SAFETY: zero is a value of each field: numbers, and pointers that are null.
            ..unsafe { zeroed() }
        };
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        let loaded = ModelHandle::make(|out, error| unsafe {
            sys::mlxrocm_model_load(path.as_ptr().cast(), path.len(), &options, out, error)
        });
        if let Some(panicked) = hears.panicked {
            resume_unwind(panicked);
        }
        loaded.map(Model)
    }

    /// Tells facts about the model.
    pub fn info(&self) -> Result<ModelInfo> {
        // SAFETY: zero is a value of each field: numbers, and pointers that are null.
        let mut info: sys::mlxrocm_model_info = unsafe { zeroed() };
        info.struct_size = size_of_val(&info) as u32;
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        call(|error| unsafe { sys::mlxrocm_model_get_info(self.0.get(), &mut info, error) })?;
        Ok(ModelInfo {
            family: owned(info.family),
            name: owned(info.name),
            quantization: owned(info.quantization),
            layers: info.layers,
            parameters: info.parameters,
            weight_bytes: info.weight_bytes,
            context_length: info.context_length as usize,
            vocab_size: info.vocab_size as usize,
            hidden_size: info.hidden_size as usize,
            kv_bytes_per_token: info.kv_bytes_per_token,
            load_seconds: info.load_seconds,
        })
    }

    /// The model's tokenizer.
    pub fn tokenizer(&self) -> Result<Tokenizer> {
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        let make = |out, error| unsafe { sys::mlxrocm_model_get_tokenizer(self.0.get(), out, error) };
        TokenizerHandle::make(make).map(Tokenizer)
    }

    /// The source of the model's chat template.
    pub fn chat_template(&self) -> Result<String> {
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        let make = |out, error| unsafe { sys::mlxrocm_model_get_chat_template(self.0.get(), out, error) };
        let template = TemplateHandle::make(make)?;
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        filled_text(|text, capacity, needed, error| unsafe {
            sys::mlxrocm_chat_template_source(template.get(), text, capacity, needed, error)
        })
    }

    /// A chat as the text of a prompt that the model answers; encode it with `parse_special`.
    pub fn render_chat(&self, messages: &[Message]) -> Result<String> {
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        let make = |out, error| unsafe { sys::mlxrocm_model_get_chat_template(self.0.get(), out, error) };
        let template = TemplateHandle::make(make)?;
        let messages = borrowed(messages);
        let flags = sys::MLXROCM_RENDER_GENERATION_PROMPT;
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        filled_text(|text, capacity, needed, error| unsafe {
            let (list, count) = (messages.as_ptr(), messages.len());
            let (template, extra) = (template.get(), null());
            sys::mlxrocm_chat_template_render(template, list, count, flags, extra, 0, text, capacity, needed, error)
        })
    }
}

/// Facts about a tokenizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TokenizerInfo {
    pub vocab_size: u32,
    pub bos: Option<u32>,
    pub eos: Option<u32>,
}

fn token(number: u32) -> Option<u32> {
    (number != sys::MLXROCM_NO_TOKEN).then_some(number)
}

/// A model's tokenizer, immutable.
#[derive(Debug)]
pub struct Tokenizer(TokenizerHandle);

impl Tokenizer {
    /// Tokens of a text. `parse_special` reads spelled-out special tokens: not for text of strangers.
    pub fn encode(&self, text: &str, add_special: bool, parse_special: bool) -> Result<Vec<u32>> {
        let flags = if add_special { sys::MLXROCM_ENCODE_ADD_SPECIAL } else { 0 }
            | if parse_special { sys::MLXROCM_ENCODE_PARSE_SPECIAL } else { 0 };
        let encode = |tokens: *mut u32, capacity, needed: &mut usize| {
            // SAFETY: live handles, and pointers with the lengths of what they point to.
            call(|error| unsafe {
                let (start, length) = (text.as_ptr().cast(), text.len());
                sys::mlxrocm_tokenizer_encode(self.0.get(), start, length, flags, tokens, capacity, needed, error)
            })
        };
        let mut needed = 0;
        encode(null_mut(), 0, &mut needed)?;
        let mut tokens = vec![0; needed];
        if needed > 0 {
            encode(tokens.as_mut_ptr(), tokens.len(), &mut needed)?;
        }
        Ok(tokens)
    }

    /// Tokens are 0 to `vocab_size` - 1; those that begin and end a text.
    pub fn info(&self) -> Result<TokenizerInfo> {
        // SAFETY: zero is a value of each field: numbers.
        let mut info: sys::mlxrocm_tokenizer_info = unsafe { zeroed() };
        info.struct_size = size_of_val(&info) as u32;
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        call(|error| unsafe { sys::mlxrocm_tokenizer_get_info(self.0.get(), &mut info, error) })?;
        Ok(TokenizerInfo { vocab_size: info.vocab_size, bos: token(info.bos), eos: token(info.eos) })
    }

    /// The token of an exact spelling like "<|im_end|>".
    pub fn find(&self, spelling: &str) -> Result<Option<u32>> {
        let mut found = 0;
        let (start, length) = (spelling.as_ptr().cast(), spelling.len());
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        call(|error| unsafe { sys::mlxrocm_tokenizer_find_token(self.0.get(), start, length, &mut found, error) })?;
        Ok(token(found))
    }

    /// Whether a token is a control token that ordinary text never contains.
    pub fn is_special(&self, token: u32) -> Result<bool> {
        let mut special = 0;
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        call(|error| unsafe { sys::mlxrocm_tokenizer_is_special(self.0.get(), token, &mut special, error) })?;
        Ok(special != 0)
    }

    /// The bytes that a token stands for; they may be a part of a character.
    pub fn token_bytes(&self, token: u32) -> Result<Vec<u8>> {
        filled(|bytes, capacity, needed, error| {
            // SAFETY: live handles, and pointers with the lengths of what they point to.
            unsafe { sys::mlxrocm_tokenizer_token_bytes(self.0.get(), token, bytes, capacity, needed, error) }
        })
    }

    /// The text of tokens.
    pub fn decode(&self, tokens: &[u32], skip_special: bool) -> Result<String> {
        let flags = u32::from(skip_special) * sys::MLXROCM_DECODE_SKIP_SPECIAL;
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        filled_text(|text, capacity, needed, error| unsafe {
            let (list, count) = (tokens.as_ptr(), tokens.len());
            sys::mlxrocm_tokenizer_decode(self.0.get(), list, count, flags, text, capacity, needed, error)
        })
    }
}

/// One message of a chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// "system", "user", "assistant" …
    pub role: String,
    pub content: String,
}

impl Message {
    pub fn new(role: impl Into<String>, content: impl Into<String>) -> Message {
        Message { role: role.into(), content: content.into() }
    }

    pub fn user(content: impl Into<String>) -> Message {
        Message::new("user", content)
    }

    pub fn system(content: impl Into<String>) -> Message {
        Message::new("system", content)
    }

    pub fn assistant(content: impl Into<String>) -> Message {
        Message::new("assistant", content)
    }
}

/// Messages as C has them: they borrow from the list.
pub(crate) fn borrowed(messages: &[Message]) -> Vec<sys::mlxrocm_message> {
    let one = |message: &Message| {
        let ((role, role_length), (content, content_length)) = (field(&message.role), field(&message.content));
        sys::mlxrocm_message { role, role_length, content, content_length }
    };
    messages.iter().map(one).collect()
}
