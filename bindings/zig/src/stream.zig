//! Streams of a GPU and marks in them; any thread may use them. deinit frees each, in any order: work that was queued keeps
//! what it needs.

const std = @import("std");
const c = @import("c.zig").c;
const engine = @import("engine.zig");
const errors = @import("errors.zig");
const launching = @import("launch.zig");
const Device = @import("device.zig").Device;
const In = launching.In;
const Out = launching.Out;
const check = errors.check;
const Error = errors.Error;

/// A mark in a stream's queue, which Stream.record sets. (mlxrocm.Event is one of a generation.)
pub const Event = struct {
    handle: *c.mlxrocm_gpu_event,

    /// An event of a GPU, not recorded yet; it keeps the device alive.
    pub fn init(device: Device) Error!Event {
        var handle: ?*c.mlxrocm_gpu_event = null;
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_gpu_event_new(device.handle, &handle, &failure), failure);
        return .{ .handle = handle.? };
    }

    /// Frees it; streams that wait for it still do.
    pub fn deinit(self: Event) void {
        c.mlxrocm_gpu_event_free(self.handle);
    }

    /// Waits until the work before the mark is done, not at all if there is none; error.Timeout after so many nanoseconds,
    /// if any, and the work goes on. A fault of that work is error.DeviceFailed.
    pub fn wait(self: Event, timeout_ns: ?u63) Error!void {
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_gpu_event_wait(self.handle, timeout_ns orelse -1, &failure), failure);
    }

    /// Whether the work before the mark is done; so it is if nothing was marked.
    pub fn isDone(self: Event) Error!bool {
        var failure: ?*c.mlxrocm_error = null;
        const status = c.mlxrocm_gpu_event_query(self.handle, &failure);
        try check(status, failure);
        return status == c.MLXROCM_OK;
    }

    /// The GPU's time in milliseconds between two marks of one device; error.InvalidArgument if it has not passed both.
    pub fn millisecondsSince(self: Event, earlier: Event) Error!f64 {
        var milliseconds: f64 = 0;
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_gpu_event_elapsed(earlier.handle, self.handle, &milliseconds, &failure), failure);
        return milliseconds;
    }
};

/// A queue of work that a GPU does in order. What fails while it runs comes out of the next wait.
pub const Stream = struct {
    handle: *c.mlxrocm_stream,

    /// A stream of a GPU; it keeps the device alive.
    pub fn init(device: Device) Error!Stream {
        var handle: ?*c.mlxrocm_stream = null;
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_stream_new(device.handle, &handle, &failure), failure);
        return .{ .handle = handle.? };
    }

    /// Frees it; its queued work goes on.
    pub fn deinit(self: Stream) void {
        c.mlxrocm_stream_free(self.handle);
    }

    /// Queues a kernel with a tuple of its arguments: Buffer (read and written), In, Out, and numbers of its own types.
    pub fn launch(self: Stream, kernel: engine.Kernel, grid: launching.Grid, args: anytype) Error!void {
        const made = launching.list(args);
        const how = launching.launchOf(grid, &made);
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_stream_launch(self.handle, kernel.handle, &how, &failure), failure);
    }

    /// Queues a copy of bytes between two buffers, of which one may be pinned: leave that alone until the copy is done.
    pub fn copy(self: Stream, target: Out, source: In, bytes: u64) Error!void {
        const to, const from = .{ target.buffer.handle, source.buffer.handle };
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_stream_copy(self.handle, to, target.offset, from, source.offset, bytes, &failure), failure);
    }

    /// Queues a fill of bytes of a buffer.
    pub fn fill(self: Stream, target: Out, bytes: u64, value: u8) Error!void {
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_stream_fill(self.handle, target.buffer.handle, target.offset, bytes, value, &failure), failure);
    }

    /// Queues a write of elements to device memory. They are taken before it returns: the host may change them at once.
    pub fn write(self: Stream, comptime T: type, target: Out, elements: []const T) Error!void {
        const bytes = std.mem.sliceAsBytes(elements);
        const to = target.buffer.handle;
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_stream_write(self.handle, to, target.offset, bytes.ptr, bytes.len, &failure), failure);
    }

    /// Reads elements of device memory after the work that is queued, and waits until they are there. If it fails, what
    /// `elements` hold is undefined.
    pub fn read(self: Stream, comptime T: type, source: In, elements: []T) Error!void {
        const bytes = std.mem.sliceAsBytes(elements);
        const from = source.buffer.handle;
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_stream_read(self.handle, from, source.offset, bytes.ptr, bytes.len, &failure), failure);
    }

    /// Marks this point of the queue; an earlier mark of the event is forgotten.
    pub fn record(self: Stream, event: Event) Error!void {
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_stream_record(self.handle, event.handle, &failure), failure);
    }

    /// What is queued from now on starts after the work before the event's mark, on whatever stream that was; one without
    /// a mark is not waited for.
    pub fn waitFor(self: Stream, event: Event) Error!void {
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_stream_wait_for(self.handle, event.handle, &failure), failure);
    }

    /// Whether all queued work is done. A fault of it is kept for the next wait.
    pub fn isDone(self: Stream) Error!bool {
        var failure: ?*c.mlxrocm_error = null;
        const status = c.mlxrocm_stream_query(self.handle, &failure);
        try check(status, failure);
        return status == c.MLXROCM_OK;
    }

    /// Queues a run of a program.
    pub fn run(self: Stream, program: engine.Program) Error!void {
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_program_run(program.handle, self.handle, &failure), failure);
    }

    /// Waits for all queued work; error.Timeout after so many nanoseconds, if any, and the work goes on.
    pub fn wait(self: Stream, timeout_ns: ?u63) Error!void {
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_stream_wait(self.handle, timeout_ns orelse -1, &failure), failure);
    }
};
