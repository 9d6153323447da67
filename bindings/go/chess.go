package mlxrocm

// #include <stdlib.h>
// #include <mlxrocm.h>
import "C"

import (
	"runtime"
	"unsafe"
)

// ChessNet is a network of Leela Chess Zero that evaluates positions.
type ChessNet struct{ *object }

// ChessOptions say how to load a network; zero is each default.
type ChessOptions struct {
	// Nil: the CPU.
	Device *Device
	// CPU threads; 0: one for each CPU.
	Threads uint32
	// MLXROCM_CHESS_POLICY_HEAD_… and MLXROCM_CHESS_VALUE_HEAD_… of the C interface; 0: those that every network has.
	PolicyHead, ValueHead uint32
	// On GPUs: f32 instead of f16.
	F32 bool
}

// ChessPosition is where a game has come to.
type ChessPosition struct {
	// Where the game began; "": the usual start.
	FEN string
	// Moves since in UCI's notation, like "e2e4".
	Moves []string
}

// ChessMove is a legal move and its probability.
type ChessMove struct {
	// UCI's name.
	Name string
	// The move's place in the policy.
	PolicyIndex uint32
	Chance      float32
}

// ChessEvaluation is what a network says about a position.
type ChessEvaluation struct {
	// Chances of the side to move. Networks that tell a value q only: (1 + q) / 2, 0 and (1 - q) / 2.
	Win, Draw, Loss float32
	// Plies; 0 of networks that do not tell.
	MovesLeft float32
	// The legal moves, none if the game is over.
	Moves []ChessMove
}

// ChessInfo has facts about a network.
type ChessInfo struct {
	InputFormat, Depth, Width uint32
	HasDraws, HasMovesLeft    bool
	Parameters                uint64
}

// LoadChessNet loads a file of Leela Chess Zero, .pb.gz or unpacked; nil options are the usual ones.
func LoadChessNet(path string, options *ChessOptions) (*ChessNet, error) {
	if options == nil {
		options = &ChessOptions{}
	}
	// To the library no device is the CPU.
	if options.Device != nil && options.Device.c() == nil {
		return nil, invalid("LoadChessNet: the device is closed")
	}
	var memory arena
	defer memory.release()
	name, length := memory.text(path)
	how := (*C.mlxrocm_chess_net_options)(memory.bytes(unsafe.Sizeof(C.mlxrocm_chess_net_options{})))
	how.struct_size, how.threads = C.uint32_t(unsafe.Sizeof(*how)), C.uint32_t(options.Threads)
	how.policy_head, how.value_head = C.uint32_t(options.PolicyHead), C.uint32_t(options.ValueHead)
	how.device = options.Device.c()
	if options.F32 {
		how.precision = C.MLXROCM_CHESS_PRECISION_F32
	}
	var handle *C.mlxrocm_chess_net
	var failure *C.mlxrocm_error
	status := C.mlxrocm_chess_net_load(name, length, how, &handle, &failure)
	runtime.KeepAlive(options.Device)
	if status < 0 {
		return nil, taken(status, failure)
	}
	free := func(p unsafe.Pointer) { C.mlxrocm_chess_net_free((*C.mlxrocm_chess_net)(p)) }
	return &ChessNet{owned(unsafe.Pointer(handle), free)}, nil
}

// Info tells facts about the network.
func (n *ChessNet) Info() (ChessInfo, error) {
	info := C.mlxrocm_chess_net_info{}
	info.struct_size = C.uint32_t(unsafe.Sizeof(info))
	var failure *C.mlxrocm_error
	defer runtime.KeepAlive(n)
	if status := C.mlxrocm_chess_net_get_info((*C.mlxrocm_chess_net)(n.get()), &info, &failure); status < 0 {
		return ChessInfo{}, taken(status, failure)
	}
	return ChessInfo{
		InputFormat: uint32(info.input_format), Depth: uint32(info.depth), Width: uint32(info.width),
		HasDraws: info.has_draws != 0, HasMovesLeft: info.has_moves_left != 0, Parameters: uint64(info.parameters),
	}, nil
}

// Evaluate evaluates up to 1,024 positions at once. Temperature 1 takes the policy as it is, larger ones make the
// chances of moves more alike. Goroutines may evaluate at the same time.
func (n *ChessNet) Evaluate(positions []ChessPosition, temperature float32) ([]ChessEvaluation, error) {
	count := len(positions)
	if count == 0 {
		return nil, nil
	}
	defer runtime.KeepAlive(n)
	net := (*C.mlxrocm_chess_net)(n.get())
	masks, values := make([]C.uint64_t, count*C.MLXROCM_CHESS_PLANES), make([]C.float, count*C.MLXROCM_CHESS_PLANES)
	legal := make([][]C.mlxrocm_chess_move, count)
	var failure *C.mlxrocm_error
	for i, position := range positions {
		var err error
		first := i * C.MLXROCM_CHESS_PLANES
		if legal[i], err = chessInput(net, position, &masks[first], &values[first]); err != nil {
			return nil, err
		}
	}
	policy, wdl, left := make([]C.float, count*C.MLXROCM_CHESS_MOVES), make([]C.float, 3*count), make([]C.float, count)
	status := C.mlxrocm_chess_net_evaluate(net, &masks[0], &values[0], C.size_t(count), &policy[0], &wdl[0], &left[0], &failure)
	if status < 0 {
		return nil, taken(status, failure)
	}
	made := make([]ChessEvaluation, count)
	for i, moves := range legal {
		chances := make([]C.float, len(moves)+1)
		list := append(moves, C.mlxrocm_chess_move{}) // which has a first one
		status := C.mlxrocm_chess_net_get_chances(&policy[i*C.MLXROCM_CHESS_MOVES], &list[0], C.size_t(len(moves)),
			C.float(temperature), &chances[0], &failure)
		if status < 0 {
			return nil, taken(status, failure)
		}
		made[i] = ChessEvaluation{
			Win: float32(wdl[3*i]), Draw: float32(wdl[3*i+1]), Loss: float32(wdl[3*i+2]), MovesLeft: float32(left[i]),
			Moves: make([]ChessMove, len(moves)),
		}
		for k, move := range moves {
			name := C.GoStringN(&move.name[0], C.int(move.name_length))
			made[i].Moves[k] = ChessMove{name, uint32(move.policy_index), float32(chances[k])}
		}
	}
	return made, nil
}

// chessInput fills the planes of a position and gives its legal moves.
func chessInput(net *C.mlxrocm_chess_net, position ChessPosition, masks *C.uint64_t, values *C.float) ([]C.mlxrocm_chess_move, error) {
	var memory arena
	defer memory.release()
	var fen *C.char
	var length, found C.size_t
	if position.FEN != "" {
		fen, length = memory.text(position.FEN)
	}
	moves, lengths := memory.texts(position.Moves)
	var legal [256]C.mlxrocm_chess_move // no position has more than 218
	var failure *C.mlxrocm_error
	status := C.mlxrocm_chess_net_get_input(net, fen, length, moves, lengths, C.size_t(len(position.Moves)), masks, values,
		&legal[0], C.size_t(len(legal)), &found, &failure)
	if status < 0 {
		return nil, taken(status, failure)
	}
	return append([]C.mlxrocm_chess_move{}, legal[:found]...), nil
}
