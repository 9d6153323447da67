//! Arrays against plain loops; chat, batch, cancel and errors with the demo model.

const std = @import("std");
const mlxrocm = @import("mlxrocm");
const Array = mlxrocm.Array;
const ops = mlxrocm.ops;
const testing = std.testing;
const allocator = testing.allocator;

test {
    _ = @import("chess_tests.zig");
    _ = @import("library_tests.zig");
    _ = @import("request_tests.zig");
}

test "every operation is compiled" {
    testing.refAllDecls(ops);
}

fn expectElements(comptime T: type, x: Array, wanted: []const T) !void {
    defer x.deinit();
    const found = try allocator.alloc(T, x.size());
    defer allocator.free(found);
    try x.read(T, found);
    try testing.expectEqualSlices(T, wanted, found);
}

fn expectNear(x: Array, wanted: []const f64) !void {
    defer x.deinit();
    const found = try allocator.alloc(f32, x.size());
    defer allocator.free(found);
    try x.read(f32, found);
    try testing.expectEqual(wanted.len, found.len);
    for (wanted, found) |one, other| try testing.expectApproxEqAbs(one, other, 1e-5);
}

test "elements there and back" {
    inline for (.{ u8, u16, u32, u64, i8, i16, i32, i64 }) |T| {
        const all = [_]T{ std.math.minInt(T), 3, std.math.maxInt(T) };
        try expectElements(T, try Array.init(T, &all, &.{3}), &all);
    }
    inline for (.{ f16, f32, f64 }) |T| try expectElements(T, try Array.init(T, &.{ -1.5, 3 }, &.{ 2, 1 }), &.{ -1.5, 3 });
    try expectElements(f32, try Array.init(f32, &.{}, &.{0}), &.{});
    const seven = try Array.scalar(i32, 7);
    defer seven.deinit();
    try testing.expectEqual(7, try seven.item());
    try testing.expectEqual(0, seven.rank());
}

test "products, reductions and softmax" {
    const rows, const inner, const columns = .{ 5, 7, 3 };
    var random = std.Random.DefaultPrng.init(20261122);
    var a: [rows * inner]f32 = undefined;
    var b: [inner * columns]f32 = undefined;
    for (&a) |*element| element.* = random.random().float(f32) - 0.5;
    for (&b) |*element| element.* = random.random().float(f32) - 0.5;
    var products: [rows * columns]f64 = undefined;
    var sums: [rows]f64 = undefined;
    var shares: [rows * columns]f64 = undefined;
    for (0..rows) |i| {
        sums[i] = 0;
        var total: f64 = 0;
        for (0..columns) |j| {
            var product: f64 = 0;
            for (0..inner) |k| product += @as(f64, a[i * inner + k]) * b[k * columns + j];
            products[i * columns + j] = product;
            sums[i] += product;
            total += @exp(product);
        }
        for (0..columns) |j| shares[i * columns + j] = @exp(products[i * columns + j]) / total;
    }
    const x = try Array.init(f32, &a, &.{ rows, inner });
    defer x.deinit();
    const y = try Array.init(f32, &b, &.{ inner, columns });
    defer y.deinit();
    const product = try ops.matmul(x, y);
    defer product.deinit();
    var sizes: [4]i64 = undefined;
    try testing.expectEqualSlices(i64, &.{ rows, columns }, try product.shape(&sizes));
    try expectNear(try ops.sum(product, &.{-1}, false), &sums);
    try expectNear(try ops.softmax(product, &.{1}, false), &shares);
}

