//! Devices, and what the library says about itself; any thread may use them.

const std = @import("std");
const c = @import("c.zig").c;
const errors = @import("errors.zig");
const filled = @import("filled.zig");
const check = errors.check;
const Error = errors.Error;

/// The version of the library that runs, "major.minor.patch", as long as the process runs.
pub fn version() []const u8 {
    var bytes: usize = 0;
    const text = c.mlxrocm_version_string(&bytes);
    return text[0..bytes];
}

/// One line about how the library was built, for bug reports, as long as the process runs.
pub fn buildInfo() []const u8 {
    var bytes: usize = 0;
    const text = c.mlxrocm_build_info(&bytes);
    return text[0..bytes];
}

/// The drivers that GPUs are used through.
pub const GpuKind = enum(u32) { hip = c.MLXROCM_DEVICE_HIP, cuda = c.MLXROCM_DEVICE_CUDA };

/// Why there is no GPU of a kind on this machine, and what to do about it, in one line, owned; "" if there is one.
pub fn whyNoGpu(allocator: std.mem.Allocator, kind: GpuKind) ![]u8 {
    return filled.text(allocator, c.mlxrocm_device_why_none, .{@intFromEnum(kind)});
}

/// Devices of this machine: the CPU, then GPUs.
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

    /// Sets the counter `peak` to what is in use now.
    pub fn resetPeakMemory(self: Device) Error!void {
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_device_reset_peak_memory(self.handle, &failure), failure);
    }

    /// Gives a GPU's freed memory back to the driver.
    pub fn trim(self: Device) Error!void {
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_device_trim(self.handle, &failure), failure);
    }

    /// When programs run as graphs.
    pub const Graphs = enum(u32) {
        /// Where these were found right and faster, unless the environment variable MLXROCM_GRAPHS says otherwise.
        auto = c.MLXROCM_GRAPHS_AUTO,
        /// Always, where the driver builds them.
        on = c.MLXROCM_GRAPHS_ON,
        /// Never: one launch after another.
        off = c.MLXROCM_GRAPHS_OFF,
    };

    /// Sets when programs run as graphs on a GPU; engine.Program.info tells what was chosen.
    pub fn setGraphs(self: Device, graphs: Graphs) Error!void {
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_device_set_graphs(self.handle, @intFromEnum(graphs), &failure), failure);
    }

    /// Hears a self-test's report.
    pub const Report = struct {
        context: ?*anyopaque = null,
        /// Called with each line, lent for the call, on the thread that tests. It says whether to go on: false ends the test
        /// with error.Cancelled.
        hear: *const fn (context: ?*anyopaque, line: []const u8) bool,

        fn run(line: [*c]const u8, length: usize, data: ?*anyopaque) callconv(.c) i32 {
            const self: *const Report = @ptrCast(@alignCast(data.?));
            return @intFromBool(!self.hear(self.context, line[0..length]));
        }
    };

    /// How to test a GPU.
    pub const SelftestOptions = struct {
        /// Hears the report, a text to attach to a bug.
        report: ?Report = null,
        /// Measure with small sizes and few rounds.
        quick: bool = false,
        /// Measure copies, reads, launches and allocations too.
        measure: bool = true,
        /// Of the random inputs; 0: a new one each time, which the report names.
        seed: u64 = 0,
    };

    /// Compares the built-in kernels of a GPU with plain forms, which takes seconds to a minute: error.SelftestFailed if it
    /// computes wrong results, and lastMessage() names the cases.
    pub fn selftest(self: Device, options: SelftestOptions) Error!void {
        var how = std.mem.zeroes(c.mlxrocm_selftest_options);
        how.struct_size = @sizeOf(c.mlxrocm_selftest_options);
        if (options.quick) how.flags |= c.MLXROCM_SELFTEST_QUICK;
        if (!options.measure) how.flags |= c.MLXROCM_SELFTEST_NO_MEASUREMENTS;
        how.seed = options.seed;
        if (options.report) |*report| {
            how.report = Report.run;
            how.user_data = @constCast(report);
        }
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_device_selftest(self.handle, &how, &failure), failure);
    }
};
