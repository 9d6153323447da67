// mlxrocm_chess.hpp: networks of Leela Chess Zero for C++17.
//
//     mlxrocm::ChessNet net("maia-1900.pb.gz");
//     mlxrocm::ChessEvaluation found = net.evaluate({{"", {"e2e4"}}}).front();
//     mlxrocm::ChessQueue queue(net); // batches in flight: submit, next
#ifndef MLXROCM_CHESS_HPP
#define MLXROCM_CHESS_HPP

#include <mlxrocm.hpp>

#include <limits>
#include <map>
#include <mutex>

namespace mlxrocm {

// Where a game has come to.
struct ChessPosition {
    std::string fen; // where it began; "": the usual start
    std::vector<std::string> moves{}; // since, in UCI's notation
};

// A legal move and its probability.
struct ChessMove {
    std::string name; // UCI's
    std::uint32_t policy_index;
    float chance;
};

// What a network says: chances of the side to move. Networks that tell a value q only: (1 + q) / 2, 0 and
// (1 - q) / 2.
struct ChessEvaluation {
    float win, draw, loss;
    float moves_left; // plies; 0 of networks that do not tell
    std::vector<ChessMove> moves; // none if the game is over
};

namespace detail {
// What a network gets of positions, and what turns its logits into chances.
struct ChessInputs {
    std::vector<std::uint64_t> masks;
    std::vector<float> values;
    std::vector<std::vector<mlxrocm_chess_move>> legal;
};
// What it gives of as many.
struct ChessOutputs {
    std::vector<float> policy, wdl, moves_left;
    explicit ChessOutputs(std::size_t count) : policy(count * MLXROCM_CHESS_MOVES), wdl(3 * count), moves_left(count) {}

    std::vector<ChessEvaluation> evaluations(const std::vector<std::vector<mlxrocm_chess_move>> &legal,
                                             float temperature) const {
        std::vector<ChessEvaluation> made;
        for (std::size_t i = 0; i < legal.size(); i++) {
            std::vector<float> chances(legal[i].size());
            call(mlxrocm_chess_net_get_chances, &policy[i * MLXROCM_CHESS_MOVES], legal[i].data(), legal[i].size(),
                 temperature, chances.data());
            made.push_back({wdl[3 * i], wdl[3 * i + 1], wdl[3 * i + 2], moves_left[i], {}});
            for (std::size_t k = 0; k < chances.size(); k++) {
                const mlxrocm_chess_move &move = legal[i][k];
                made[i].moves.push_back({std::string(move.name, move.name_length), move.policy_index, chances[k]});
            }
        }
        return made;
    }
};
} // namespace detail

class ChessNet : public detail::Owned<mlxrocm_chess_net, mlxrocm_chess_net_free> {
  public:
    // A .pb.gz or the same unpacked. `options`: zero is each field's default; its struct_size need not be set.
    explicit ChessNet(const std::string &path, mlxrocm_chess_net_options options = {})
        : Owned(load(path, options)) {}
    ChessNet(const std::string &path, const Device &device, std::uint32_t threads = 0)
        : Owned(load(path, on(device, threads))) {}
    mlxrocm_chess_net_info info() const {
        mlxrocm_chess_net_info info{};
        info.struct_size = sizeof info;
        detail::call(mlxrocm_chess_net_get_info, get(), &info);
        return info;
    }
    // Up to 1,024 positions at once. Temperature 1 takes the policy as it is, larger ones make the chances of moves
    // more alike. Threads may evaluate at the same time.
    std::vector<ChessEvaluation> evaluate(const std::vector<ChessPosition> &positions, float temperature = 1) const {
        const std::size_t count = positions.size();
        if (count == 0) return {};
        const detail::ChessInputs inputs = this->inputs(positions);
        detail::ChessOutputs outputs(count);
        detail::call(mlxrocm_chess_net_evaluate, get(), inputs.masks.data(), inputs.values.data(), count,
                     outputs.policy.data(), outputs.wdl.data(), outputs.moves_left.data());
        return outputs.evaluations(inputs.legal, temperature);
    }

