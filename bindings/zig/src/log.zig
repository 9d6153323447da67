//! The log of the process.

const std = @import("std");
const c = @import("c.zig").c;
const errors = @import("errors.zig");

pub const Level = enum(u32) {
    @"error" = c.MLXROCM_LOG_ERROR,
    warn = c.MLXROCM_LOG_WARN,
    info = c.MLXROCM_LOG_INFO,
    debug = c.MLXROCM_LOG_DEBUG,
    _,
};

/// Sends the process' log lines of a level and more severe ones to a function; null restores the default. It is called on
/// threads that are in a call of the library, by several at once.
pub fn set(level: Level, comptime hear: ?fn (level: Level, message: []const u8) void) errors.Error!void {
    const callback = if (hear) |function| struct {
        fn line(number: u32, message: [*c]const u8, length: usize, _: ?*anyopaque) callconv(.c) void {
            function(@enumFromInt(number), message[0..length]);
        }
    }.line else null;
    var failure: ?*c.mlxrocm_error = null;
    try errors.check(c.mlxrocm_log_set_callback(@intFromEnum(level), callback, null, null, &failure), failure);
}
