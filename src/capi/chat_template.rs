//! Chat templates: messages to the text of a prompt.

use super::boundary::{boundary, boundary_free, boundary_on};
use super::error::mlxrocm_error;
use super::handle::{self, Object};
use super::model::{ModelObject, mlxrocm_model};
use super::outputs::{Buffer, Output};
use super::status::mlxrocm_status;
use super::strings::{array, field_length, optional_utf8, renamed, text, utf8};
use super::symbols::since_0_1;
use super::tokenizer::check_flags;
use crate::model::Model;
use crate::text::{ChatTemplate, Message};
use crate::{Error, Result};
use std::ffi::c_char;
use std::sync::Arc;

/// Render flag: open the assistant's turn at the end, so that the model answers.
pub const MLXROCM_RENDER_GENERATION_PROMPT: u32 = 1;

/// A compiled chat template. Immutable: any thread.
pub struct mlxrocm_chat_template {
    _private: [u8; 0],
}

/// One message of a chat. This struct never grows.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mlxrocm_message {
    /// "system", "user", "assistant", "tool"...; UTF-8.
    pub role: *const c_char,
    /// Bytes of `role`; 0: it is NUL-terminated.
    pub role_length: usize,
    /// The text, UTF-8; bytes that are not UTF-8 become U+FFFD.
    pub content: *const c_char,
    /// Bytes of `content`; 0: it is NUL-terminated.
    pub content_length: usize,
}

struct ChatTemplateObject(Arc<ChatTemplate>);

impl Object for ChatTemplateObject {
    type Opaque = mlxrocm_chat_template;
    const NOUN: &'static str = "mlxrocm_chat_template";
}

/// Messages from C.
///
/// # Safety
/// `messages` is NULL or points to `count` messages whose texts are NULL or as long as they say.
pub(super) unsafe fn read_messages(
    messages: *const mlxrocm_message,
    count: usize,
) -> Result<Vec<Message>> {
    // SAFETY: the caller promises the array.
    let messages = unsafe { array(messages, count, "messages") }?;
    messages
        .iter()
        .enumerate()
        .map(|(i, message)| {
            let named =
                |field: &str, error| renamed(error, field, format!("messages[{i}].{field}"));
            let length = field_length(message.role_length);
            // SAFETY: the caller promises the text.
            let role = unsafe { utf8(message.role, length, "role") };
            let role = role.map_err(|error| named("role", error))?;
            let length = field_length(message.content_length);
            // SAFETY: the caller promises the text.
            let content = unsafe { text(message.content, length, "content") };
            let content = content.map_err(|error| named("content", error))?;
            Ok(Message {
                role: role.to_string(),
                content: content.into_owned(),
            })
        })
        .collect()
}

/// The model's chat template, or an error that says that it has none.
pub(super) fn of(model: &Model) -> Result<Arc<ChatTemplate>> {
    model.chat_template().cloned().ok_or_else(|| {
        Error::Unsupported(format!(
            "the model {} has no chat template: make one with mlxrocm_chat_template_new",
            model.info().name
        ))
    })
}

/// Gives a model's chat template.
///
/// - `model`: borrowed; the template keeps what it needs of it.
/// - `chat_template`: receives the template, owned: free it with mlxrocm_chat_template_free.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, UNSUPPORTED (the model has none). Any thread.
/// Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_model_get_chat_template(
    model: *const mlxrocm_model,
    chat_template: *mut *mut mlxrocm_chat_template,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(model, "model", error, |object: &ModelObject| {
        // SAFETY: the caller's pointer, as documented.
        let output = unsafe { Output::new(chat_template, "chat_template") }?;
        output.write(handle::publish(ChatTemplateObject(of(&object.model)?)));
        Ok(())
    })
}