  private:
    friend class ChessQueue;
    detail::ChessInputs inputs(const std::vector<ChessPosition> &positions) const {
        detail::ChessInputs made;
        made.masks.resize(positions.size() * MLXROCM_CHESS_PLANES);
        made.values.resize(made.masks.size());
        for (std::size_t i = 0; i < positions.size(); i++)
            made.legal.push_back(input(positions[i], &made.masks[i * MLXROCM_CHESS_PLANES],
                                       &made.values[i * MLXROCM_CHESS_PLANES]));
        return made;
    }
    static mlxrocm_chess_net_options on(const Device &device, std::uint32_t threads) {
        mlxrocm_chess_net_options options{};
        // To the library no device is the CPU.
        if (!device.get()) throw NullArgumentError("ChessNet: the device was moved from");
        options.device = device.get();
        options.threads = threads;
        return options;
    }
    static mlxrocm_chess_net *load(const std::string &path, mlxrocm_chess_net_options options) {
        options.struct_size = sizeof options;
        mlxrocm_chess_net *net = nullptr;
        detail::call(mlxrocm_chess_net_load, path.data(), path.size(), &options, &net);
        return net;
    }
    // Fills the planes of a position and gives its legal moves.
    std::vector<mlxrocm_chess_move> input(const ChessPosition &position, std::uint64_t *masks, float *values) const {
        std::vector<const char *> moves;
        std::vector<std::size_t> lengths;
        for (const std::string &move : position.moves) {
            moves.push_back(move.data());
            lengths.push_back(move.size());
        }
        const char *fen = position.fen.empty() ? nullptr : position.fen.data();
        std::vector<mlxrocm_chess_move> legal(256); // no position has more than 218
        std::size_t found = 0;
        detail::call(mlxrocm_chess_net_get_input, get(), fen, position.fen.size(), moves.data(), lengths.data(),
                     moves.size(), masks, values, legal.data(), legal.size(), &found);
        legal.resize(found);
        return legal;
    }
};

// A batch that a queue has done.
struct ChessBatch {
    std::uint64_t number = 0; // 0, 1, 2, ... of this queue
    std::vector<ChessEvaluation> found{};
};

// Batches that a network evaluates one after the other while the program goes on; small ones that wait together are
// evaluated together. Threads may hand in and take at the same time; where several take, each gets others.
class ChessQueue : public detail::Owned<mlxrocm_chess_queue, mlxrocm_chess_queue_free> {
  public:
    // `net` stays where it is as long as positions are handed in.
    explicit ChessQueue(const ChessNet &net) : Owned(make(net)), state_(std::make_unique<State>(net)) {}
    // Hands in 1 to 1,024 positions: the batch's number, or none if the queue holds MLXROCM_CHESS_QUEUE_BATCHES
    // already, those whose results wait included. `temperature`: as in ChessNet::evaluate.
    std::optional<std::uint64_t> submit(const std::vector<ChessPosition> &positions, float temperature = 1) {
        // Else it would be found when the batch is taken.
        if (!(temperature > 0 && temperature < std::numeric_limits<float>::infinity()))
            throw InvalidArgumentError("ChessQueue: a temperature is a number above 0");
        detail::ChessInputs inputs = state_->net.inputs(positions);
        std::uint64_t number = 0;
        // Whoever takes the batch waits until it is known.
        const std::lock_guard<std::mutex> lock(state_->mutex);
        if (detail::call(mlxrocm_chess_queue_submit, get(), inputs.masks.data(), inputs.values.data(), positions.size(),
                         &number) == MLXROCM_PENDING)
            return std::nullopt;
        state_->waiting[number] = {std::move(inputs.legal), temperature};
        if (positions.size() > state_->largest) state_->largest = positions.size();
        return number;
    }
    // MLXROCM_OK with the oldest batch, MLXROCM_PENDING if it was not done in time (negative: for ever), MLXROCM_END
    // when there is none.
    mlxrocm_status next(ChessBatch &batch, std::chrono::nanoseconds timeout = std::chrono::nanoseconds(-1)) {
        std::size_t room;
        {
            const std::lock_guard<std::mutex> lock(state_->mutex);
            room = state_->largest;
        }
        detail::ChessOutputs outputs(room);
        const auto take = [&] {
            return detail::call(mlxrocm_chess_queue_next, get(), std::int64_t{timeout.count()}, room,
                                outputs.policy.data(), outputs.wdl.data(), outputs.moves_left.data(), nullptr,
                                &batch.number);
        };
        mlxrocm_status status;
        try {
            status = take();
        } catch (const BufferTooSmallError &) {
            // A larger one was handed in meanwhile, and is there still.
            outputs = detail::ChessOutputs(room = MLXROCM_CHESS_BATCH);
            status = take();
        }
        if (status != MLXROCM_OK) return status;
        State::Batch taken;
        {
            const std::lock_guard<std::mutex> lock(state_->mutex);
            taken = std::move(state_->waiting.at(batch.number));
            state_->waiting.erase(batch.number);
        }
        batch.found = outputs.evaluations(taken.legal, taken.temperature);
        return status;
    }

  private:
    struct State {
        struct Batch {
            std::vector<std::vector<mlxrocm_chess_move>> legal{};
            float temperature = 1;
        };
        explicit State(const ChessNet &of) : net(of) {}
        const ChessNet &net;
        std::mutex mutex{};
        std::map<std::uint64_t, Batch> waiting{};
        std::size_t largest = 1; // positions of a batch so far
    };
    static mlxrocm_chess_queue *make(const ChessNet &net) {
        mlxrocm_chess_queue *queue = nullptr;
        detail::call(mlxrocm_chess_queue_create, net.get(), &queue);
        return queue;
    }
    std::unique_ptr<State> state_;
};

} // namespace mlxrocm

#endif // MLXROCM_CHESS_HPP
