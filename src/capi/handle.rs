//! Handles: the opaque pointers that C holds.
//!
//! A handle is the address of a boxed `Arc`. Every live address is in one table with its type, and
//! is looked up there before it is followed. So a freed handle, a handle of another type or any
//! other pointer is an error and never undefined behaviour, and a handle may be freed while another
//! thread is inside a call on it: that call holds an `Arc` of its own.

mod live;

use super::boundary::guarded;
use crate::log::{self, Level};
use crate::{Error, Result};
use live::Live;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A Rust type that C sees as an opaque type.
pub(super) trait Object: Send + Sync + 'static {
    /// The opaque C type.
    type Opaque;
    /// Its name in C; unique.
    const NOUN: &'static str;
}

/// What a handle refers to.
pub(super) struct Shared<T> {
    value: T,
    poisoned: AtomicBool,
}

/// Every live handle.
static LIVE: Live = Live::new();

/// A new handle, owned by the caller.
pub(super) fn publish<T: Object>(value: T) -> *mut T::Opaque {
    let shared = Arc::new(Shared {
        value,
        poisoned: AtomicBool::new(false),
    });
    let handle = Box::into_raw(Box::new(shared));
    LIVE.insert(handle.addr(), T::NOUN);
    handle.cast()
}

/// The object of a handle; `parameter` names it in errors.
pub(super) fn get<T: Object>(
    handle: *const T::Opaque,
    parameter: &'static str,
) -> Result<Arc<Shared<T>>> {
    with(handle, parameter, Arc::clone)
}

/// A copy of a handle's object, where that is cheap and cannot panic; `parameter` names the handle in errors.
pub(super) fn copy<T: Object + Clone>(
    handle: *const T::Opaque,
    parameter: &'static str,
) -> Result<T> {
    with(handle, parameter, |shared: &Arc<Shared<T>>| {
        shared.sound().cloned()
    })?
}

/// What `body` makes of what a handle refers to. No handle is made or freed meanwhile, so `body` is short and calls nobody.
fn with<T: Object, R>(
    handle: *const T::Opaque,
    parameter: &'static str,
    body: impl FnOnce(&Arc<Shared<T>>) -> R,
) -> Result<R> {
    if handle.is_null() {
        return Err(Error::NullArgument(parameter.into()));
    }
    LIVE.with(handle.addr(), |noun| match noun {
        Some(noun) if noun == T::NOUN => {
            // SAFETY: the address is in the table under this type, so `publish::<T>` made it, and
            // `free` cannot take it away while the table is locked.
            Ok(body(unsafe { &*handle.cast::<Arc<Shared<T>>>() }))
        }
        Some(noun) => Err(Error::InvalidArgument(format!(
            "{parameter} is a {noun}, a {} is needed",
            T::NOUN
        ))),
        None => Err(Error::InvalidArgument(format!(
            "{parameter} is not a live {}: it was freed, or this library never returned it",
            T::NOUN
        ))),
    })
}

/// Gives a handle back. NULL is fine; a pointer that is not a live handle of this type is logged
/// and otherwise ignored.
pub(super) fn free<T: Object>(handle: *mut T::Opaque) {
    if handle.is_null() {
        return;
    }
    if !LIVE.remove(handle.addr(), T::NOUN) {
        log::write(Level::Error, || {
            format!("{}_free: the pointer is not a live {}", T::NOUN, T::NOUN)
        });
        return;
    }
    // SAFETY: the address was in the table under this type, so `publish::<T>` made it; it was
    // removed just now under the lock, so nobody else can take it.
    drop(unsafe { Box::from_raw(handle.cast::<Arc<Shared<T>>>()) });
}

impl<T: Object> Shared<T> {
    /// The object, also when it is poisoned: for what stays valid after a failure.
    pub(super) fn value(&self) -> &T {
        &self.value
    }

    /// The object, unless a panic poisoned it.
    fn sound(&self) -> Result<&T> {
        match self.poisoned.load(Ordering::Acquire) {
            false => Ok(&self.value),
            true => Err(Error::Poisoned(format!(
                "this {} had an internal error before and can only be freed",
                T::NOUN
            ))),
        }
    }

    /// Runs `body` on the object. A panic poisons it: its state may be half changed.
    pub(super) fn run<R>(&self, body: impl FnOnce(&T) -> Result<R>) -> Result<R> {
        let value = self.sound()?;
        match guarded(|| body(value)) {
            Err(Error::Internal(message)) => {
                self.poisoned.store(true, Ordering::Release);
                Err(Error::Internal(message))
            }
            result => result,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Counter(Arc<()>);
    struct Opaque;
    impl Object for Counter {
        type Opaque = Opaque;
        const NOUN: &'static str = "mlxrocm_test_counter";
    }
    struct Other;
    impl Object for Other {
        type Opaque = Opaque;
        const NOUN: &'static str = "mlxrocm_test_other";
    }

    #[test]
    fn null_wrong_type_and_freed_handles_are_errors() {
        let alive = Arc::new(());
        assert_eq!(
            get::<Counter>(std::ptr::null(), "counter").err(),
            Some(Error::NullArgument("counter".into()))
        );
        let handle = publish(Counter(alive.clone()));
        assert_eq!(
            Arc::strong_count(&get::<Counter>(handle, "c").unwrap().value.0),
            2
        );
        let wrong = get::<Other>(handle, "other").err().unwrap().to_string();
        assert!(wrong.contains("other is a mlxrocm_test_counter"), "{wrong}");
        free::<Other>(handle);
        assert_eq!(Arc::strong_count(&alive), 2, "the wrong free must not free");
        let held = get::<Counter>(handle, "c").unwrap();
        free::<Counter>(handle);
        assert_eq!(
            Arc::strong_count(&alive),
            2,
            "a call in progress keeps the object"
        );
        drop(held);
        assert_eq!(Arc::strong_count(&alive), 1);
        assert!(get::<Counter>(handle, "c").is_err());
        free::<Counter>(handle);
        free::<Counter>(std::ptr::null_mut());
    }

    #[test]
    fn a_panic_poisons_only_its_handle() {
        let first = publish(Counter(Arc::new(())));
        let second = publish(Counter(Arc::new(())));
        let shared = get::<Counter>(first, "c").unwrap();
        let panicked = shared.run::<()>(|_| panic!("on purpose"));
        assert_eq!(panicked, Err(Error::Internal("on purpose".into())));
        assert!(matches!(shared.run(|_| Ok(())), Err(Error::Poisoned(_))));
        let other = get::<Counter>(second, "c").unwrap();
        assert_eq!(other.run(|_| Ok(7)), Ok(7));
        free::<Counter>(first);
        free::<Counter>(second);
    }
}
