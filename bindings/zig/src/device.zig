//! Devices; any thread may use them.

const std = @import("std");
const c = @import("c.zig").c;
const errors = @import("errors.zig");
const check = errors.check;
const Error = errors.Error;

pub fn deviceCount() Error!usize {
    var count: usize = 0;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_device_count(&count, &failure), failure);
    return count;
}

pub const Device = struct {
    handle: *c.mlxrocm_device,

    /// Opens a device: 0 is the CPU, GPUs follow from 1.
    pub fn open(index: usize) Error!Device {
        var handle: ?*c.mlxrocm_device = null;
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_device_open(index, &handle, &failure), failure);
        return .{ .handle = handle.? };
    }

    pub fn deinit(self: Device) void {
        c.mlxrocm_device_free(self.handle);
    }

    /// Facts about the device; strings in it live as long as the device.
    pub fn info(self: Device) Error!c.mlxrocm_device_info {
        var facts = std.mem.zeroes(c.mlxrocm_device_info);
        facts.struct_size = @sizeOf(c.mlxrocm_device_info);
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_device_get_info(self.handle, &facts, &failure), failure);
        return facts;
    }

    /// A GPU's counters, in bytes.
    pub fn memory(self: Device) Error!c.mlxrocm_device_memory {
        var counters = std.mem.zeroes(c.mlxrocm_device_memory);
        counters.struct_size = @sizeOf(c.mlxrocm_device_memory);
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_device_get_memory(self.handle, &counters, &failure), failure);
        return counters;
    }

    /// Sets the most memory of a GPU that this process uses through the library.
    pub fn setMemoryLimit(self: Device, bytes: u64) Error!void {
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_device_set_memory_limit(self.handle, bytes, &failure), failure);
    }

    /// Gives a GPU's freed memory back to the driver.
    pub fn trim(self: Device) Error!void {
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_device_trim(self.handle, &failure), failure);
    }
};
