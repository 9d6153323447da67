//! Requests: a prompt and how to continue it.

const std = @import("std");
const c = @import("c.zig").c;
const errors = @import("errors.zig");
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
    /// What the generated text must be, at most one: JSON that fits a JSON schema; what a regular expression matches, all of
    /// it; what the rule start of a grammar in Lark's notation derives. See mlxrocm_request.
    json_schema: ?[]const u8 = null,
    regex: ?[]const u8 = null,
    grammar: ?[]const u8 = null,
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
    /// Called before each token is chosen; null: nobody is.
    logits_processor: ?Processor = null,

    /// Changes the logits of the next token.
    pub const Processor = struct {
        context: ?*anyopaque = null,
        /// `tokens` are those so far, `logits` those of the next one, to be changed, both lent for the call. It says whether to
        /// go on: false ends the generation with error.Cancelled. It is called on the session's thread: nothing in it may
        /// wait for the session.
        process: *const fn (context: ?*anyopaque, tokens: []const Token, logits: []f32) bool,
        /// Called once when the context is not needed any more, on any thread: before the last event can be taken, or
        /// before a submit that fails returns.
        release: ?*const fn (context: ?*anyopaque) void = null,

        fn run(tokens: [*c]const u32, count: usize, logits: [*c]f32, columns: usize, data: ?*anyopaque) callconv(.c) i32 {
            const self: *const Processor = @ptrCast(@alignCast(data.?));
            return @intFromBool(!self.process(self.context, tokens[0..count], logits[0..columns]));
        }

        fn free(data: ?*anyopaque) callconv(.c) void {
            const self: *const Processor = @ptrCast(@alignCast(data.?));
            if (self.release) |release| release(self.context);
            std.heap.c_allocator.destroy(self);
        }
    };

    /// Submits it with a function of an object: of the session, or of a generation that it goes on from.
    pub fn submit(request: Request, comptime function: anytype, object: anytype) Error!*c.mlxrocm_generation {
        var arena = std.heap.ArenaAllocator.init(std.heap.c_allocator);
        defer arena.deinit();
        // Whoever is refused here is told too that the context is not needed.
        var how = request.borrowed(arena.allocator()) catch |refused| {
            if (request.logits_processor) |processor| if (processor.release) |release| release(processor.context);
            return refused;
        };
        if (request.logits_processor) |processor| {
            const kept = std.heap.c_allocator.create(Processor) catch |refused| {
                if (processor.release) |release| release(processor.context);
                return refused;
            };
            kept.* = processor;
            how.logits_processor = Processor.run;
            how.user_data = kept;
            how.user_data_free = Processor.free; // the library calls it in any case
        }
        var handle: ?*c.mlxrocm_generation = null;
        var failure: ?*c.mlxrocm_error = null;
        try check(function(object, &how, &handle, &failure), failure);
        return handle.?;
    }

    /// The request as C has it: it borrows from this one, and from memory of the arena.
    fn borrowed(request: Request, arena: std.mem.Allocator) Error!c.mlxrocm_request {
        if (request.bias_tokens.len != request.bias_values.len) {
            return errors.refuse("bias_tokens and bias_values have different lengths");
        }
        var how = std.mem.zeroes(c.mlxrocm_request);
        how.struct_size = @sizeOf(c.mlxrocm_request);
        how.flags = if (request.ignore_eos) c.MLXROCM_REQUEST_IGNORE_EOS else 0;
        inline for (.{ "text", "chat_json", "json_schema", "regex", "grammar" }) |name| {
            if (@field(request, name)) |text| {
                @field(how, name) = model.field(text);
                @field(how, name ++ "_length") = text.len;
            }
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
