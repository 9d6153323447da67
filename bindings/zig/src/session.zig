//! Sessions and generations. Any thread may use a session; one thread at a time takes a generation's events, and any
//! may cancel it. deinit frees each, in any order.

const std = @import("std");
const c = @import("c.zig").c;
const errors = @import("errors.zig");
const statuses = @import("statuses.zig");
const model = @import("model.zig");
const check = errors.check;
const Error = errors.Error;
const Token = model.Token;

/// A prompt, one of tokens, text, messages and chat_json, and how to continue it. Zero is each default: greedy, until the model
/// stops. All is copied when it is submitted.
pub const Request = struct {
    tokens: []const Token = &.{},
    text: ?[]const u8 = null,
    messages: []const model.Message = &.{},
    /// A chat in the form of OpenAI's API: an object of messages, tools and further variables of the chat template.
    chat_json: ?[]const u8 = null,
    stop: []const []const u8 = &.{},
    stop_tokens: []const Token = &.{},
    /// Tokens whose logits are changed, and what is added to each.
    bias_tokens: []const Token = &.{},
    bias_values: []const f32 = &.{},
    max_tokens: u32 = 0,
    temperature: f32 = 0,
    top_k: u32 = 0,
    top_p: f32 = 0,
    min_p: f32 = 0,
    repetition_penalty: f32 = 0,
    presence_penalty: f32 = 0,
    frequency_penalty: f32 = 0,
    penalty_window: u32 = 0,
    logprobs: u32 = 0,
    seed: u64 = 0,
    ignore_eos: bool = false,

    /// The request as C has it: it borrows from this one, and from memory of the arena.
    fn borrowed(request: Request, arena: std.mem.Allocator) Error!c.mlxrocm_request {
        if (request.bias_tokens.len != request.bias_values.len) {
            return errors.refuse("bias_tokens and bias_values have different lengths");
        }
        var how = std.mem.zeroes(c.mlxrocm_request);
        how.struct_size = @sizeOf(c.mlxrocm_request);
        how.flags = if (request.ignore_eos) c.MLXROCM_REQUEST_IGNORE_EOS else 0;
        if (request.text) |text| {
            how.text = model.field(text);
            how.text_length = text.len;
        }
        if (request.chat_json) |chat| {
            how.chat_json = model.field(chat);
            how.chat_json_length = chat.len;
        }
        const messages = try model.borrowed(arena, request.messages);
        how.messages = messages.ptr;
        how.message_count = messages.len;
        const stop = try model.Texts.of(arena, request.stop);
        how.stop = stop.starts.ptr;
        how.stop_lengths = stop.lengths.ptr;
        how.stop_count = request.stop.len;
        how.tokens = request.tokens.ptr;
        how.token_count = request.tokens.len;
        how.stop_tokens = request.stop_tokens.ptr;
        how.stop_token_count = request.stop_tokens.len;
        how.bias_tokens = request.bias_tokens.ptr;
        how.bias_values = request.bias_values.ptr;
        how.bias_count = request.bias_tokens.len;
        inline for (.{
            "max_tokens",         "temperature",      "top_k",             "top_p",          "min_p",
            "repetition_penalty", "presence_penalty", "frequency_penalty", "penalty_window", "logprobs",
            "seed",
        }) |name| @field(how, name) = @field(request, name);
        return how;
    }
};