test "lists, options and several results" {
    const x = try Array.init(i32, &.{ 5, 3, 1, 4, 2, 0 }, &.{ 2, 3 });
    defer x.deinit();
    try expectElements(i32, try ops.add(x, x), &.{ 10, 6, 2, 8, 4, 0 });
    try expectElements(i32, try ops.sort(x, null), &.{ 0, 1, 2, 3, 4, 5 });
    try expectElements(i32, try ops.transpose(x, null), &.{ 5, 4, 3, 2, 1, 0 });
    try expectElements(i32, try ops.slice(x, &.{ 0, 2 }, &.{ 2, -4 }, &.{ 1, -2 }), &.{ 1, 5, 0, 4 });
    var parts: [2]Array = undefined;
    try ops.split(&parts, x, &.{1}, 1);
    defer for (parts) |part| part.deinit();
    try expectElements(i32, try ops.concatenate(&.{ parts[1], parts[0] }, 1), &.{ 3, 1, 5, 2, 0, 4 });
    const three = try Array.scalar(i32, 3);
    defer three.deinit();
    try expectElements(i32, try ops.clip(x, null, three), &.{ 3, 3, 1, 3, 2, 0 });
    const quotient, const remainder = try ops.divmod(x, three);
    try mlxrocm.eval(&.{ quotient, remainder });
    try expectElements(i32, quotient, &.{ 1, 1, 0, 1, 0, 0 });
    try expectElements(i32, remainder, &.{ 2, 0, 1, 1, 2, 0 });
    try expectElements(u8, try ops.greater(x, three), &.{ 1, 0, 0, 1, 0, 0 });
    const m = try Array.init(f32, &.{ 2, 0, 0, 4 }, &.{ 2, 2 });
    defer m.deinit();
    try expectNear(try ops.linalgInv(m), &.{ 0.5, 0, 0, 0.25 });
}

test "arrays move to a device" {
    const x = try Array.init(f32, &.{ 1, 2, 3, 4 }, &.{ 2, 2 });
    defer x.deinit();
    const cpu = try mlxrocm.Device.open(0);
    const moved = try x.toDevice(cpu);
    defer moved.deinit();
    const none: Array = .{ .handle = null };
    try testing.expectError(error.NullArgument, none.toDevice(cpu));
    try testing.expect(std.mem.indexOf(u8, mlxrocm.lastMessage(), "array") != null);
    cpu.deinit();
    try testing.expectEqual(.float32, moved.dtype());
    try expectNear(try ops.matmul(moved, x), &.{ 7, 10, 15, 22 });
}

test "mistakes are errors" {
    const x = try Array.init(f32, &.{ 1, 2, 3 }, &.{3});
    defer x.deinit();
    const y = try Array.init(f32, &.{ 1, 2 }, &.{2});
    defer y.deinit();
    try testing.expectError(error.InvalidArgument, ops.add(x, y));
    try testing.expect(std.mem.indexOf(u8, mlxrocm.lastMessage(), "add") != null);
    try testing.expectError(error.NullArgument, ops.add(x, .{ .handle = null }));
    try testing.expectError(error.InvalidArgument, Array.init(f32, &.{1}, &.{2}));
    try testing.expectError(error.InvalidArgument, Array.init(f32, &.{1}, &.{-1}));
    var none: [0]f32 = .{};
    try testing.expectError(error.InvalidArgument, x.read(f32, &none));
    var one: [1]Array = undefined;
    try testing.expectError(error.InvalidArgument, ops.splitParts(&one, x, 3, 0));
}

test "dtypes that an operation finds" {
    const x = try Array.init(f32, &([_]f32{0.5} ** 64), &.{ 1, 64 });
    defer x.deinit();
    const same = try ops.zerosLike(x, null);
    defer same.deinit();
    const bytes = try ops.onesLike(x, .int8);
    defer bytes.deinit();
    try testing.expectEqual(.float32, same.dtype());
    try testing.expectEqual(.int8, bytes.dtype());
    const parts = try ops.quantize(x, 64, 4);
    defer for (parts) |part| part.deinit();
    const numbers = try ops.dequantize(parts[0], parts[1], parts[2], 64, 4, "affine", null, .float16);
    defer numbers.deinit();
    try testing.expectEqual(.float16, numbers.dtype());
}

