//! The stand-in HIP runtime.