pub const Session = struct {
    handle: *c.mlxrocm_session,

    /// Limits; zero is each default.
    pub const Options = struct {
        context: u32 = 0,
        max_requests: u32 = 0,
        prefill_chunk: u32 = 0,
        kv_tokens: u64 = 0,
        kv_type: enum(u64) { f16 = c.MLXROCM_KV_F16, q8 = c.MLXROCM_KV_Q8, q4 = c.MLXROCM_KV_Q4 } = .f16,
        /// What a request gives never depends on what runs beside it, on GPUs too (slower with more than 16 requests
        /// or prompts beside them).
        batch_invariant: bool = false,
    };

    pub fn init(of: model.Model, options: Options) Error!Session {
        const how = c.mlxrocm_session_options{
            .struct_size = @sizeOf(c.mlxrocm_session_options),
            .context = options.context,
            .max_requests = options.max_requests,
            .prefill_chunk = options.prefill_chunk,
            .kv_tokens = options.kv_tokens,
            .kv_type = @intFromEnum(options.kv_type),
            .batch_invariant = @intFromBool(options.batch_invariant),
        };
        var handle: ?*c.mlxrocm_session = null;
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_session_new(of.handle, &how, &handle, &failure), failure);
        return .{ .handle = handle.? };
    }

    pub fn deinit(self: Session) void {
        c.mlxrocm_session_free(self.handle);
    }

    /// What the session is and does right now.
    pub fn info(self: Session) Error!c.mlxrocm_session_info {
        var facts = std.mem.zeroes(c.mlxrocm_session_info);
        facts.struct_size = @sizeOf(c.mlxrocm_session_info);
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_session_get_info(self.handle, &facts, &failure), failure);
        return facts;
    }

    /// Queues a request and returns at once.
    pub fn submit(self: Session, request: Request) Error!Generation {
        var arena = std.heap.ArenaAllocator.init(std.heap.c_allocator);
        defer arena.deinit();
        const how = try request.borrowed(arena.allocator());
        var handle: ?*c.mlxrocm_generation = null;
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_session_submit(self.handle, &how, &handle, &failure), failure);
        return .{ .handle = handle.? };
    }

    /// Runs all requests at once and waits: their texts in order, all owned. If one fails, the others are cancelled.
    pub fn batch(self: Session, allocator: std.mem.Allocator, requests: []const Request) ![][]u8 {
        const generations = try allocator.alloc(Generation, requests.len);
        defer allocator.free(generations);
        var running: usize = 0;
        defer for (generations[0..running]) |generation| generation.deinit();
        for (requests) |request| {
            generations[running] = try self.submit(request);
            running += 1;
        }
        const texts = try allocator.alloc([]u8, requests.len);
        var done: usize = 0;
        errdefer {
            for (texts[0..done]) |text| allocator.free(text);
            allocator.free(texts);
        }
        for (generations) |generation| {
            texts[done] = try generation.text(allocator);
            done += 1;
        }
        return texts;
    }

    /// Raw logits, owned: a row for each token, about the one that follows it.
    pub fn logits(self: Session, allocator: std.mem.Allocator, tokens: []const Token) ![]f32 {
        return filled(f32, allocator, c.mlxrocm_session_logits, .{ self.handle, tokens.ptr, tokens.len });
    }

    /// Raw logits of some positions, which rise, owned; of none: of the last token.
    pub fn logitsAt(self: Session, allocator: std.mem.Allocator, tokens: []const Token, positions: []const u32) ![]f32 {
        const given = .{ self.handle, tokens.ptr, tokens.len, positions.ptr, positions.len };
        return filled(f32, allocator, c.mlxrocm_session_logits_at, given);
    }

    pub const Pooling = enum(u32) {
        /// A row for each token.
        none = c.MLXROCM_POOLING_NONE,
        mean = c.MLXROCM_POOLING_MEAN,
        /// The first token.
        cls = c.MLXROCM_POOLING_CLS,
        last = c.MLXROCM_POOLING_LAST,
    };

    /// The embedding of a text's tokens, owned: their hidden states, pooled; `normalize`: of length 1.
    pub fn embed(self: Session, allocator: std.mem.Allocator, tokens: []const Token, pooling: Pooling, normalize: bool) ![]f32 {
        var how = std.mem.zeroes(c.mlxrocm_embed_options);
        how.struct_size = @sizeOf(c.mlxrocm_embed_options);
        how.pooling = @intFromEnum(pooling);
        how.flags = if (normalize) c.MLXROCM_EMBED_NORMALIZE else 0;
        const options: [*c]const c.mlxrocm_embed_options = &how;
        return filled(f32, allocator, c.mlxrocm_session_embed, .{ self.handle, tokens.ptr, tokens.len, options });
    }

    /// What was computed of these tokens, owned, to go on after them in another session of the model.
    pub fn saveState(self: Session, allocator: std.mem.Allocator, tokens: []const Token) ![]u8 {
        return filled(u8, allocator, c.mlxrocm_session_save_state, .{ self.handle, tokens.ptr, tokens.len });
    }

    /// The same to a file, which is there whole or not at all.
    pub fn saveStateFile(self: Session, tokens: []const Token, path: []const u8) Error!void {
        var failure: ?*c.mlxrocm_error = null;
        const save = c.mlxrocm_session_save_state_file;
        try check(save(self.handle, tokens.ptr, tokens.len, path.ptr, path.len, &failure), failure);
    }

    /// Keeps a state for prompts that begin with its tokens.
    pub fn loadState(self: Session, state: []const u8) Error!void {
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_session_load_state(self.handle, state.ptr, state.len, &failure), failure);
    }

    /// The same from a file.
    pub fn loadStateFile(self: Session, path: []const u8) Error!void {
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_session_load_state_file(self.handle, path.ptr, path.len, &failure), failure);
    }
};

/// The tokens of a saved state, owned.
pub fn stateTokens(allocator: std.mem.Allocator, state: []const u8) ![]Token {
    return filled(Token, allocator, c.mlxrocm_state_get_tokens, .{ state.ptr, state.len });
}

/// What a function measures, then fills.
fn filled(comptime T: type, allocator: std.mem.Allocator, comptime function: anytype, given: anytype) ![]T {
    var needed: usize = 0;
    var failure: ?*c.mlxrocm_error = null;
    const nowhere: [*c]T = null;
    try check(@call(.auto, function, given ++ .{ nowhere, @as(usize, 0), &needed, &failure }), failure);
    const elements = try allocator.alloc(T, needed);
    errdefer allocator.free(elements);
    try check(@call(.auto, function, given ++ .{ elements.ptr, needed, &needed, &failure }), failure);
    return elements;
}

pub const Reason = enum(u32) {
    stop_token = c.MLXROCM_FINISH_STOP_TOKEN,
    stop_string = c.MLXROCM_FINISH_STOP_STRING,
    length = c.MLXROCM_FINISH_LENGTH,
    context = c.MLXROCM_FINISH_CONTEXT,
    cancelled = c.MLXROCM_FINISH_CANCELLED,
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
        var arena = std.heap.ArenaAllocator.init(std.heap.c_allocator);
        defer arena.deinit();
        const how = try request.borrowed(arena.allocator());
        var handle: ?*c.mlxrocm_generation = null;
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_generation_fork(self.handle, &how, &handle, &failure), failure);
        return .{ .handle = handle.? };
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
            errors.keep(std.mem.span(event.error_message));
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
