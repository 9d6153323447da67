//! Recorded programs of a GPU; any thread may use them. deinit frees each, also before its runs are done.

const std = @import("std");
const c = @import("c.zig").c;
const engine = @import("engine.zig");
const errors = @import("errors.zig");
const filled = @import("filled.zig");
const launching = @import("launch.zig");
const Device = @import("device.zig").Device;
const In = launching.In;
const Out = launching.Out;
const check = errors.check;
const Error = errors.Error;

/// Launches, copies and fills that are recorded once, ordered by what each reads and writes, and run often.
pub const Program = struct {
    handle: *c.mlxrocm_program,

    /// Begins to record for a GPU; it keeps the device alive.
    pub fn init(device: Device) Error!Program {
        var handle: ?*c.mlxrocm_program = null;
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_program_new(device.handle, &handle, &failure), failure);
        return .{ .handle = handle.? };
    }

    /// Frees it; its queued runs go on.
    pub fn deinit(self: Program) void {
        c.mlxrocm_program_free(self.handle);
    }

    /// Records a kernel with a tuple of its arguments, as Stream.launch queues one.
    pub fn launch(self: Program, kernel: engine.Kernel, grid: launching.Grid, args: anytype) Error!void {
        const made = launching.list(args);
        const how = launching.launchOf(grid, &made);
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_program_launch(self.handle, kernel.handle, &how, &failure), failure);
    }

    /// Records a copy of bytes between two buffers of device memory, or two parts of one that do not overlap.
    pub fn copy(self: Program, target: Out, source: In, bytes: u64) Error!void {
        const to, const from = .{ target.buffer.handle, source.buffer.handle };
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_program_copy(self.handle, to, target.offset, from, source.offset, bytes, &failure), failure);
    }

    /// Records a fill of bytes of device memory.
    pub fn fill(self: Program, target: Out, bytes: u64, value: u8) Error!void {
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_program_fill(self.handle, target.buffer.handle, target.offset, bytes, value, &failure), failure);
    }

    /// What is recorded after this runs after all that was before.
    pub fn barrier(self: Program) Error!void {
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_program_barrier(self.handle, &failure), failure);
    }

    /// Ends the recording; from then on it can be run.
    pub fn end(self: Program) Error!void {
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_program_end(self.handle, &failure), failure);
    }

    /// One launch after another, or replayed by the driver as a graph.
    pub const Mode = enum(u32) { direct = c.MLXROCM_PROGRAM_DIRECT, graph = c.MLXROCM_PROGRAM_GRAPH, _ };

    /// Why a mode was chosen.
    pub const Reason = enum(u32) {
        /// Device.setGraphs or the environment says so.
        setting = c.MLXROCM_REASON_SETTING,
        /// Both ways were compared and timed.
        compared = c.MLXROCM_REASON_COMPARED,
        /// They were not compared yet.
        not_compared = c.MLXROCM_REASON_NOT_COMPARED,
        /// The driver made no graph of it.
        not_built = c.MLXROCM_REASON_NOT_BUILT,
        _,
    };

    /// Facts, and how the next run goes.
    pub const Info = struct {
        mode: Mode,
        reason: Reason,
        /// Compared: whether replays gave the same bits as direct launches.
        same_bits: bool,
        /// Launches, copies and fills.
        nodes: u64,
        /// Pairs of them of which one must wait for the other, without those that others imply.
        edges: u64,
        /// Compared: nanoseconds of a direct run of the program that was compared, and of a replay of it.
        direct_ns: u64,
        graph_ns: u64,
    };

    /// Facts about a program whose recording has ended.
    pub fn info(self: Program) Error!Info {
        var facts = std.mem.zeroes(c.mlxrocm_program_info);
        facts.struct_size = @sizeOf(c.mlxrocm_program_info);
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_program_get_info(self.handle, &facts, &failure), failure);
        return .{
            .mode = @enumFromInt(facts.mode),
            .reason = @enumFromInt(facts.reason),
            .same_bits = facts.same_bits != 0,
            .nodes = facts.nodes,
            .edges = facts.edges,
            .direct_ns = facts.direct_ns,
            .graph_ns = facts.graph_ns,
        };
    }

    /// How the next run goes, and why, in words, owned.
    pub fn explain(self: Program, allocator: std.mem.Allocator) ![]u8 {
        return filled.text(allocator, c.mlxrocm_program_explain, .{self.handle});
    }
};
