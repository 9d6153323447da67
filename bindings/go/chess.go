package mlxrocm

// #include <stdlib.h>
// #include <mlxrocm.h>
import "C"

import (
	"context"
	"io"
	"runtime"
	"sync"
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
	inputs, err := n.inputs(positions)
	if err != nil {
		return nil, err
	}
	outputs := newChessOutputs(count)
	var failure *C.mlxrocm_error
	status := C.mlxrocm_chess_net_evaluate((*C.mlxrocm_chess_net)(n.get()), &inputs.masks[0], &inputs.values[0], C.size_t(count),
		&outputs.policy[0], &outputs.wdl[0], &outputs.left[0], &failure)
	if status < 0 {
		return nil, taken(status, failure)
	}
	return outputs.evaluations(inputs.legal, temperature)
}

// chessInputs are what a network gets of positions, and what turns its logits into chances.
type chessInputs struct {
	masks  []C.uint64_t
	values []C.float
	legal  [][]C.mlxrocm_chess_move
}

func (n *ChessNet) inputs(positions []ChessPosition) (chessInputs, error) {
	// One more than there are, so that there is a first one.
	room := (len(positions) + 1) * C.MLXROCM_CHESS_PLANES
	made := chessInputs{make([]C.uint64_t, room), make([]C.float, room), make([][]C.mlxrocm_chess_move, len(positions))}
	for i, position := range positions {
		var err error
		first := i * C.MLXROCM_CHESS_PLANES
		made.legal[i], err = chessInput((*C.mlxrocm_chess_net)(n.get()), position, &made.masks[first], &made.values[first])
		if err != nil {
			return made, err
		}
	}
	return made, nil
}

// chessOutputs are what it gives of as many.
type chessOutputs struct{ policy, wdl, left []C.float }

func newChessOutputs(count int) chessOutputs {
	return chessOutputs{make([]C.float, count*C.MLXROCM_CHESS_MOVES), make([]C.float, 3*count), make([]C.float, count)}
}

func (o chessOutputs) evaluations(legal [][]C.mlxrocm_chess_move, temperature float32) ([]ChessEvaluation, error) {
	made := make([]ChessEvaluation, len(legal))
	for i, moves := range legal {
		chances, err := chessChances(&o.policy[i*C.MLXROCM_CHESS_MOVES], moves, temperature)
		if err != nil {
			return nil, err
		}
		made[i] = ChessEvaluation{
			Win: float32(o.wdl[3*i]), Draw: float32(o.wdl[3*i+1]), Loss: float32(o.wdl[3*i+2]), MovesLeft: float32(o.left[i]),
			Moves: make([]ChessMove, len(moves)),
		}
		for k, move := range moves {
			name := C.GoStringN(&move.name[0], C.int(move.name_length))
			made[i].Moves[k] = ChessMove{name, uint32(move.policy_index), float32(chances[k])}
		}
	}
	return made, nil
}

func chessChances(policy *C.float, moves []C.mlxrocm_chess_move, temperature float32) ([]C.float, error) {
	chances := make([]C.float, len(moves)+1)
	list := append(moves, C.mlxrocm_chess_move{}) // which has a first one
	var failure *C.mlxrocm_error
	status := C.mlxrocm_chess_net_get_chances(policy, &list[0], C.size_t(len(moves)), C.float(temperature), &chances[0], &failure)
	if status < 0 {
		return nil, taken(status, failure)
	}
	return chances, nil
}

// ChessBatch is a batch that a queue has done.
type ChessBatch struct {
	// 0, 1, 2, ... of its queue.
	Number uint64
	Found  []ChessEvaluation
}

// ChessQueue holds batches that a network evaluates one after the other while the program goes on; small ones that wait
// together are evaluated together. Goroutines may hand in and take at the same time; where several take, each gets others.
type ChessQueue struct {
	*object
	net   *ChessNet
	mutex sync.Mutex
	// By their numbers, those that were not taken yet.
	waiting map[uint64]chessWaiting
	// Positions of the largest one so far.
	largest int
}

