// Chat, batch, cancel and errors with the demo model.
#include "check.hpp"

#include <mlxrocm.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <thread>

using mlxrocm::Event;
using mlxrocm::Request;
using mlxrocm::Session;

static Request text(const std::string &prompt, std::uint32_t tokens) { return Request().text(prompt).max_tokens(tokens); }

static Request endless() {
    Request request = text("Count:", 400);
    request.options.flags = MLXROCM_REQUEST_IGNORE_EOS;
    return request;
}

static void chat(const mlxrocm::Model &model, Session &session) {
    const std::vector<mlxrocm::Message> messages = {{"user", "What is the capital of France?"}};
    std::string streamed;
    std::vector<mlxrocm::Token> tokens;
    auto generation = session.submit(Request().chat(messages).max_tokens(24));
    std::uint64_t generated = 0;
    for (const Event &event : generation) {
        streamed += event.text();
        if (event.is_token()) tokens.push_back(event.token);
        if (event.is_finished()) generated = event.generated_tokens;
    }
    CHECK(streamed.find("Paris") != std::string::npos);
    CHECK(generated == tokens.size());
    const auto tokenizer = model.tokenizer();
    CHECK(tokenizer.decode(tokens, MLXROCM_DECODE_SKIP_SPECIAL) == streamed);
    const auto prompt = tokenizer.encode(model.chat_template().render(messages), MLXROCM_ENCODE_PARSE_SPECIAL);
    CHECK(session.submit(Request().tokens(prompt).max_tokens(24)).text() == streamed);
    const char *json = R"({"messages": [{"role": "user", "content": [
        {"type": "text", "text": "What is the capital"}, {"type": "text", "text": " of France?"}]}]})";
    CHECK(session.submit(Request().chat_json(json).max_tokens(24)).text() == streamed);
}

static void greedy(const mlxrocm::Model &model, Session &session) {
    std::vector<mlxrocm::Token> all = model.tokenizer().encode("Water boils at");
    const std::size_t first = all.size(), width = model.info().vocab_size;
    Request request = Request().tokens(all).max_tokens(5);
    request.options.logprobs = 1;
    std::vector<float> logprobs;
    auto generation = session.submit(request);
    for (const Event &event : generation) {
        if (!event.is_token()) continue;
        all.push_back(event.token);
        logprobs.push_back(event.logprob);
    }
    CHECK(logprobs.size() == 5);
    const std::vector<float> logits = session.logits(all);
    for (std::size_t i = 0; i < logprobs.size(); i++) {
        const float *row = logits.data() + (first + i - 1) * width;
        const float *best = std::max_element(row, row + width);
        double total = 0;
        for (const float *logit = row; logit < row + width; logit++) total += std::exp(double(*logit));
        CHECK(static_cast<std::size_t>(best - row) == all[first + i]);
        CHECK(std::abs(double(*best) - std::log(total) - double(logprobs[i])) < 1e-3);
    }
}

static void batch(Session &session) {
    std::vector<Request> requests;
    for (const char *prompt : {"The capital of France is", "Once upon a time", "Water boils at", "The sea", "Two and"})
        requests.push_back(text(prompt, 8));
    const std::vector<std::string> found = session.batch(requests);
    std::vector<std::future<std::string>> futures;
    for (const Request &request : requests) futures.push_back(session.submit_async(request));
    for (std::size_t i = 0; i < requests.size(); i++) {
        CHECK(session.submit(requests[i]).text() == found[i]);
        CHECK(futures[i].get() == found[i]);
    }
}

static void cancel(Session &session) {
    auto generation = session.submit(endless());
    std::thread other([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        generation.cancel();
    });
    std::uint32_t reason = 0;
    for (const Event &event : generation)
        if (event.is_finished()) reason = event.finish_reason;
    other.join();
    CHECK(reason == MLXROCM_FINISH_CANCELLED);
    Event event;
    CHECK(generation.next(event) == MLXROCM_END);
    const std::string stopped = session.submit(text("One, two, three, four,", 20).stop({" six"})).text();
    CHECK(stopped.find("five") != std::string::npos && stopped.find("six") == std::string::npos);
}

static void errors(const char *path, Session &session) {
    std::ifstream whole(path, std::ios::binary);
    std::string start(5000, '\0');
    whole.read(start.data(), 5000);
    const char *damaged = "damaged.gguf";
    std::ofstream(damaged, std::ios::binary) << start;
    CHECK_THROWS(mlxrocm::Model(damaged), mlxrocm::InvalidFileError);
    std::remove(damaged);
    CHECK_THROWS(mlxrocm::Model("/nowhere/model.gguf"), mlxrocm::IoError);
    CHECK_THROWS(session.submit(Request().tokens(std::vector<mlxrocm::Token>(600, 1))), mlxrocm::ContextFullError);
    CHECK_THROWS(session.submit(Request()), mlxrocm::InvalidArgumentError);
    CHECK_THROWS(mlxrocm::Device(mlxrocm::Device::count()), mlxrocm::NoDeviceError);
    CHECK_THROWS(mlxrocm::ChatTemplate("{% if %}"), mlxrocm::InvalidFileError);
    try {
        mlxrocm::detail::raise(-99, "later");
    } catch (const mlxrocm::Error &error) {
        CHECK(error.status() == -99);
    }
}

int main() {
    const char *path = std::getenv("MLXROCM_DEMO_MODEL");
    CHECK(path != nullptr);
    mlxrocm_session_options options{};
    options.context = 512;
    auto model = std::make_unique<mlxrocm::Model>(path, mlxrocm::Device(0));
    auto session = std::make_unique<Session>(*model, options);
    chat(*model, *session);
    greedy(*model, *session);
    batch(*session);
    cancel(*session);
    errors(path, *session);
    // Objects may go in any order.
    auto last = session->submit(text("The capital of France is", 3));
    model.reset();
    session.reset();
    CHECK(last.text().find("Paris") != std::string::npos);
    std::puts("model: passed");
}