/// Compiles a chat template (Jinja, with Python's string methods).
///
/// - `source`: UTF-8; copied.
/// - `source_length`: bytes of `source`, or MLXROCM_NUL.
/// - `bos`: spelling of the token that begins a text; UTF-8, copied; NULL: "".
/// - `bos_length`: bytes of `bos`, or MLXROCM_NUL.
/// - `eos`: spelling of the token that ends a text; UTF-8, copied; NULL: "".
/// - `eos_length`: bytes of `eos`, or MLXROCM_NUL.
/// - `chat_template`: receives the template, owned: free it with mlxrocm_chat_template_free.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, INVALID_FILE (a syntax error). Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_chat_template_new(
    source: *const c_char,
    source_length: usize,
    bos: *const c_char,
    bos_length: usize,
    eos: *const c_char,
    eos_length: usize,
    chat_template: *mut *mut mlxrocm_chat_template,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary(error, || {
        // SAFETY: the caller's text, as documented.
        let source = unsafe { utf8(source, source_length, "source") }?;
        // SAFETY: the caller's text, as documented.
        let bos = unsafe { optional_utf8(bos, bos_length, "bos") }?.unwrap_or_default();
        // SAFETY: the caller's text, as documented.
        let eos = unsafe { optional_utf8(eos, eos_length, "eos") }?.unwrap_or_default();
        // SAFETY: the caller's pointer, as documented.
        let output = unsafe { Output::new(chat_template, "chat_template") }?;
        let template = ChatTemplate::new(source, bos, eos)?;
        output.write(handle::publish(ChatTemplateObject(Arc::new(template))));
        Ok(())
    })
}

/// Writes a chat as the text of a prompt. Encode it with MLXROCM_ENCODE_PARSE_SPECIAL and without
/// MLXROCM_ENCODE_ADD_SPECIAL: the template has written all special tokens.
///
/// - `chat_template`: borrowed.
/// - `messages`: `count` messages, borrowed for the call.
/// - `count`: messages; 0 with messages in `chat_json`.
/// - `flags`: MLXROCM_RENDER_... together.
/// - `chat_json`: a JSON object of variables of the template, UTF-8, borrowed for the call; NULL: none. `messages`
///   and `tools` are as OpenAI's API writes them: content as a text or as parts of type text, which are put
///   together; tool_calls, whose arguments may be a text of JSON; tool_call_id; name; reasoning_content (thinking,
///   where the template says so); a role developer is system where the template does not know it. Others are as
///   they are, e.g. {"enable_thinking": false}.
/// - `chat_json_length`: bytes of `chat_json`, or MLXROCM_NUL.
/// - `text`: receives NUL-terminated UTF-8.
/// - `capacity`: bytes of `text`; 0: only measure.
/// - `needed`: receives the bytes with the NUL, also when they do not fit; nullable unless
///   measuring.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (also what the template itself refuses),
/// BUFFER_TOO_SMALL. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_chat_template_render(
    chat_template: *const mlxrocm_chat_template,
    messages: *const mlxrocm_message,
    count: usize,
    flags: u32,
    chat_json: *const c_char,
    chat_json_length: usize,
    text: *mut c_char,
    capacity: usize,
    needed: *mut usize,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(
        chat_template,
        "chat_template",
        error,
        |object: &ChatTemplateObject| {
            // SAFETY: the caller's array, as documented.
            let messages = unsafe { read_messages(messages, count) }?;
            check_flags(flags, MLXROCM_RENDER_GENERATION_PROMPT, "flags")?;
            // SAFETY: the caller's text, as documented.
            let chat_json = unsafe { optional_utf8(chat_json, chat_json_length, "chat_json") }?;
            // SAFETY: the caller's buffer, as documented.
            let buffer = unsafe { Buffer::new(text, capacity, needed, "text") }?;
            let open = flags & MLXROCM_RENDER_GENERATION_PROMPT != 0;
            let chat_json = chat_json.unwrap_or_default();
            buffer.fill_text(object.0.render(&messages, open, chat_json)?.as_bytes())
        },
    )
}

/// Gives a chat template's source.
///
/// - `chat_template`: borrowed.
/// - `text`: receives NUL-terminated UTF-8.
/// - `capacity`: bytes of `text`; 0: only measure.
/// - `needed`: receives the bytes with the NUL, also when they do not fit; nullable unless
///   measuring.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, BUFFER_TOO_SMALL. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_chat_template_source(
    chat_template: *const mlxrocm_chat_template,
    text: *mut c_char,
    capacity: usize,
    needed: *mut usize,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(
        chat_template,
        "chat_template",
        error,
        |object: &ChatTemplateObject| {
            // SAFETY: the caller's buffer, as documented.
            let buffer = unsafe { Buffer::new(text, capacity, needed, "text") }?;
            buffer.fill_text(object.0.source().as_bytes())
        },
    )
}

/// Frees a chat template.
///
/// - `chat_template`: consumed; NULL is fine.
///
/// Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_chat_template_free(chat_template: *mut mlxrocm_chat_template) {
    boundary_free::<ChatTemplateObject>(chat_template)
}

since_0_1! {
    mlxrocm_model_get_chat_template mlxrocm_chat_template_new mlxrocm_chat_template_render
    mlxrocm_chat_template_source mlxrocm_chat_template_free
}
