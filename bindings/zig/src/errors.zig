//! Errors, and the message of the last one.

const std = @import("std");
const c = @import("c.zig").c;
const statuses = @import("statuses.zig");

pub const Error = statuses.Error;

threadlocal var message: [2048]u8 = undefined;
threadlocal var length: usize = 0;
threadlocal var details: [8192]u8 = undefined;
threadlocal var details_length: usize = 0;

/// What failed, on which object, and what to do: of this thread's last call that failed, at most 2 KiB.
pub fn lastMessage() []const u8 {
    return message[0..length];
}

/// Its long form, like a compiler's log, at most 8 KiB, or "".
pub fn lastDetails() []const u8 {
    return details[0..details_length];
}

/// The error of a status that is negative; frees `failure`.
pub fn check(status: i32, failure: ?*c.mlxrocm_error) Error!void {
    if (status >= 0) return;
    var bytes: usize = 0;
    const said = c.mlxrocm_error_message(failure, &bytes);
    keep(said[0..bytes]);
    const long = c.mlxrocm_error_details(failure, &bytes);
    details_length = @min(bytes, details.len);
    @memcpy(details[0..details_length], long[0..details_length]);
    c.mlxrocm_error_free(failure);
    return statuses.ofStatus(status);
}

/// An error with a message of one's own.
pub fn refuse(said: []const u8) Error {
    keep(said);
    return error.InvalidArgument;
}

pub fn keep(said: []const u8) void {
    length = @min(said.len, message.len);
    details_length = 0;
    @memcpy(message[0..length], said[0..length]);
}
