//! Kernels of one's own on a GPU: memory, streams, compiled modules and recorded programs; any thread may use them.
//! deinit frees each, in any order: work that was queued keeps what it needs.

const std = @import("std");
const c = @import("c.zig").c;
const errors = @import("errors.zig");
const model = @import("model.zig");
const Device = @import("device.zig").Device;
const check = errors.check;
const Error = errors.Error;

/// Memory of a GPU, or pinned host memory that it can reach.
pub const Buffer = struct {
    handle: ?*c.mlxrocm_buffer,

    pub const Kind = enum(u32) { device = c.MLXROCM_BUFFER_DEVICE, pinned = c.MLXROCM_BUFFER_PINNED };

    /// So many bytes, whose content is undefined.
    pub fn init(device: Device, bytes: u64, kind: Kind) Error!Buffer {
        var handle: ?*c.mlxrocm_buffer = null;
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_buffer_new(device.handle, @intFromEnum(kind), bytes, &handle, &failure), failure);
        return .{ .handle = handle };
    }

    /// Frees the memory; the buffer is an error to every call from then on, and may be freed again.
    pub fn deinit(self: *Buffer) void {
        c.mlxrocm_buffer_free(self.handle);
        self.handle = null;
    }

    /// Its size in bytes, and where the GPU and, if it is pinned, the host see it.
    pub fn info(self: Buffer) Error!c.mlxrocm_buffer_info {
        var facts = std.mem.zeroes(c.mlxrocm_buffer_info);
        facts.struct_size = @sizeOf(c.mlxrocm_buffer_info);
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_buffer_get_info(self.handle, &facts, &failure), failure);
        return facts;
    }

    /// Copies elements to a byte offset, and waits until they are there.
    pub fn write(self: Buffer, comptime T: type, offset: u64, elements: []const T) Error!void {
        const bytes = std.mem.sliceAsBytes(elements);
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_buffer_write(self.handle, offset, bytes.ptr, bytes.len, &failure), failure);
    }

    /// Copies elements from a byte offset. It does not wait for work that is queued.
    pub fn read(self: Buffer, comptime T: type, offset: u64, elements: []T) Error!void {
        const bytes = std.mem.sliceAsBytes(elements);
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_buffer_read(self.handle, offset, bytes.ptr, bytes.len, &failure), failure);
    }
};

/// A buffer from a byte on that a kernel reads.
pub const In = struct { buffer: Buffer, offset: u64 = 0 };

/// A buffer from a byte on that a kernel writes.
pub const Out = struct { buffer: Buffer, offset: u64 = 0 };

fn argument(value: anytype) c.mlxrocm_arg {
    return switch (@TypeOf(value)) {
        Buffer => c.mlxrocm_arg_buffer(value.handle, 0),
        In => c.mlxrocm_arg_input(value.buffer.handle, value.offset),
        Out => c.mlxrocm_arg_output(value.buffer.handle, value.offset),
        u32 => c.mlxrocm_arg_u32(value),
        i32 => c.mlxrocm_arg_i32(value),
        f32 => c.mlxrocm_arg_f32(value),
        u64 => c.mlxrocm_arg_u64(value),
        i64 => c.mlxrocm_arg_i64(value),
        f64 => c.mlxrocm_arg_f64(value),
        else => @compileError("a kernel takes a Buffer, an In, an Out or a number of 32 or 64 bits, not " ++ @typeName(@TypeOf(value))),
    };
}

/// How many blocks of how many work items run (x, y and z; 0 in y or z is 1), and how many bytes of local memory a block
/// gets beyond what the kernel declares.
pub const Grid = struct {
    blocks: [3]u32,
    block: [3]u32,
    dynamic_lds: u32 = 0,

    /// Blocks of work items in x.
    pub fn line(blocks: u32, block: u32) Grid {
        return .{ .blocks = .{ blocks, 1, 1 }, .block = .{ block, 1, 1 } };
    }

    fn launch(self: Grid, args: []const c.mlxrocm_arg) c.mlxrocm_launch {
        var how = std.mem.zeroes(c.mlxrocm_launch);
        how.struct_size = @sizeOf(c.mlxrocm_launch);
        how.dynamic_lds = self.dynamic_lds;
        how.grid = self.blocks;
        how.block = self.block;
        how.args = args.ptr;
        how.arg_count = args.len;
        return how;
    }
};

fn list(args: anytype) [args.len]c.mlxrocm_arg {
    var made: [args.len]c.mlxrocm_arg = undefined;
    inline for (args, &made) |value, *place| place.* = argument(value);
    return made;
}