test "files" {
    var folder = testing.tmpDir(.{});
    defer folder.cleanup();
    const root = try folder.dir.realpathAlloc(allocator, ".");
    defer allocator.free(root);
    const x = try Array.init(i32, &.{ 1, 2, 3, 4, 5, 6 }, &.{ 2, 3 });
    defer x.deinit();
    const all = try mlxrocm.ArrayMap.init();
    defer all.deinit();
    try all.set("x", x);
    try all.setMetadata("format", "mlx");
    try testing.expectError(error.InvalidArgument, all.set("y", .{ .handle = null }));
    inline for (.{ "a.safetensors", "a.gguf" }) |name| {
        const path = try std.fs.path.join(allocator, &.{ root, name });
        defer allocator.free(path);
        if (name.len == 6) try all.saveGguf(path) else try all.saveSafetensors(path);
        const again = try mlxrocm.ArrayMap.load(path);
        defer again.deinit();
        try testing.expectEqual(1, again.count());
        try testing.expectEqualStrings("x", again.name(0).?);
        try testing.expectEqualStrings("mlx", again.metadata("format").?);
        try testing.expectEqual(null, again.metadata("none"));
        try testing.expectError(error.InvalidArgument, again.get("y"));
        try expectElements(i32, try again.get("x"), &.{ 1, 2, 3, 4, 5, 6 });
    }
    try testing.expectError(error.InvalidArgument, all.saveGguf(""));
}

/// A model and a session for a test.
const Loaded = struct {
    model: mlxrocm.Model,
    session: mlxrocm.Session,
    tokenizer: mlxrocm.Tokenizer,

    fn init() !Loaded {
        const cpu = try mlxrocm.Device.open(0);
        defer cpu.deinit();
        const model = try mlxrocm.Model.load(try demo(), .{ .device = cpu });
        const session = try mlxrocm.Session.init(model, .{ .context = 512, .max_requests = 4 });
        return .{ .model = model, .session = session, .tokenizer = try model.tokenizer() };
    }

    fn deinit(self: Loaded) void {
        self.tokenizer.deinit();
        self.session.deinit();
        self.model.deinit();
    }

    fn run(self: Loaded, request: mlxrocm.Request) ![]u8 {
        const generation = try self.session.submit(request);
        defer generation.deinit();
        return generation.text(allocator);
    }
};

fn demo() ![:0]const u8 {
    return std.posix.getenv("MLXROCM_DEMO_MODEL") orelse error.MLXROCM_DEMO_MODEL_names_the_demo_model;
}

test "tensors of a file" {
    const loaded = try Loaded.init();
    defer loaded.deinit();
    const file = try mlxrocm.ModelFile.open(try demo());
    defer file.deinit();
    // 30 layers of 2 norms and 7 matrices, the embedding and the last norm.
    try testing.expectEqual(30 * 9 + 2, file.count());
    var numbers: u64 = 0;
    var bytes: u64 = 0;
    var seen: usize = 0;
    for (0..file.count()) |i| {
        const tensor = try file.tensor(i);
        var count: u64 = 1;
        for (tensor.shape) |size| count *= @intCast(size);
        numbers += count;
        bytes += tensor.bytes;
        if (!std.mem.eql(u8, tensor.name, "blk.29.ffn_down.weight")) continue;
        try testing.expectEqualSlices(i64, &.{ 576, 1536 }, tensor.shape);
        try testing.expectEqualStrings("Q4_1", tensor.format);
        seen += 1;
    }
    const info = try loaded.model.info();
    try testing.expectEqual(1, seen);
    try testing.expectEqual(info.parameters, numbers);
    try testing.expectEqual(info.weight_bytes, bytes);
    try testing.expectError(error.InvalidArgument, file.tensor(file.count()));
    try testing.expectError(error.Io, mlxrocm.ModelFile.open("/nowhere/model.gguf"));
}

