//! What the text of an answer must be, where a request says it.

use crate::error::{ApiError, Result};
use crate::fields::Fields;
use mlxrocm_rs::Request;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::HashMap;

/// What a text must be, in a notation that the library reads.
pub struct Format<'a> {
    /// The field of the request that says it.
    pub field: &'static str,
    notation: Notation,
    text: Cow<'a, str>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Notation {
    JsonSchema,
    Regex,
    Grammar,
}

impl<'a> Format<'a> {
    /// `response_format`, or one of the fields that OpenAI's API does not have. `None`: any text.
    pub fn read(fields: &Fields<'a>) -> Result<Option<Format<'a>>> {
        let text = |field, notation| {
            let text = fields.get::<String>(field);
            text.map(|text| text.map(|text| Format { field, notation, text: text.into() }))
        };
        let schema = fields.raw("json_schema").map(|schema| Format::schema("json_schema", "", schema)).transpose()?;
        let regex = text("regex", Notation::Regex)?;
        let grammar = text("grammar", Notation::Grammar)?;
        let mut all = [response_format(fields)?, schema, regex, grammar].into_iter().flatten();
        let (first, second) = (all.next(), all.next());
        match (&first, second) {
            (Some(first), Some(second)) => {
                let message = format!("{} says already what the text must be", first.field);
                Err(ApiError::field(second.field, message))
            }
            _ => Ok(first),
        }
    }

    fn schema(field: &'static str, member: &str, schema: &'a str) -> Result<Format<'a>> {
        if !schema.starts_with(['{', 't', 'f']) {
            return Err(ApiError::field(field, format!("{member}a schema is an object, true or false")));
        }
        Ok(Format { field, notation: Notation::JsonSchema, text: schema.into() })
    }

    /// A grammar that was made of what the field says.
    pub fn of_grammar(field: &'static str, grammar: String) -> Format<'static> {
        Format { field, notation: Notation::Grammar, text: grammar.into() }
    }

    /// The schema of `response_format`.
    pub fn response_schema(&self) -> Option<&str> {
        (self.field == RESPONSE_FORMAT && self.notation == Notation::JsonSchema).then_some(&self.text)
    }

    pub fn add_to(&self, request: Request) -> Request {
        match self.notation {
            Notation::JsonSchema => request.json_schema(&*self.text),
            Notation::Regex => request.regex(&*self.text),
            Notation::Grammar => request.grammar(&*self.text),
        }
    }

    /// The library's error with the name of the request's field instead of the library's.
    pub fn name(&self, error: ApiError) -> ApiError {
        let own = match self.notation {
            Notation::JsonSchema => "json_schema",
            Notation::Regex => "regex",
            Notation::Grammar => "grammar",
        };
        match error.message.strip_prefix(own) {
            Some(rest) => {
                ApiError { message: format!("{}{rest}", self.field), param: Some(self.field.into()), ..error }
            }
            None => error,
        }
    }
}

pub const RESPONSE_FORMAT: &str = "response_format";

fn response_format<'a>(fields: &Fields<'a>) -> Result<Option<Format<'a>>> {
    let wrong = |message: String| ApiError::field(RESPONSE_FORMAT, message);
    let Some(json) = fields.raw(RESPONSE_FORMAT) else { return Ok(None) };
    let object = |json: &'a str, member| {
        let object = serde_json::from_str::<HashMap<String, &'a RawValue>>(json);
        object.map_err(|error| wrong(format!("{member}{error}")))
    };
    let format = object(json, "")?;
    let kind = format.get("type").map_or("null", |kind| kind.get());
    match serde_json::from_str::<String>(kind).unwrap_or_default().as_str() {
        "text" => Ok(None),
        "json_object" => Format::schema(RESPONSE_FORMAT, "", r#"{"type": "object"}"#).map(Some),
        "json_schema" => {
            let named = format.get("json_schema").map_or("{}", |named| named.get());
            let schema = object(named, "json_schema: ")?.get("schema").map_or("null", |schema| schema.get());
            if schema == "null" {
                return Err(wrong("json_schema.schema is missing".into()));
            }
            Format::schema(RESPONSE_FORMAT, "json_schema.schema: ", schema).map(Some)
        }
        _ => Err(wrong("type is none of text, json_object and json_schema".into()).code("unsupported_parameter")),
    }
}
