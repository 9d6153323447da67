//! Errors as OpenAI's API writes them.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use mlxrocm_rs::Status;
use serde::Serialize;

/// An answer that is an error.
#[derive(Debug)]
pub struct ApiError {
    pub status: StatusCode,
    pub message: String,
    /// The field of the request that is wrong.
    pub param: Option<String>,
    /// A word for programs.
    pub code: Option<&'static str>,
}

pub type Result<T> = std::result::Result<T, ApiError>;

impl ApiError {
    pub fn new(status: StatusCode, message: impl Into<String>) -> ApiError {
        ApiError { status, message: message.into(), param: None, code: None }
    }

    /// A request that is wrong.
    pub fn invalid(message: impl Into<String>) -> ApiError {
        ApiError::new(StatusCode::BAD_REQUEST, message)
    }

    /// A field of a request that is wrong.
    pub fn field(name: &str, message: impl std::fmt::Display) -> ApiError {
        ApiError { param: Some(name.into()), ..ApiError::invalid(format!("{name}: {message}")) }
    }

    /// A request for another model than `name`.
    pub fn no_model(model: &str, name: &str) -> ApiError {
        let message = format!("there is no model {model:?}: this server has {name:?}");
        ApiError { param: Some("model".into()), ..ApiError::new(StatusCode::NOT_FOUND, message) }
            .code("model_not_found")
    }

    pub fn code(mut self, code: &'static str) -> ApiError {
        self.code = Some(code);
        self
    }

    /// The JSON object.
    pub fn body(&self) -> String {
        #[derive(Serialize)]
        struct Outer<'a> {
            error: Inner<'a>,
        }
        #[derive(Serialize)]
        struct Inner<'a> {
            message: &'a str,
            r#type: &'a str,
            param: Option<&'a str>,
            code: Option<&'a str>,
        }
        let kind = match self.status {
            StatusCode::TOO_MANY_REQUESTS => "rate_limit_error",
            status if status.is_server_error() => "server_error",
            _ => "invalid_request_error",
        };
        let error = Inner { message: &self.message, r#type: kind, param: self.param.as_deref(), code: self.code };
        crate::json(&Outer { error })
    }
}

impl From<mlxrocm_rs::Error> for ApiError {
    fn from(error: mlxrocm_rs::Error) -> ApiError {
        // The library has a list of what is an object of tokens here.
        let bias = error.message.strip_prefix("bias_tokens[").and_then(|rest| rest.split_once("] is "));
        if let Some((_, wrong)) = bias {
            return ApiError::field("logit_bias", wrong);
        }
        match error.status {
            Status::ContextFull => ApiError::invalid(error.message).code("context_length_exceeded"),
            Status::InvalidArgument | Status::Unsupported => ApiError::invalid(error.message),
            _ => ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, error.message),
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = json_response(self.status, self.body());
        let headers = response.headers_mut();
        match self.status {
            StatusCode::TOO_MANY_REQUESTS => drop(headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"))),
            StatusCode::UNAUTHORIZED => {
                headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            // What is left of the body is not read.
            StatusCode::REQUEST_TIMEOUT | StatusCode::PAYLOAD_TOO_LARGE => {
                headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
            }
            _ => {}
        }
        response
    }
}

/// A response that is JSON.
pub fn json_response(status: StatusCode, body: String) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], Body::from(body)).into_response()
}