test "guesses change no text" {
    const loaded = try Loaded.init();
    defer loaded.deinit();
    const request = mlxrocm.Request{ .text = "one two three one two three one two three one", .max_tokens = 30 };
    const first = try loaded.session.submit(request);
    defer first.deinit();
    const plain = try first.text(allocator);
    defer allocator.free(plain);
    const options = [_]mlxrocm.Session.Options{
        .{ .context = 128, .prompt_lookup = true },
        .{ .context = 128, .draft_model = loaded.model },
    };
    for (options) |one| {
        const guessing = try mlxrocm.Session.init(loaded.model, one);
        defer guessing.deinit();
        const generation = try guessing.submit(request);
        defer generation.deinit();
        var text = std.ArrayList(u8).init(allocator);
        defer text.deinit();
        while (try generation.next()) |event| {
            try text.appendSlice(event.text());
            if (event == .finished) {
                try testing.expect(event.finished.guessed_tokens > 0);
                try testing.expect(event.finished.accepted_tokens <= event.finished.guessed_tokens);
            }
        }
        try testing.expectEqualStrings(plain, text.items);
    }
}

test "streaming chat" {
    const loaded = try Loaded.init();
    defer loaded.deinit();
    const messages = [_]mlxrocm.Message{.{ .role = "user", .content = "What is the capital of France?" }};
    const generation = try loaded.session.submit(.{ .messages = &messages, .max_tokens = 24 });
    defer generation.deinit();
    var streamed = std.ArrayList(u8).init(allocator);
    defer streamed.deinit();
    var tokens = std.ArrayList(mlxrocm.Token).init(allocator);
    defer tokens.deinit();
    var generated: u64 = 0;
    while (try generation.next()) |event| {
        try streamed.appendSlice(event.text());
        switch (event) {
            .token => |token| try tokens.append(token.token),
            .finished => |finished| generated = finished.generated_tokens,
            .prompt => {},
        }
    }
    try testing.expectEqual(tokens.items.len, generated);
    try testing.expect(std.mem.indexOf(u8, streamed.items, "Paris") != null);
    const decoded = try loaded.tokenizer.decode(allocator, tokens.items, true);
    defer allocator.free(decoded);
    try testing.expectEqualStrings(streamed.items, decoded);
    const rendered = try loaded.model.renderChat(allocator, &messages);
    defer allocator.free(rendered);
    const prompt = try loaded.tokenizer.encode(allocator, rendered, .{ .parse_special = true });
    defer allocator.free(prompt);
    const same = try loaded.run(.{ .tokens = prompt, .max_tokens = 24 });
    defer allocator.free(same);
    try testing.expectEqualStrings(streamed.items, same);
    const chat =
        \\{"messages": [{"role": "user", "content": [
        \\{"type": "text", "text": "What is the capital"}, {"type": "text", "text": " of France?"}]}]}
    ;
    const json = try loaded.run(.{ .chat_json = chat, .max_tokens = 24 });
    defer allocator.free(json);
    try testing.expectEqualStrings(streamed.items, json);
}

test "greedy takes the largest logit" {
    const loaded = try Loaded.init();
    defer loaded.deinit();
    const prompt = try loaded.tokenizer.encode(allocator, "Water boils at", .{});
    defer allocator.free(prompt);
    var all = std.ArrayList(mlxrocm.Token).init(allocator);
    defer all.deinit();
    try all.appendSlice(prompt);
    const generation = try loaded.session.submit(.{ .tokens = prompt, .max_tokens = 5, .logprobs = 1 });
    defer generation.deinit();
    var logprobs: [5]f32 = undefined;
    while (try generation.next()) |event| switch (event) {
        .token => |token| {
            logprobs[all.items.len - prompt.len] = token.logprob;
            try testing.expectEqual(token.token, token.top[0].token);
            try all.append(token.token);
        },
        else => {},
    };
    const width = (try loaded.model.info()).vocab_size;
    const logits = try loaded.session.logits(allocator, all.items);
    defer allocator.free(logits);
    for (logprobs, 0..) |logprob, i| {
        const row = logits[(prompt.len + i - 1) * width ..][0..width];
        const best = std.mem.indexOfMax(f32, row);
        var total: f64 = 0;
        for (row) |logit| total += @exp(@as(f64, logit));
        try testing.expectEqual(all.items[prompt.len + i], best);
        try testing.expectApproxEqAbs(row[best] - @log(total), logprob, 1e-3);
    }
}

