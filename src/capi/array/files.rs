//! One array in an npy file: loading; see `map` for files of several.

use super::functions::array_functions;
use crate::array::Array;

array_functions! {
    /// The array of an npy file (numpy's). Its elements stay in the file, which is mapped: do not truncate it
    /// meanwhile; mlxrocm_array_save replaces it as a whole. Also fails with IO, INVALID_FILE (damaged) and
    /// UNSUPPORTED (elements of no dtype).
    /// - `path`: as the operating system spells it, borrowed for the call.
    fn mlxrocm_array_load(path path[path_length]) -> result = Array::load_npy(path);
}