type chessWaiting struct {
	legal       [][]C.mlxrocm_chess_move
	temperature float32
}

// Queue makes an empty queue.
func (n *ChessNet) Queue() (*ChessQueue, error) {
	var handle *C.mlxrocm_chess_queue
	var failure *C.mlxrocm_error
	defer runtime.KeepAlive(n)
	if status := C.mlxrocm_chess_queue_create((*C.mlxrocm_chess_net)(n.get()), &handle, &failure); status < 0 {
		return nil, taken(status, failure)
	}
	free := func(p unsafe.Pointer) { C.mlxrocm_chess_queue_free((*C.mlxrocm_chess_queue)(p)) }
	return &ChessQueue{object: owned(unsafe.Pointer(handle), free), net: n, waiting: map[uint64]chessWaiting{}}, nil
}

// Submit hands in 1 to 1,024 positions and returns at once: the batch's number, and whether it was taken; a queue that holds
// MLXROCM_CHESS_QUEUE_BATCHES (64) already, those whose results wait included, takes no more. Temperature: as of Evaluate.
func (q *ChessQueue) Submit(positions []ChessPosition, temperature float32) (number uint64, accepted bool, err error) {
	// What is wrong with it would be found when the batch is taken.
	var logits [C.MLXROCM_CHESS_MOVES]C.float
	if _, err := chessChances(&logits[0], nil, temperature); err != nil {
		return 0, false, err
	}
	defer runtime.KeepAlive(q)
	inputs, err := q.net.inputs(positions)
	if err != nil {
		return 0, false, err
	}
	// Whoever takes the batch waits until it is known.
	q.mutex.Lock()
	defer q.mutex.Unlock()
	var given C.uint64_t
	var failure *C.mlxrocm_error
	status := C.mlxrocm_chess_queue_submit((*C.mlxrocm_chess_queue)(q.get()), &inputs.masks[0], &inputs.values[0],
		C.size_t(len(positions)), &given, &failure)
	if status < 0 {
		return 0, false, taken(status, failure)
	}
	if status == C.MLXROCM_PENDING {
		return 0, false, nil
	}
	q.waiting[uint64(given)] = chessWaiting{inputs.legal, temperature}
	if len(positions) > q.largest {
		q.largest = len(positions)
	}
	return uint64(given), true, nil
}

// Next waits for the oldest batch. The error is io.EOF when the queue holds none, and that of the context when it ends.
func (q *ChessQueue) Next(ctx context.Context) (ChessBatch, error) {
	defer runtime.KeepAlive(q)
	// A context cannot end a wait in C.
	wait := C.int64_t(look)
	if ctx.Done() == nil {
		wait = -1
	}
	q.mutex.Lock()
	room := q.largest + 1 // so that there is a first one
	q.mutex.Unlock()
	outputs := newChessOutputs(room)
	var number C.uint64_t
	var failure *C.mlxrocm_error
	for {
		if err := ctx.Err(); err != nil {
			return ChessBatch{}, err
		}
		status := C.mlxrocm_chess_queue_next((*C.mlxrocm_chess_queue)(q.get()), wait, C.size_t(room), &outputs.policy[0],
			&outputs.wdl[0], &outputs.left[0], nil, &number, &failure)
		switch {
		case status == C.MLXROCM_ERROR_BUFFER_TOO_SMALL:
			// A larger one was handed in meanwhile, and is there still.
			C.mlxrocm_error_free(failure)
			failure, room = nil, C.MLXROCM_CHESS_BATCH
			outputs = newChessOutputs(room)
		case status < 0:
			return ChessBatch{}, taken(status, failure)
		case status == C.MLXROCM_END:
			return ChessBatch{}, io.EOF
		case status == C.MLXROCM_OK:
			q.mutex.Lock()
			batch := q.waiting[uint64(number)]
			delete(q.waiting, uint64(number))
			q.mutex.Unlock()
			found, err := outputs.evaluations(batch.legal, batch.temperature)
			return ChessBatch{uint64(number), found}, err
		}
	}
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
