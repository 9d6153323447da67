//! What a function of the library measures, then fills.

const std = @import("std");
const c = @import("c.zig").c;
const check = @import("errors.zig").check;

/// Elements of a function whose last parameters are where they go, how many fit, how many there are and the error, owned.
pub fn elements(comptime T: type, allocator: std.mem.Allocator, comptime function: anytype, given: anytype) ![]T {
    var needed: usize = 0;
    var failure: ?*c.mlxrocm_error = null;
    const nowhere: [*c]T = null;
    try check(@call(.auto, function, given ++ .{ nowhere, @as(usize, 0), &needed, &failure }), failure);
    const made = try allocator.alloc(T, needed);
    errdefer allocator.free(made);
    try check(@call(.auto, function, given ++ .{ made.ptr, needed, &needed, &failure }), failure);
    return made;
}

/// A text of such a function, owned, without the NUL that ends it.
pub fn text(allocator: std.mem.Allocator, comptime function: anytype, given: anytype) ![]u8 {
    const whole = try elements(u8, allocator, function, given);
    errdefer allocator.free(whole);
    return allocator.realloc(whole, whole.len - 1);
}
