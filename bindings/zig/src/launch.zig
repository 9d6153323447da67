//! How kernels are launched: their arguments and grids.

const std = @import("std");
const c = @import("c.zig").c;
const Buffer = @import("engine.zig").Buffer;

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
};

/// A launch as C has it; it borrows the arguments.
pub fn launchOf(grid: Grid, args: []const c.mlxrocm_arg) c.mlxrocm_launch {
    var how = std.mem.zeroes(c.mlxrocm_launch);
    how.struct_size = @sizeOf(c.mlxrocm_launch);
    how.dynamic_lds = grid.dynamic_lds;
    how.grid = grid.blocks;
    how.block = grid.block;
    how.args = args.ptr;
    how.arg_count = args.len;
    return how;
}

/// A tuple of arguments as C has them.
pub fn list(args: anytype) [args.len]c.mlxrocm_arg {
    var made: [args.len]c.mlxrocm_arg = undefined;
    inline for (args, &made) |value, *place| place.* = argument(value);
    return made;
}
