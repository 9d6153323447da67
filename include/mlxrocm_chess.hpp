// mlxrocm_chess.hpp: networks of Leela Chess Zero for C++17.
//
//     mlxrocm::ChessNet net("maia-1900.pb.gz");
//     mlxrocm::ChessEvaluation found = net.evaluate({{"", {"e2e4"}}}).front();
#ifndef MLXROCM_CHESS_HPP
#define MLXROCM_CHESS_HPP

#include <mlxrocm.hpp>

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
        std::vector<ChessEvaluation> made(count);
        if (count == 0) return made;
        std::vector<std::uint64_t> masks(count * MLXROCM_CHESS_PLANES);
        std::vector<float> values(masks.size()), policy(count * MLXROCM_CHESS_MOVES), wdl(3 * count), left(count);
        std::vector<std::vector<mlxrocm_chess_move>> legal(count);
        for (std::size_t i = 0; i < count; i++)
            legal[i] = input(positions[i], &masks[i * MLXROCM_CHESS_PLANES], &values[i * MLXROCM_CHESS_PLANES]);
        detail::call(mlxrocm_chess_net_evaluate, get(), masks.data(), values.data(), count, policy.data(), wdl.data(),
                     left.data());
        for (std::size_t i = 0; i < count; i++) {
            std::vector<float> chances(legal[i].size());
            detail::call(mlxrocm_chess_net_get_chances, &policy[i * MLXROCM_CHESS_MOVES], legal[i].data(),
                         legal[i].size(), temperature, chances.data());
            made[i] = {wdl[3 * i], wdl[3 * i + 1], wdl[3 * i + 2], left[i], {}};
            for (std::size_t k = 0; k < chances.size(); k++) {
                const mlxrocm_chess_move &move = legal[i][k];
                made[i].moves.push_back({std::string(move.name, move.name_length), move.policy_index, chances[k]});
            }
        }
        return made;
    }

  private:
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

} // namespace mlxrocm

#endif // MLXROCM_CHESS_HPP
