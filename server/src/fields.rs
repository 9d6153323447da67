//! The fields of a request's body, read one by one, so that an error names its field.

use crate::error::{ApiError, Result};
use mlxrocm_rs::Request;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::ops::RangeInclusive;

/// Strings that may end an answer.
const MOST_STOPS: usize = 16;

/// A JSON object whose values are not read yet.
pub struct Fields<'a>(HashMap<String, &'a RawValue>);

/// One value or several.
#[derive(Deserialize)]
#[serde(untagged)]
pub enum OneOrMany<T> {
    One(T),
    Many(Vec<T>),
}

impl<T> OneOrMany<T> {
    pub fn list(self) -> Vec<T> {
        match self {
            OneOrMany::One(one) => vec![one],
            OneOrMany::Many(many) => many,
        }
    }
}

/// A text, or its tokens.
pub enum Prompt {
    Text(String),
    Tokens(Vec<u32>),
}

/// The forms in which one or several come.
#[derive(Deserialize)]
#[serde(untagged)]
enum Prompts {
    Text(String),
    Texts(Vec<String>),
    Tokens(Vec<u32>),
    ManyTokens(Vec<Vec<u32>>),
}

impl<'a> Fields<'a> {
    pub fn read(body: &'a [u8]) -> Result<Fields<'a>> {
        serde_json::from_slice(body)
            .map(Fields)
            .map_err(|error| ApiError::invalid(format!("the body is no JSON object: {error}")))
    }

    /// The JSON of a field; `None` where it is absent or null.
    pub fn raw(&self, name: &str) -> Option<&'a str> {
        self.0.get(name).map(|value| value.get()).filter(|value| *value != "null")
    }

    pub fn get<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>> {
        let read = |json| serde_json::from_str(json).map_err(|error| ApiError::field(name, error));
        self.raw(name).map(read).transpose()
    }

    /// Texts or lists of tokens, at least one and at most `most`.
    pub fn prompts(&self, name: &str, most: usize) -> Result<Vec<Prompt>> {
        let json = self.raw(name).ok_or_else(|| ApiError::field(name, "missing"))?;
        let prompts = serde_json::from_str(json)
            .map_err(|_| ApiError::field(name, "neither a text, nor texts, nor tokens, nor lists of tokens"))?;
        let prompts: Vec<Prompt> = match prompts {
            Prompts::Text(text) => vec![Prompt::Text(text)],
            Prompts::Texts(texts) => texts.into_iter().map(Prompt::Text).collect(),
            Prompts::Tokens(tokens) => vec![Prompt::Tokens(tokens)],
            Prompts::ManyTokens(all) => all.into_iter().map(Prompt::Tokens).collect(),
        };
        if prompts.is_empty() || prompts.len() > most {
            return Err(ApiError::field(name, format!("{} of them; 1 to {most}", prompts.len())));
        }
        Ok(prompts)
    }

    fn real(&self, name: &str, range: RangeInclusive<f32>) -> Result<Option<f32>> {
        let value = self.get::<f32>(name)?;
        match value {
            Some(value) if !range.contains(&value) => {
                Err(ApiError::field(name, format!("{value} is not from {} to {}", range.start(), range.end())))
            }
            value => Ok(value),
        }
    }

    pub fn count(&self, name: &str, range: RangeInclusive<u32>) -> Result<Option<u32>> {
        let value = self.get::<i64>(name)?;
        let number = value.map(|value| u32::try_from(value).ok().filter(|number| range.contains(number)));
        match number {
            Some(None) => {
                let value = value.unwrap_or_default();
                Err(ApiError::field(name, format!("{value} is not from {} to {}", range.start(), range.end())))
            }
            number => Ok(number.flatten()),
        }
    }

    /// Fields that would change the answer and cannot be followed; each with the value that changes nothing.
    pub fn refuse(&self, fields: &[(&str, &str)]) -> Result<()> {
        for (name, harmless) in fields {
            // As values: blanks do not matter.
            let read = |json| serde_json::from_str::<Value>(json).ok();
            if self.raw(name).is_some_and(|value| read(value) != read(harmless)) {
                return Err(ApiError::field(name, "not supported").code("unsupported_parameter"));
            }
        }
        Ok(())
    }

    /// Is the model that is asked for this one?
    pub fn check_model(&self, name: &str) -> Result<()> {
        match self.get::<String>("model")? {
            Some(model) if model != name => Err(ApiError::no_model(&model, name)),
            _ => Ok(()),
        }
    }

    /// The seed, another one each time where none is given.
    pub fn seed(&self) -> Result<u64> {
        let seed = self.get::<i64>("seed")?.map(|seed| seed as u64);
        Ok(seed.unwrap_or_else(|| RandomState::new().hash_one(0)))
    }

    /// The request with what both ways of generating have in common.
    pub fn sampling(&self, request: Request, max_tokens: u32) -> Result<Request> {
        // As OpenAI's API has it: drawn at temperature 1.
        let temperature = self.real("temperature", 0.0..=2.0)?.unwrap_or(1.0);
        // The library's 0 is off; here it leaves the most probable token.
        let top_p = self.real("top_p", 0.0..=1.0)?.map_or(0.0, |p| p.max(f32::MIN_POSITIVE));
        // Other servers' -1 is off.
        let top_k = self.get::<i64>("top_k")?.unwrap_or(0).max(0);
        let top_k = u32::try_from(top_k).unwrap_or(0);
        let mut request = request
            .max_tokens(max_tokens)
            .temperature(temperature)
            .top_p(top_p)
            .top_k(top_k)
            .min_p(self.real("min_p", 0.0..=1.0)?.unwrap_or(0.0))
            .presence_penalty(self.real("presence_penalty", -2.0..=2.0)?.unwrap_or(0.0))
            .frequency_penalty(self.real("frequency_penalty", -2.0..=2.0)?.unwrap_or(0.0))
            .repetition_penalty(self.real("repetition_penalty", 0.01..=100.0)?.unwrap_or(0.0));
        if self.get::<bool>("ignore_eos")? == Some(true) {
            request = request.ignore_eos();
        }
        let stops = self.get::<OneOrMany<String>>("stop");
        let stops = stops.map_err(|_| ApiError::field("stop", "neither a text nor texts"))?;
        let stops = stops.map(OneOrMany::list).unwrap_or_default();
        if stops.len() > MOST_STOPS {
            return Err(ApiError::field("stop", format!("{} strings; {MOST_STOPS} at most", stops.len())));
        }
        for stop in stops {
            request = request.stop(stop);
        }
        let mut biases =
            self.get::<HashMap<u32, f32>>("logit_bias")?.unwrap_or_default().into_iter().collect::<Vec<_>>();
        biases.sort_by_key(|(token, _)| *token);
        for (token, bias) in biases {
            if !(-100.0..=100.0).contains(&bias) {
                return Err(ApiError::field("logit_bias", format!("{bias} is not from -100 to 100")));
            }
            request = request.bias(token, bias);
        }
        Ok(request)
    }
}
