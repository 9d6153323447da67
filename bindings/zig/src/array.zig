//! Lazy arrays; their operations are in operations.zig.

const std = @import("std");
const c = @import("c.zig").c;
const errors = @import("errors.zig");
const Device = @import("device.zig").Device;
const check = errors.check;
const Error = errors.Error;

pub const DType = enum(u32) {
    bool = c.MLXROCM_DTYPE_BOOL,
    uint8 = c.MLXROCM_DTYPE_UINT8,
    uint16 = c.MLXROCM_DTYPE_UINT16,
    uint32 = c.MLXROCM_DTYPE_UINT32,
    uint64 = c.MLXROCM_DTYPE_UINT64,
    int8 = c.MLXROCM_DTYPE_INT8,
    int16 = c.MLXROCM_DTYPE_INT16,
    int32 = c.MLXROCM_DTYPE_INT32,
    int64 = c.MLXROCM_DTYPE_INT64,
    float16 = c.MLXROCM_DTYPE_FLOAT16,
    float32 = c.MLXROCM_DTYPE_FLOAT32,
    float64 = c.MLXROCM_DTYPE_FLOAT64,
    bfloat16 = c.MLXROCM_DTYPE_BFLOAT16,
    complex64 = c.MLXROCM_DTYPE_COMPLEX64,
    _,

    /// The dtype of what Zig has of them. Truth values are read and written as u8.
    pub fn of(comptime T: type) DType {
        return switch (T) {
            u8 => .uint8,
            u16 => .uint16,
            u32 => .uint32,
            u64 => .uint64,
            i8 => .int8,
            i16 => .int16,
            i32 => .int32,
            i64 => .int64,
            f16 => .float16,
            f32 => .float32,
            f64 => .float64,
            std.math.Complex(f32) => .complex64,
            else => @compileError("an array does not hold " ++ @typeName(T)),
        };
    }
};

/// An n-dimensional array. Operations are lazy; arrays never change; any thread may use them. Owned: deinit frees it.
pub const Array = extern struct {
    handle: ?*c.mlxrocm_array,

    /// An array of a copy of elements, row after row.
    pub fn init(comptime T: type, elements: []const T, sizes: []const i64) Error!Array {
        var count: usize = 1;
        for (sizes) |one| {
            const wide = std.math.cast(usize, one) orelse return errors.refuse("Array.init: a size is negative");
            count = std.math.mul(usize, count, wide) catch return errors.refuse("Array.init: the shape is too large");
        }
        if (count != elements.len) return errors.refuse("Array.init: the elements do not fill the shape");
        var result: ?*c.mlxrocm_array = null;
        var failure: ?*c.mlxrocm_error = null;
        const dtype_number = @intFromEnum(DType.of(T));
        try check(c.mlxrocm_array_from_data(elements.ptr, sizes.ptr, sizes.len, dtype_number, &result, &failure), failure);
        return .{ .handle = result };
    }

    pub fn scalar(comptime T: type, value: T) Error!Array {
        return init(T, &.{value}, &.{});
    }

    pub fn deinit(self: Array) void {
        c.mlxrocm_array_free(self.handle);
    }

    pub fn dtype(self: Array) DType {
        return @enumFromInt(c.mlxrocm_array_dtype(self.handle));
    }

    /// The number of elements.
    pub fn size(self: Array) usize {
        return c.mlxrocm_array_size(self.handle);
    }

    pub fn rank(self: Array) usize {
        return c.mlxrocm_array_rank(self.handle);
    }

    /// The sizes, outermost first, in the part of `room_for` that they need.
    pub fn shape(self: Array, room_for: []i64) Error![]i64 {
        var needed: usize = 0;
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_array_shape(self.handle, room_for.ptr, room_for.len, &needed, &failure), failure);
        return room_for[0..needed];
    }

    /// The array on a device: what is computed of it is computed there. Lazy; reading works wherever it is.
    pub fn toDevice(self: Array, device: Device) Error!Array {
        var result: ?*c.mlxrocm_array = null;
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_array_to_device(self.handle, device.handle, &result, &failure), failure);
        return .{ .handle = result };
    }

    /// Reads the elements, row after row; T must be the dtype's, but u8 also reads truth values.
    pub fn read(self: Array, comptime T: type, elements: []T) Error!void {
        const same = self.dtype() == DType.of(T) or (T == u8 and self.dtype() == .bool);
        if (!same) return errors.refuse("Array.read: the array has another dtype: convert it with astype");
        if (elements.len != self.size()) return errors.refuse("Array.read: as many elements as the array has");
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_array_read(self.handle, elements.ptr, elements.len * @sizeOf(T), &failure), failure);
    }

    /// The only element.
    pub fn item(self: Array) Error!f64 {
        var value: f64 = 0;
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_array_item_f64(self.handle, &value, &failure), failure);
        return value;
    }
};

/// Computes the elements of arrays, all of them in one go.
pub fn eval(arrays: []const Array) Error!void {
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_eval(handles(arrays), arrays.len, &failure), failure);
}

// An Array is a handle and nothing else.
pub fn handles(arrays: []const Array) [*c]const ?*const c.mlxrocm_array {
    return @ptrCast(arrays.ptr);
}

pub fn places(results: []Array) [*c]?*c.mlxrocm_array {
    return @ptrCast(results.ptr);
}

pub fn room(results: []Array, needed: usize) Error!void {
    if (results.len != needed) return errors.refuse("there is one result for each part: `results` has another length");
}