/// Code on a GPU.
pub const Module = struct {
    handle: *c.mlxrocm_module,

    pub const Options = struct {
        /// The compiler's, like "-DROWS=4".
        flags: []const []const u8 = &.{},
        /// What the source is called in messages.
        name: []const u8 = "kernel source",
    };

    /// Compiles a source in HIP's language, extern "C". If it does not compile, lastMessage() has the first error and
    /// lastDetails() the compiler's log.
    pub fn compile(device: Device, source: []const u8, options: Options) Error!Module {
        var how = std.mem.zeroes(c.mlxrocm_compile_options);
        how.struct_size = @sizeOf(c.mlxrocm_compile_options);
        var arena = std.heap.ArenaAllocator.init(std.heap.c_allocator);
        defer arena.deinit();
        const flags = try model.Texts.of(arena.allocator(), options.flags);
        how.flag_count = @intCast(options.flags.len);
        how.flags = flags.starts.ptr;
        how.flag_lengths = flags.lengths.ptr;
        how.name = model.field(options.name);
        how.name_length = options.name.len;
        var handle: ?*c.mlxrocm_module = null;
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_module_compile(device.handle, source.ptr, source.len, &how, &handle, &failure), failure);
        return .{ .handle = handle.? };
    }

    pub fn deinit(self: Module) void {
        c.mlxrocm_module_free(self.handle);
    }

    pub fn kernel(self: Module, name: []const u8) Error!Kernel {
        var handle: ?*c.mlxrocm_kernel = null;
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_module_get_kernel(self.handle, name.ptr, name.len, &handle, &failure), failure);
        return .{ .handle = handle.? };
    }
};

/// A function that a GPU runs.
pub const Kernel = struct {
    handle: *c.mlxrocm_kernel,

    pub fn deinit(self: Kernel) void {
        c.mlxrocm_kernel_free(self.handle);
    }

    /// Facts about the kernel; the name in it lives as long as the kernel.
    pub fn info(self: Kernel) Error!c.mlxrocm_kernel_info {
        var facts = std.mem.zeroes(c.mlxrocm_kernel_info);
        facts.struct_size = @sizeOf(c.mlxrocm_kernel_info);
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_kernel_get_info(self.handle, &facts, &failure), failure);
        return facts;
    }
};

/// A queue of work that a GPU does in order. What fails while it runs comes out of the next wait.
pub const Stream = struct {
    handle: *c.mlxrocm_stream,

    pub fn init(device: Device) Error!Stream {
        var handle: ?*c.mlxrocm_stream = null;
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_stream_new(device.handle, &handle, &failure), failure);
        return .{ .handle = handle.? };
    }

    pub fn deinit(self: Stream) void {
        c.mlxrocm_stream_free(self.handle);
    }

    /// Queues a kernel with a tuple of its arguments: Buffer (read and written), In, Out, and numbers of its own types.
    pub fn launch(self: Stream, kernel: Kernel, grid: Grid, args: anytype) Error!void {
        const made = list(args);
        const how = grid.launch(&made);
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_stream_launch(self.handle, kernel.handle, &how, &failure), failure);
    }

    /// Queues a copy of bytes between two buffers.
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

    /// Queues a run of a program.
    pub fn run(self: Stream, program: Program) Error!void {
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_program_run(program.handle, self.handle, &failure), failure);
    }

    /// Waits for all queued work; error.Timeout after so many nanoseconds, if any, and the work goes on.
    pub fn wait(self: Stream, timeout_ns: ?u63) Error!void {
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_stream_wait(self.handle, timeout_ns orelse -1, &failure), failure);
    }
};

/// Launches that are recorded once, ordered by what each reads and writes, and run often.
pub const Program = struct {
    handle: *c.mlxrocm_program,

    pub fn init(device: Device) Error!Program {
        var handle: ?*c.mlxrocm_program = null;
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_program_new(device.handle, &handle, &failure), failure);
        return .{ .handle = handle.? };
    }

    pub fn deinit(self: Program) void {
        c.mlxrocm_program_free(self.handle);
    }

    /// Records a kernel with a tuple of its arguments, as Stream.launch queues one.
    pub fn launch(self: Program, kernel: Kernel, grid: Grid, args: anytype) Error!void {
        const made = list(args);
        const how = grid.launch(&made);
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_program_launch(self.handle, kernel.handle, &how, &failure), failure);
    }

    /// Ends the recording; from then on it can be run.
    pub fn end(self: Program) Error!void {
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_program_end(self.handle, &failure), failure);
    }

    /// How the next run goes, and why, owned.
    pub fn explain(self: Program, allocator: std.mem.Allocator) ![]u8 {
        var needed: usize = 0;
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_program_explain(self.handle, null, 0, &needed, &failure), failure);
        const text = try allocator.alloc(u8, needed);
        errdefer allocator.free(text);
        try check(c.mlxrocm_program_explain(self.handle, text.ptr, needed, &needed, &failure), failure);
        return allocator.realloc(text, needed - 1);
    }
};