test "batch, stop strings and biases" {
    const loaded = try Loaded.init();
    defer loaded.deinit();
    const requests = [_]mlxrocm.Request{
        .{ .text = "The capital of France is", .max_tokens = 8 },
        .{ .text = "Once upon a time", .max_tokens = 8 },
        .{ .text = "Water boils at", .max_tokens = 8 },
        .{ .text = "The sea", .max_tokens = 8 },
        .{ .text = "Two and two", .max_tokens = 8 },
    };
    const texts = try loaded.session.batch(allocator, &requests);
    defer allocator.free(texts);
    for (requests, texts) |request, text| {
        defer allocator.free(text);
        const alone = try loaded.run(request);
        defer allocator.free(alone);
        try testing.expectEqualStrings(alone, text);
    }
    const stopped = try loaded.run(.{ .text = "One, two, three, four,", .max_tokens = 20, .stop = &.{" six"} });
    defer allocator.free(stopped);
    try testing.expect(std.mem.indexOf(u8, stopped, "five") != null);
    try testing.expect(std.mem.indexOf(u8, stopped, "six") == null);
    const comma = try loaded.tokenizer.encode(allocator, ",", .{});
    defer allocator.free(comma);
    const commas = try loaded.run(.{ .text = "One two", .max_tokens = 3, .bias_tokens = comma, .bias_values = &.{1000} });
    defer allocator.free(commas);
    try testing.expectEqualStrings(",,,", commas);
}

test "texts of slices, with NULs" {
    const loaded = try Loaded.init();
    defer loaded.deinit();
    // Slices of something longer: nothing ends them.
    const line: []const u8 = "One, two, three, four,| six|user|a\x00b";
    const stopped = try loaded.run(.{ .text = line[0..22], .max_tokens = 20, .stop = &.{ "", line[23..27] } });
    defer allocator.free(stopped);
    try testing.expect(std.mem.indexOf(u8, stopped, "five") != null);
    try testing.expect(std.mem.indexOf(u8, stopped, "six") == null);
    const chat = try loaded.run(.{ .messages = &.{.{ .role = line[28..32], .content = line[33..] }}, .max_tokens = 2 });
    defer allocator.free(chat);
    try testing.expect(chat.len > 0);
    try testing.expectError(error.InvalidArgument, loaded.session.submit(.{ .text = "" }));
}

test "facts about tokens and sessions" {
    const loaded = try Loaded.init();
    defer loaded.deinit();
    const info = try loaded.tokenizer.info();
    const end = (try loaded.tokenizer.find("<|im_end|>")).?;
    try testing.expectEqual(49152, info.vocab_size);
    try testing.expectEqual(end, info.eos.?);
    try testing.expect(try loaded.tokenizer.isSpecial(end));
    try testing.expectEqual(null, try loaded.tokenizer.find("no such token"));
    try testing.expectError(error.InvalidArgument, loaded.tokenizer.isSpecial(info.vocab_size));
    const tokens = try loaded.tokenizer.encode(allocator, "Zoë 🙂", .{});
    defer allocator.free(tokens);
    var whole = std.ArrayList(u8).init(allocator);
    defer whole.deinit();
    for (tokens) |token| {
        const bytes = try loaded.tokenizer.tokenBytes(allocator, token);
        defer allocator.free(bytes);
        try whole.appendSlice(bytes);
    }
    try testing.expectEqualStrings("Zoë 🙂", whole.items);
    const facts = try loaded.session.info();
    try testing.expect(facts.context == 512 and facts.kv_bytes > 0 and facts.kv_tokens >= 512);
}

