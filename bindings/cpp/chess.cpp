// Chess networks beside what Leela Chess Zero itself said (the golden files).
#include "check.hpp"

#include <mlxrocm_chess.hpp>

#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <sstream>
#include <thread>

using mlxrocm::ChessEvaluation;
using mlxrocm::ChessPosition;

static std::string golden(const std::string &name) {
    const char *tree = std::getenv("MLXROCM_TREE");
    CHECK(tree);
    return std::string(tree) + "/tests/golden/chess/" + name;
}

static std::vector<std::string> lines(const std::string &name) {
    std::ifstream file(golden(name));
    std::vector<std::string> all;
    for (std::string line; std::getline(file, line);) all.push_back(line);
    return all;
}

static std::vector<std::string> words(const std::string &text) {
    std::istringstream stream(text);
    return {std::istream_iterator<std::string>(stream), {}};
}

static std::vector<ChessPosition> positions() {
    const std::vector<std::string> games = lines("games.txt");
    std::vector<ChessPosition> all;
    for (const std::string &line : lines("positions.txt")) {
        const std::string &game = games.at(std::stoul(line));
        std::vector<std::string> moves = words(game.substr(game.find('|') + 1));
        moves.resize(std::stoul(line.substr(line.find('|') + 1)));
        all.push_back({game.substr(0, game.find('|')), moves});
    }
    return all;
}

static bool near(float found, float wanted) { return std::abs(found - wanted) < 1e-3F; }

static bool same(const std::vector<ChessEvaluation> &a, const std::vector<ChessEvaluation> &b) {
    bool all = a.size() == b.size();
    for (std::size_t i = 0; all && i < a.size(); i++) {
        all = a[i].win == b[i].win && a[i].draw == b[i].draw && a[i].moves_left == b[i].moves_left &&
              a[i].moves.size() == b[i].moves.size();
        for (std::size_t k = 0; all && k < a[i].moves.size(); k++)
            all = a[i].moves[k].name == b[i].moves[k].name && a[i].moves[k].chance == b[i].moves[k].chance;
    }
    return all;
}

static void evaluations() {
    const mlxrocm::ChessNet net(golden("attention.pb.gz"));
    CHECK(net.info().has_draws && net.info().has_moves_left && net.info().parameters > 0);
    const std::vector<ChessPosition> all = positions();
    const std::vector<ChessEvaluation> found = net.evaluate(all);
    std::ifstream file(golden("attention.out"), std::ios::binary);
    const auto number = [&] {
        float value = 0;
        CHECK(file.read(reinterpret_cast<char *>(&value), sizeof value));
        return value;
    };
    CHECK(found.size() == 8);
    for (std::size_t i = 0; i < found.size(); i++) {
        const ChessEvaluation &of = found[i];
        const float q = number(), d = number(), m = number();
        CHECK(near(of.win - of.loss, q) && near(of.draw, d) && near(of.moves_left, m));
        std::map<std::uint32_t, float> logits;
        for (std::uint32_t place = i % 8; place < MLXROCM_CHESS_MOVES; place += 8) logits[place] = number();
        float sum = 0;
        const mlxrocm::ChessMove *first = nullptr;
        for (const mlxrocm::ChessMove &move : of.moves) {
            sum += move.chance;
            if (!logits.count(move.policy_index)) continue;
            if (!first) first = &move;
            const float wanted = logits[move.policy_index] - logits[first->policy_index];
            CHECK(std::abs(std::log(move.chance / first->chance) - wanted) < 2e-3F);
        }
        CHECK(near(sum, 1) && same(net.evaluate({all[i]}), {of}));
    }
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++) threads.emplace_back([&] { CHECK(same(net.evaluate(all), found)); });
    for (std::thread &thread : threads) thread.join();
}

