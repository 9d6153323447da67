//! Generations. One thread at a time takes a generation's events, and any may cancel it; deinit frees it.

const std = @import("std");
const c = @import("c.zig").c;
const errors = @import("errors.zig");
const statuses = @import("statuses.zig");
const Request = @import("request.zig").Request;
const Token = @import("model.zig").Token;
const check = errors.check;
const Error = errors.Error;

pub const Reason = enum(u32) {
    stop_token = c.MLXROCM_FINISH_STOP_TOKEN,
    stop_string = c.MLXROCM_FINISH_STOP_STRING,
    length = c.MLXROCM_FINISH_LENGTH,
    context = c.MLXROCM_FINISH_CONTEXT,
    cancelled = c.MLXROCM_FINISH_CANCELLED,
    /// What the text must be is complete, and nothing may follow.
    grammar = c.MLXROCM_FINISH_GRAMMAR,
    _,
};

pub const TokenLogprob = extern struct { token: Token, logprob: f32 };

/// Something that happened. Slices in it live until the generation's next event.
pub const Event = union(enum) {
    prompt: struct { done: u64, total: u64 },
    token: struct { token: Token, text: []const u8, logprob: f32, top: []const TokenLogprob },
    finished: struct {
        text: []const u8,
        reason: Reason,
        prompt_tokens: u64,
        cached_tokens: u64,
        generated_tokens: u64,
        prompt_seconds: f64,
        decode_seconds: f64,
        /// Tokens that were guessed, and of these the right ones: each saved a step.
        guessed_tokens: u64,
        accepted_tokens: u64,
    },

    /// The text that became complete; may be empty.
    pub fn text(self: Event) []const u8 {
        return switch (self) {
            .prompt => "",
            .token => |token| token.text,
            .finished => |finished| finished.text,
        };
    }
};

pub const Generation = struct {
    handle: *c.mlxrocm_generation,

    /// Frees it; one that still runs is cancelled.
    pub fn deinit(self: Generation) void {
        c.mlxrocm_generation_free(self.handle);
    }

    /// Ends it soon, from any thread; its last event still comes.
    pub fn cancel(self: Generation) Error!void {
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_generation_cancel(self.handle, &failure), failure);
    }

    /// Goes on after the tokens whose events were taken, beside this one; the request has no prompt.
    pub fn fork(self: Generation, request: Request) Error!Generation {
        return .{ .handle = try request.submit(c.mlxrocm_generation_fork, self.handle) };
    }

    /// A descriptor for poll and event loops: readable while `next` has an event, and not any more when the last one is taken.
    /// Borrowed, the same one however often it is asked for, and closed by deinit: take it out of the loop before, and neither
    /// read, write nor close it. Any thread.
    pub fn fd(self: Generation) Error!std.posix.fd_t {
        var descriptor: i32 = -1;
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_generation_get_fd(self.handle, &descriptor, &failure), failure);
        return descriptor;
    }

    /// Waits for the next event: null after the last one. A request that failed gives its error.
    pub fn next(self: Generation) Error!?Event {
        var event = std.mem.zeroes(c.mlxrocm_event);
        event.struct_size = @sizeOf(c.mlxrocm_event);
        var failure: ?*c.mlxrocm_error = null;
        const status = c.mlxrocm_generation_next(self.handle, -1, &event, &failure);
        try check(status, failure);
        if (status == c.MLXROCM_END) return null;
        if (event.kind == c.MLXROCM_EVENT_PROMPT) {
            return .{ .prompt = .{ .done = event.prompt_done, .total = event.prompt_total } };
        }
        const piece = event.text[0..event.text_length];
        if (event.kind == c.MLXROCM_EVENT_TOKEN) {
            const top: [*c]const TokenLogprob = @ptrCast(event.top);
            const best: []const TokenLogprob = if (event.top_count > 0) top[0..event.top_count] else &.{};
            return .{ .token = .{ .token = event.token, .text = piece, .logprob = event.logprob, .top = best } };
        }
        if (event.finish_reason == c.MLXROCM_FINISH_ERROR) {
            errors.keep(event.error_status, event.error_message[0..event.error_message_length]);
            return statuses.ofStatus(event.error_status);
        }
        return .{ .finished = .{
            .text = piece,
            .reason = @enumFromInt(event.finish_reason),
            .prompt_tokens = event.prompt_tokens,
            .cached_tokens = event.cached_tokens,
            .generated_tokens = event.generated_tokens,
            .prompt_seconds = event.prompt_seconds,
            .decode_seconds = event.decode_seconds,
            .guessed_tokens = event.guessed_tokens,
            .accepted_tokens = event.accepted_tokens,
        } };
    }

    /// Waits for the end: all text that is still to come, owned.
    pub fn text(self: Generation, allocator: std.mem.Allocator) ![]u8 {
        var all = std.ArrayList(u8).init(allocator);
        errdefer all.deinit();
        while (try self.next()) |event| try all.appendSlice(event.text());
        return all.toOwnedSlice();
    }
};

/// What `waitAny` found.
pub const Waited = union(enum) {
    /// The place of a generation that has an event.
    event: usize,
    /// None had within the time.
    nothing,
    /// All have given out their last event.
    end,
};

/// Waits until one of several generations, of any sessions, has an event; where several have, they take turns. Nanoseconds;
/// null: as long as it takes.
pub fn waitAny(generations: []const Generation, timeout_ns: ?u63) Error!Waited {
    comptime std.debug.assert(@sizeOf(Generation) == @sizeOf(*c.mlxrocm_generation));
    const handles: [*c]const ?*const c.mlxrocm_generation = @ptrCast(generations.ptr);
    var index: usize = 0;
    var failure: ?*c.mlxrocm_error = null;
    const within: i64 = timeout_ns orelse -1;
    const status = c.mlxrocm_generation_wait_any(handles, generations.len, within, &index, &failure);
    try check(status, failure);
    return if (status == c.MLXROCM_END) .end else if (status == c.MLXROCM_PENDING) .nothing else .{ .event = index };
}