test "states, forks, logits of positions and embeddings" {
    const loaded = try Loaded.init();
    defer loaded.deinit();
    const text = "The quick brown fox jumps over the lazy dog. " ** 9;
    const tokens = try loaded.tokenizer.encode(allocator, text, .{});
    defer allocator.free(tokens);
    const expected = try loaded.run(.{ .tokens = tokens, .max_tokens = 6 });
    defer allocator.free(expected);
    const state = try loaded.session.saveState(allocator, tokens);
    defer allocator.free(state);
    const of = try mlxrocm.stateTokens(allocator, state);
    defer allocator.free(of);
    try testing.expectEqualSlices(mlxrocm.Token, tokens, of);
    var folder = testing.tmpDir(.{});
    defer folder.cleanup();
    const root = try folder.dir.realpathAlloc(allocator, ".");
    defer allocator.free(root);
    const path = try std.fs.path.join(allocator, &.{ root, "state" });
    defer allocator.free(path);
    try loaded.session.saveStateFile(tokens, path);
    for (0..2) |from_file| {
        const other = try mlxrocm.Session.init(loaded.model, .{ .context = 512 });
        defer other.deinit();
        if (from_file == 1) try other.loadStateFile(path) else try other.loadState(state);
        const generation = try other.submit(.{ .tokens = tokens, .max_tokens = 6 });
        defer generation.deinit();
        var found = std.ArrayList(u8).init(allocator);
        defer found.deinit();
        while (try generation.next()) |event| {
            try found.appendSlice(event.text());
            if (event == .finished) try testing.expect(event.finished.cached_tokens >= 32);
        }
        try testing.expectEqualStrings(expected, found.items);
        try testing.expectError(error.InvalidFile, other.loadState(state[0 .. state.len / 2]));
        try testing.expectError(error.InvalidFile, other.loadState(&.{}));
    }

    const generation = try loaded.session.submit(.{ .tokens = tokens, .max_tokens = 6 });
    defer generation.deinit();
    var begin = std.ArrayList(u8).init(allocator);
    defer begin.deinit();
    var taken: usize = 0;
    while (taken < 2) {
        const event = (try generation.next()).?;
        try begin.appendSlice(event.text());
        if (event == .token) taken += 1;
    }
    const fork = try generation.fork(.{ .max_tokens = 4 });
    defer fork.deinit();
    const rest = try fork.text(allocator);
    defer allocator.free(rest);
    try begin.appendSlice(rest);
    try testing.expectEqualStrings(expected, begin.items);
    try testing.expectError(error.InvalidArgument, generation.fork(.{ .text = "a" }));

    const some = tokens[0..5];
    const all = try loaded.session.logits(allocator, some);
    defer allocator.free(all);
    const width = (try loaded.model.info()).vocab_size;
    const rows = try loaded.session.logitsAt(allocator, some, &.{ 1, 3 });
    defer allocator.free(rows);
    try testing.expectEqualSlices(f32, all[width .. 2 * width], rows[0..width]);
    try testing.expectEqualSlices(f32, all[3 * width .. 4 * width], rows[width..]);
    const unit = try loaded.session.embed(allocator, some, .last, true);
    defer allocator.free(unit);
    var square: f64 = 0;
    for (unit) |x| square += @as(f64, x) * x;
    try testing.expectApproxEqAbs(1, square, 1e-4);
    // Refused before there is memory for it.
    const many = [_]mlxrocm.Token{1} ** 600;
    try testing.expectError(error.ContextFull, loaded.session.logits(allocator, &many));
    try testing.expectError(error.InvalidArgument, loaded.session.logits(allocator, &.{}));
}

fn cancelSoon(generation: mlxrocm.Generation) void {
    std.time.sleep(50 * std.time.ns_per_ms);
    generation.cancel() catch unreachable;
}