static void ends_and_mistakes() {
    const mlxrocm::Device cpu(0);
    const mlxrocm::ChessNet net(golden("attention.pb.gz"), cpu, 1);
    CHECK(net.evaluate({{"", {}}}).front().moves.size() == 20);
    CHECK(net.evaluate({{"", words("f2f3 e7e5 g2g4 d8h4")}}).front().moves.empty());
    CHECK(net.evaluate({}).empty());
    CHECK_THROWS(net.evaluate({{"", {"e2e5"}}}), mlxrocm::InvalidArgumentError);
    CHECK_THROWS(net.evaluate({{"x", {}}}), mlxrocm::InvalidArgumentError);
    CHECK_THROWS(net.evaluate({{"", {}}}, 0), mlxrocm::InvalidArgumentError);
    CHECK_THROWS(net.evaluate(std::vector<ChessPosition>(1025)), mlxrocm::InvalidArgumentError);
    CHECK_THROWS(mlxrocm::ChessNet("/nowhere"), mlxrocm::IoError);
    CHECK_THROWS(mlxrocm::ChessNet(""), mlxrocm::InvalidArgumentError);
}

static void queues() {
    const mlxrocm::ChessNet net(golden("attention.pb.gz"));
    const std::vector<ChessPosition> all = positions();
    const std::vector<ChessEvaluation> wanted = net.evaluate(all);
    const auto first = [](const auto &from, std::size_t count) {
        return std::decay_t<decltype(from)>(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(count));
    };
    mlxrocm::ChessQueue queue(net);
    mlxrocm::ChessBatch batch;
    CHECK(queue.next(batch) == MLXROCM_END);
    for (std::size_t i = 0; i < 8; i++) CHECK(queue.submit(first(all, i + 1)) == i);
    for (std::size_t i = 0; i < 8; i++)
        CHECK(queue.next(batch) == MLXROCM_OK && batch.number == i && same(batch.found, first(wanted, i + 1)));
    CHECK(queue.submit(all) == 8);
    mlxrocm_status status = queue.next(batch, std::chrono::nanoseconds(0));
    while (status == MLXROCM_PENDING) status = queue.next(batch, std::chrono::milliseconds(1));
    CHECK(status == MLXROCM_OK && batch.number == 8 && same(batch.found, wanted));
    // A queue that is full takes no more.
    int handed = 0;
    while (queue.submit(first(all, 1))) handed++;
    CHECK(handed == MLXROCM_CHESS_QUEUE_BATCHES);
    mlxrocm::ChessQueue moved = std::move(queue);
    for (; handed > 0; handed--) CHECK(moved.next(batch) == MLXROCM_OK && same(batch.found, first(wanted, 1)));
    CHECK(moved.next(batch) == MLXROCM_END);
    CHECK_THROWS(moved.submit({}), mlxrocm::InvalidArgumentError);
    CHECK_THROWS(moved.submit(std::vector<ChessPosition>(1025)), mlxrocm::InvalidArgumentError);
    CHECK_THROWS(moved.submit(all, 0), mlxrocm::InvalidArgumentError);
    // Several threads hand in and take: each batch comes out once.
    std::mutex mutex;
    std::map<std::uint64_t, std::size_t> counts;
    std::size_t taken = 0;
    std::vector<std::thread> threads;
    for (std::size_t seed = 0; seed < 4; seed++)
        threads.emplace_back([&, seed] {
            for (std::size_t i = 0; i < 20; i++) {
                const std::size_t count = 1 + (7 * seed + i) % 5;
                mlxrocm::ChessBatch got;
                {
                    const std::lock_guard<std::mutex> lock(mutex);
                    counts[*moved.submit(first(all, count))] = count;
                }
                if (moved.next(got) != MLXROCM_OK) continue;
                const std::lock_guard<std::mutex> lock(mutex);
                CHECK(same(got.found, first(wanted, counts.at(got.number))));
                taken++;
            }
        });
    for (std::thread &thread : threads) thread.join();
    CHECK(taken == 80 && moved.next(batch) == MLXROCM_END);
    // What a queue holds is dropped with it.
    CHECK(moved.submit(all));
}

int main() {
    evaluations();
    ends_and_mistakes();
    queues();
    std::puts("chess: passed");
}
