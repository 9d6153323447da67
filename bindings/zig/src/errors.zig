//! Errors, and the message of the last one.

const std = @import("std");
const c = @import("c.zig").c;
const statuses = @import("statuses.zig");

pub const Error = statuses.Error;

threadlocal var message: [2048]u8 = undefined;
threadlocal var length: usize = 0;
threadlocal var details: [8192]u8 = undefined;
threadlocal var details_length: usize = 0;
threadlocal var failed_with: i32 = c.MLXROCM_OK;
threadlocal var vendor_code: i32 = 0;

/// What failed, on which object, and what to do: of this thread's last call that failed, at most 2 KiB.
pub fn lastMessage() []const u8 {
    return message[0..length];
}

/// Its long form, like a compiler's log, at most 8 KiB, or "".
pub fn lastDetails() []const u8 {
    return details[0..details_length];
}

/// The status of this thread's last call that failed, one of mlxrocm.c.MLXROCM_ERROR_…, also where error.Other stands for it;
/// 0 if none did.
pub fn lastStatus() i32 {
    return failed_with;
}

/// The number that the vendor's driver (HIP or CUDA) gave for the failure of this thread's last call that failed; 0 if none.
pub fn lastVendorCode() i32 {
    return vendor_code;
}

/// The name of a status, like "MLXROCM_ERROR_IO", as long as the process runs; "MLXROCM_STATUS_UNKNOWN" of other numbers.
pub fn statusName(status: i32) []const u8 {
    var bytes: usize = 0;
    const name = c.mlxrocm_status_name(status, &bytes);
    return name[0..bytes];
}

/// The error of a status that is negative; frees `failure`.
pub fn check(status: i32, failure: ?*c.mlxrocm_error) Error!void {
    if (status >= 0) return;
    var bytes: usize = 0;
    const said = c.mlxrocm_error_message(failure, &bytes);
    keep(status, said[0..bytes]);
    vendor_code = c.mlxrocm_error_vendor_code(failure);
    const long = c.mlxrocm_error_details(failure, &bytes);
    details_length = @min(bytes, details.len);
    @memcpy(details[0..details_length], long[0..details_length]);
    c.mlxrocm_error_free(failure);
    return statuses.ofStatus(status);
}

/// An error with a message of one's own.
pub fn refuse(said: []const u8) Error {
    keep(c.MLXROCM_ERROR_INVALID_ARGUMENT, said);
    return error.InvalidArgument;
}

/// Keeps a failure that has neither details nor a driver's number.
pub fn keep(status: i32, said: []const u8) void {
    failed_with = status;
    vendor_code = 0;
    length = @min(said.len, message.len);
    details_length = 0;
    @memcpy(message[0..length], said[0..length]);
}