test "cancel from another thread" {
    const loaded = try Loaded.init();
    defer loaded.deinit();
    const generation = try loaded.session.submit(.{ .text = "Count:", .max_tokens = 400, .ignore_eos = true });
    defer generation.deinit();
    const thread = try std.Thread.spawn(.{}, cancelSoon, .{generation});
    defer thread.join();
    var reason: mlxrocm.Reason = .length;
    while (try generation.next()) |event| switch (event) {
        .finished => |finished| reason = finished.reason,
        else => {},
    };
    try testing.expectEqual(.cancelled, reason);
    try testing.expectEqual(null, try generation.next());
}

test "errors, and objects that go in any order" {
    try testing.expectError(error.Io, mlxrocm.Model.load("/nowhere/model.gguf", .{}));
    try testing.expect(std.mem.indexOf(u8, mlxrocm.lastMessage(), "/nowhere/model.gguf") != null);
    try testing.expectError(error.NoDevice, mlxrocm.Device.open(try mlxrocm.deviceCount()));
    var folder = testing.tmpDir(.{});
    defer folder.cleanup();
    var start: [5000]u8 = undefined;
    const whole = try std.fs.cwd().openFile(try demo(), .{});
    defer whole.close();
    _ = try whole.readAll(&start);
    try folder.dir.writeFile(.{ .sub_path = "damaged.gguf", .data = &start });
    const damaged = try folder.dir.realpathAlloc(allocator, "damaged.gguf");
    defer allocator.free(damaged);
    try testing.expectError(error.InvalidFile, mlxrocm.Model.load(damaged, .{}));
    try testing.expectError(error.InvalidArgument, mlxrocm.Model.load("a\x00b", .{}));

    const loaded = try Loaded.init();
    const many = [_]mlxrocm.Token{1} ** 600;
    try testing.expectError(error.ContextFull, loaded.session.submit(.{ .tokens = &many }));
    try testing.expectError(error.InvalidArgument, loaded.session.submit(.{}));
    try testing.expectError(error.InvalidArgument, loaded.session.submit(.{ .text = "a", .temperature = std.math.nan(f32) }));
    try testing.expectError(error.InvalidArgument, loaded.session.submit(.{ .text = "a", .bias_tokens = &.{1} }));
    const generation = try loaded.session.submit(.{ .text = "The capital of France is", .max_tokens = 3 });
    defer generation.deinit();
    loaded.deinit();
    const text = try generation.text(allocator);
    defer allocator.free(text);
    try testing.expect(std.mem.indexOf(u8, text, "Paris") != null);
}

var lines: std.atomic.Value(usize) = .init(0);

fn hear(level: mlxrocm.log.Level, line: []const u8) void {
    if (line.len > 0 and @intFromEnum(level) <= @intFromEnum(mlxrocm.log.Level.info)) _ = lines.fetchAdd(1, .monotonic);
}

const Progress = struct {
    last: u64 = 0,
    all: u64 = 1,
    most: u64,

    fn hear(context: ?*anyopaque, done: u64, total: u64) bool {
        const self: *Progress = @ptrCast(@alignCast(context.?));
        if (done < self.last) return false;
        self.last = done;
        self.all = total;
        return done <= self.most;
    }
};

test "log and progress" {
    const cpu = try mlxrocm.Device.open(0);
    defer cpu.deinit();
    try mlxrocm.log.set(.info, hear);
    var progress: Progress = .{ .most = std.math.maxInt(u64) };
    const model = try mlxrocm.Model.load(try demo(), .{ .device = cpu, .progress = .{ .context = &progress, .hear = Progress.hear } });
    model.deinit();
    try mlxrocm.log.set(.info, null);
    try testing.expectEqual(progress.all, progress.last);
    const heard = lines.load(.monotonic);
    try testing.expect(heard > 0);
    progress = .{ .most = 0 };
    const options: mlxrocm.Model.Options = .{ .device = cpu, .progress = .{ .context = &progress, .hear = Progress.hear } };
    try testing.expectError(error.Cancelled, mlxrocm.Model.load(try demo(), options));
    try testing.expectEqual(heard, lines.load(.monotonic));
}
