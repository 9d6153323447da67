//! Functions and filters that chat templates expect.

use minijinja::{Environment, Error, ErrorKind};

/// Adds them.
pub(super) fn register(environment: &mut Environment<'static>) {
    environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
    environment.add_function("raise_exception", |message: String| {
        Err::<String, _>(Error::new(ErrorKind::InvalidOperation, message))
    });
}
