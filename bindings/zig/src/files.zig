//! Files of several arrays: safetensors and GGUF.

const c = @import("c.zig").c;
const errors = @import("errors.zig");
const Array = @import("array.zig").Array;
const check = errors.check;
const Error = errors.Error;

/// Arrays and texts of metadata by their names. Any thread; deinit frees it.
pub const ArrayMap = struct {
    handle: *c.mlxrocm_array_map,

    pub fn init() Error!ArrayMap {
        var handle: ?*c.mlxrocm_array_map = null;
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_array_map_new(&handle, &failure), failure);
        return .{ .handle = handle.? };
    }

    /// What a safetensors or GGUF file holds. Elements stay in the file until they are needed: do not truncate it
    /// meanwhile.
    pub fn load(path: []const u8) Error!ArrayMap {
        var handle: ?*c.mlxrocm_array_map = null;
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_array_map_load(path.ptr, path.len, &handle, &failure), failure);
        return .{ .handle = handle.? };
    }

    pub fn deinit(self: ArrayMap) void {
        c.mlxrocm_array_map_free(self.handle);
    }

    /// The number of arrays.
    pub fn count(self: ArrayMap) usize {
        return c.mlxrocm_array_map_count(self.handle);
    }

    /// The name of the array with a number below the count; it lives until the map is freed.
    pub fn name(self: ArrayMap, index: usize) ?[]const u8 {
        var length: usize = 0;
        const text = c.mlxrocm_array_map_name(self.handle, index, &length);
        return if (text == null) null else text[0..length];
    }

    /// The array of a name, owned.
    pub fn get(self: ArrayMap, key: []const u8) Error!Array {
        var result: ?*c.mlxrocm_array = null;
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_array_map_get(self.handle, key.ptr, key.len, &result, &failure), failure);
        return .{ .handle = result };
    }

    /// Puts an array in, in place of one of that name.
    pub fn set(self: ArrayMap, key: []const u8, array: Array) Error!void {
        if (array.handle == null) return errors.refuse("ArrayMap.set: the array is none");
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_array_map_set(self.handle, key.ptr, key.len, array.handle, &failure), failure);
    }

    /// A text of the metadata; it lives until the map is freed.
    pub fn metadata(self: ArrayMap, key: []const u8) ?[]const u8 {
        var length: usize = 0;
        const text = c.mlxrocm_array_map_metadata_text(self.handle, key.ptr, key.len, 0, &length);
        return if (text == null) null else text[0..length];
    }

    pub fn setMetadata(self: ArrayMap, key: []const u8, text: []const u8) Error!void {
        var failure: ?*c.mlxrocm_error = null;
        const set_metadata = c.mlxrocm_array_map_set_metadata;
        try check(set_metadata(self.handle, key.ptr, key.len, text.ptr, text.len, &failure), failure);
    }

    /// Writes all to a file, which is there whole or not at all.
    pub fn saveSafetensors(self: ArrayMap, path: []const u8) Error!void {
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_array_map_save_safetensors(self.handle, path.ptr, path.len, &failure), failure);
    }

    /// The same to a GGUF file.
    pub fn saveGguf(self: ArrayMap, path: []const u8) Error!void {
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_array_map_save_gguf(self.handle, path.ptr, path.len, &failure), failure);
    }
};
