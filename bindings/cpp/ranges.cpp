// Generations in C++20's ranges, with the demo model.
#include "check.hpp"

#include <mlxrocm.hpp>

#include <ranges>

static_assert(std::ranges::input_range<mlxrocm::Generation>);
static_assert(std::ranges::viewable_range<mlxrocm::Generation &>);
static_assert(!std::ranges::forward_range<mlxrocm::Generation>, "an event lives until the next one");

int main() {
    const mlxrocm::Model model(std::getenv("MLXROCM_DEMO_MODEL"), mlxrocm::Device(0));
    mlxrocm::Session session(model);
    const mlxrocm::Request request = mlxrocm::Request().text("The capital of France is").max_tokens(3);
    auto generation = session.submit(request);
    std::vector<mlxrocm::Token> tokens;
    for (const mlxrocm::Token token : generation | std::views::filter(&mlxrocm::Event::is_token) |
                                          std::views::transform(&mlxrocm::Event::token))
        tokens.push_back(token);
    CHECK(tokens.size() == 3);
    CHECK(model.tokenizer().decode(tokens) == session.submit(request).text());
    std::puts("ranges: passed");
}
