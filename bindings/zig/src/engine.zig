//! Kernels of one's own on a GPU: memory, streams, compiled modules and recorded programs; any thread may use them.
//! deinit frees each, in any order: work that was queued keeps what it needs.

const std = @import("std");
const c = @import("c.zig").c;
const errors = @import("errors.zig");
const model = @import("model.zig");
const launching = @import("launch.zig");
const Device = @import("device.zig").Device;
const check = errors.check;
const Error = errors.Error;

pub const In = launching.In;
pub const Out = launching.Out;
pub const Grid = launching.Grid;

pub const Event = @import("stream.zig").Event;
pub const Stream = @import("stream.zig").Stream;
pub const Program = @import("program.zig").Program;

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

    /// Loads code that was compiled for the device: an ELF code object (AMD), a cubin or PTX (NVIDIA). The code is
    /// copied; error.InvalidFile if it is none for this device.
    pub fn load(device: Device, code: []const u8) Error!Module {
        var handle: ?*c.mlxrocm_module = null;
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_module_load(device.handle, code.ptr, code.len, &handle, &failure), failure);
        return .{ .handle = handle.? };
    }

    /// Frees it; its kernels stay.
    pub fn deinit(self: Module) void {
        c.mlxrocm_module_free(self.handle);
    }

    /// A kernel by its name, owned.
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

    /// One of the library's own, like "mlxrocm_vector_add_f32", owned; what it takes is in the comment of its source.
    /// error.Unsupported if there is none of that name.
    pub fn ofLibrary(device: Device, name: []const u8) Error!Kernel {
        var handle: ?*c.mlxrocm_kernel = null;
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_device_get_kernel(device.handle, name.ptr, name.len, &handle, &failure), failure);
        return .{ .handle = handle.? };
    }

    /// Frees it; launches that are queued or recorded go on.
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
