//! Version nodes of exported functions.

/// Gives each named function of this file the symbol version of the release that introduced it.
///
/// The directive acts on the object file that defines the function, so the macro is used in the
/// file of the functions. Without a linker that can do it (see `build.rs`), it does nothing.
macro_rules! since_0_1 {
    ($($function:ident)*) => {$(
        #[cfg(mlxrocm_symbol_versions)]
        core::arch::global_asm!(concat!(
            ".symver ", stringify!($function), ", ", stringify!($function), "@@@MLXROCM_0.1"
        ));
    )*};
}
pub(super) use since_0_1;
