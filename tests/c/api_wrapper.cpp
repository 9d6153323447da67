// The C++ wrapper: exceptions, moves, loops, and the same results as the C functions.
#include <mlxrocm.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <type_traits>

#define CHECK(condition)                                                                          \
    do {                                                                                          \
        if (!(condition)) {                                                                       \
            std::fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);        \
            std::exit(1);                                                                         \
        }                                                                                         \
    } while (0)

static_assert(!std::is_copy_constructible<mlxrocm::Model>::value, "handles do not copy");
static_assert(std::is_nothrow_move_constructible<mlxrocm::Model>::value, "handles move");
static_assert(std::is_nothrow_move_assignable<mlxrocm::Session>::value, "handles move");

template <typename Call> static mlxrocm_status status_of(Call call) {
    try {
        call();
    } catch (const mlxrocm::Error &error) {
        CHECK(std::strlen(error.what()) > 0);
        return error.status();
    }
    return MLXROCM_OK;
}

static void errors(const char *path) {
    CHECK(status_of([] { mlxrocm::Model("/no/such/file"); }) == MLXROCM_ERROR_IO);
    CHECK(status_of([] { mlxrocm::Device(99); }) == MLXROCM_ERROR_NO_DEVICE);
    CHECK(status_of([&] { mlxrocm::Model(path, 1, [](auto, auto) { return false; }); }) ==
          MLXROCM_ERROR_CANCELLED);
    bool thrown = false;
    try {
        mlxrocm::Model(path, 1, [](auto, auto) -> bool { throw 7; });
    } catch (int seven) {
        thrown = seven == 7;
    }
    CHECK(thrown);
}

// A model runs on the device that it is given.
static void devices(const char *path, const mlxrocm::Device &cpu) {
    std::string said;
    mlxrocm::set_log(MLXROCM_LOG_INFO,
                     [&](std::uint32_t, std::string_view line) { said += std::string(line) + '\n'; });
    const mlxrocm::Model on_cpu(path, cpu, 1);
    mlxrocm::set_log(MLXROCM_LOG_INFO, {});
    CHECK(said.find("on the CPU") != std::string::npos);
    // Nothing was chosen: no word about GPUs.
    CHECK(said.find("the model runs on the CPU:") == std::string::npos);
    CHECK(status_of([&] { mlxrocm::Model(path, cpu, 1, [](auto, auto) { return false; }); }) ==
          MLXROCM_ERROR_CANCELLED);
    CHECK(status_of([&] { mlxrocm::Model("/no/such/file", cpu); }) == MLXROCM_ERROR_IO);
}

/* A processor that allows one token, one that throws, and several generations waited for at once. */
static void constrained(mlxrocm::Session &session, const std::vector<mlxrocm::Token> &prompt) {
    mlxrocm::Request only, broken;
    only.tokens(prompt).max_tokens(5).logits_processor(
        [](const mlxrocm::Token *, std::size_t, float *logits, std::size_t vocab_size) {
            std::fill(logits, logits + vocab_size, -INFINITY);
            logits[66] = 0;
        });
    broken.tokens(prompt).logits_processor(
        [](const mlxrocm::Token *, std::size_t, float *, std::size_t) { throw 1; });
    std::vector<mlxrocm::Generation> all;
    all.push_back(session.submit(only));
    all.push_back(session.submit(broken));
    CHECK(all[0].fd() >= 0 && all[0].fd() != all[1].fd());
    std::size_t tokens = 0, failed = 0;
    while (const std::optional<std::size_t> ready = mlxrocm::Generation::wait_any(all)) {
        mlxrocm::Event event;
        CHECK(all[*ready].next(event, std::chrono::nanoseconds(0)) == MLXROCM_OK);
        if (event.is_token()) {
            CHECK(*ready == 0 && event.token == 66);
            tokens++;
        }
        failed += event.is_finished() && event.error_status == MLXROCM_ERROR_CANCELLED;
    }
    CHECK(tokens == 5 && failed == 1);
    int came_out = 0;
    mlxrocm::Generation again = session.submit(broken);
    try {
        again.text();
    } catch (int thrown) {
        came_out = thrown;
    }
    CHECK(came_out == 1);
}

/* What a text must be. */
static void by_grammars(mlxrocm::Session &session, const std::vector<mlxrocm::Token> &prompt) {
    const auto answer = [&](mlxrocm::Request &&request) {
        mlxrocm::Generation generation = session.submit(request.tokens(prompt).max_tokens(30));
        return generation.text();
    };
    const std::string word = answer(std::move(mlxrocm::Request().json_schema("{\"enum\": [\"yes\", \"no\"]}")));
    CHECK(word == "\"yes\"" || word == "\"no\"");
    CHECK(answer(std::move(mlxrocm::Request().regex("ab{2}"))) == "abb");
    CHECK(answer(std::move(mlxrocm::Request().grammar("start: \"ja\""))) == "ja");
    CHECK(status_of([&] { answer(std::move(mlxrocm::Request().json_schema("{"))); }) ==
          MLXROCM_ERROR_INVALID_ARGUMENT);
}

static std::string text_of(mlxrocm::Generation generation, std::size_t &tokens) {
    std::string text;
    tokens = 0;
    for (const mlxrocm::Event &event : generation) {
        text += event.text();
        tokens += event.is_token() ? 1u : 0u;
    }
    mlxrocm::Event event;
    CHECK(generation.next(event) == MLXROCM_END);
    return text;
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    const char *path = argv[1];
    CHECK(mlxrocm::version().find('.') != std::string::npos && !mlxrocm::build_info().empty());
    CHECK(mlxrocm::Device::count() >= 1);
    const mlxrocm::Device cpu(0);
    CHECK(cpu.info().kind == MLXROCM_DEVICE_CPU);

    std::size_t lines = 0;
    mlxrocm::set_log(MLXROCM_LOG_DEBUG, [&](std::uint32_t, std::string_view line) {
        lines += line.empty() ? 0u : 1u;
        throw 1; // does not get into the library
    });
    mlxrocm::Model first(path, 1);
    CHECK(lines > 0);
    mlxrocm::set_log(MLXROCM_LOG_DEBUG, {});
    devices(path, cpu);
    errors(path);

    mlxrocm::Model model = std::move(first);
    CHECK(model.get() && !first.get()); // NOLINT: moved from on purpose
    CHECK(status_of([&] { first.info(); }) == MLXROCM_ERROR_NULL_ARGUMENT);
    CHECK(model.info().layers > 0);

    const mlxrocm::Tokenizer tokenizer = model.tokenizer();
    const std::vector<mlxrocm::Token> tokens = tokenizer.encode("The hat");
    CHECK(!tokens.empty() && tokenizer.decode(tokens) == "The hat");
    CHECK(tokenizer.encode("").empty() && tokenizer.decode({}).empty());
    CHECK(tokenizer.info().vocab_size > 256 && !tokenizer.find("no such token"));
    const auto turn_end = tokenizer.find("<|im_end|>");
    CHECK(turn_end && tokenizer.is_special(*turn_end));
    CHECK(tokenizer.token_bytes(*turn_end) == "<|im_end|>");
    CHECK(status_of([&] { tokenizer.decode({1u << 30}); }) == MLXROCM_ERROR_INVALID_ARGUMENT);

    const mlxrocm::ChatTemplate chat = model.chat_template();
    const std::vector<mlxrocm::Message> messages = {{"user", "Hi"}};
    CHECK(chat.render(messages).find("Hi") != std::string::npos);
    CHECK(mlxrocm::ChatTemplate(chat.source()).render(messages) == chat.render(messages));

    mlxrocm_session_options options{};
    options.context = 128;
    mlxrocm::Session session(model, options);
    CHECK(session.info().context == 128 && session.info().kv_tokens >= 128);
    options.kv_type = MLXROCM_KV_Q8;
    CHECK(mlxrocm::Session(model, options).info().kv_bytes < session.info().kv_bytes);
    const std::vector<float> logits = session.logits(tokens);
    CHECK(logits.size() == tokens.size() * model.info().vocab_size);
    const std::vector<float> last = session.logits_at(tokens);
    CHECK(std::equal(last.rbegin(), last.rend(), logits.rbegin()));
    CHECK(session.logits_at(tokens, {0, 2}).size() == 2 * model.info().vocab_size);
    const std::vector<float> embedding = session.embed(tokens);
    CHECK(embedding.size() == model.info().hidden_size);
    const std::vector<std::uint8_t> state = session.save_state(std::vector<mlxrocm::Token>(70, 65));
    session.load_state(state);
    CHECK(mlxrocm::state_tokens(state).size() == 70);
    CHECK(session.embed(tokens, MLXROCM_POOLING_NONE).size() == tokens.size() * embedding.size());

    mlxrocm::Request request;
    request.tokens(tokens).max_tokens(8);
    constrained(session, tokens);
    by_grammars(session, tokens);
    request.options.flags = MLXROCM_REQUEST_IGNORE_EOS;
    std::size_t count = 0, again = 0;
    const std::string text = text_of(session.submit(request), count);
    CHECK(count == 8 && text_of(session.submit(request), again) == text && again == 8);
    mlxrocm::Request biased = request;
    const std::string biased_text = text_of(session.submit(biased.bias(65, 1000.0f)), count);
    std::string repeated;
    for (int i = 0; i < 8; i++) repeated += tokenizer.token_bytes(65);
    CHECK(biased_text == repeated);
    biased.stop_tokens({65});
    CHECK(text_of(session.submit(biased), count).size() <= 1 && count <= 1);
    mlxrocm::Request talk;
    talk.chat(messages).max_tokens(3).stop({"never to be found"});
    text_of(session.submit(talk), count);
    CHECK(count <= 3);
    CHECK(status_of([&] { session.submit(mlxrocm::Request()); }) == MLXROCM_ERROR_INVALID_ARGUMENT);
    CHECK(status_of([&] { session.submit(mlxrocm::Request().text("a").tokens({1})); }) ==
          MLXROCM_ERROR_INVALID_ARGUMENT);

    mlxrocm::Generation running = session.submit(mlxrocm::Request().text("The").max_tokens(100));
    running.cancel();
    mlxrocm::Event event;
    mlxrocm_status status = MLXROCM_OK;
    while ((status = running.next(event, std::chrono::seconds(60))) == MLXROCM_OK) {
    }
    CHECK(status == MLXROCM_END && event.is_finished());
    mlxrocm::Generation moved = std::move(running);
    moved = session.submit(mlxrocm::Request().text("The").max_tokens(1)); // frees the old one
    CHECK(moved.get() && !running.get());                                  // NOLINT
    return 0;
}
