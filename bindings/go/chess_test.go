package mlxrocm_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"

	"mlxrocm"
)

const goldenChess = "../../tests/golden/chess/"

func file(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(goldenChess + name)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// The positions of the golden files.
func positions(t *testing.T) (all []mlxrocm.ChessPosition) {
	games := strings.Split(string(file(t, "games.txt")), "\n")
	for _, line := range strings.Fields(string(file(t, "positions.txt"))) {
		game, plies, _ := strings.Cut(line, "|")
		fen, moves, _ := strings.Cut(games[mlxrocm.Must(strconv.Atoi(game))], "|")
		played := strings.Fields(moves)[:mlxrocm.Must(strconv.Atoi(plies))]
		all = append(all, mlxrocm.ChessPosition{FEN: fen, Moves: played})
	}
	return all
}

// What Leela Chess Zero itself said is in the golden file.
func TestChess(t *testing.T) {
	net, err := mlxrocm.LoadChessNet(goldenChess+"attention.pb.gz", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer net.Close()
	if info := mlxrocm.Must(net.Info()); !info.HasDraws || !info.HasMovesLeft || info.Parameters == 0 {
		t.Errorf("%+v", info)
	}
	all := positions(t)
	found := mlxrocm.Must(net.Evaluate(all, 1))
	answers := file(t, "attention.out")
	number := func() float64 {
		bits := binary.LittleEndian.Uint32(answers)
		answers = answers[4:]
		return float64(math.Float32frombits(bits))
	}
	for i, of := range found {
		q, d, m := number(), number(), number()
		if math.Abs(float64(of.Win-of.Loss)-q) > 1e-3 || math.Abs(float64(of.Draw)-d) > 1e-3 || math.Abs(float64(of.MovesLeft)-m) > 1e-3 {
			t.Errorf("position %d: %+v, not %v %v %v", i, of, q, d, m)
		}
		logits := make(map[int]float64)
		for place := i % 8; place < 1858; place += 8 {
			logits[place] = number()
		}
		chance := 0.0
		var known []mlxrocm.ChessMove
		for _, move := range of.Moves {
			chance += float64(move.Chance)
			if _, ok := logits[int(move.PolicyIndex)]; ok {
				known = append(known, move)
			}
		}
		if math.Abs(chance-1) > 1e-4 {
			t.Errorf("position %d: %v of chances", i, chance)
		}
		for _, move := range known {
			wanted := logits[int(move.PolicyIndex)] - logits[int(known[0].PolicyIndex)]
			if got := math.Log(float64(move.Chance) / float64(known[0].Chance)); math.Abs(got-wanted) > 2e-3 {
				t.Errorf("position %d, %s: %v, not %v", i, move.Name, got, wanted)
			}
		}
		alone := mlxrocm.Must(net.Evaluate(all[i:i+1], 1))
		if !reflect.DeepEqual(alone[0], of) {
			t.Errorf("position %d is another alone", i)
		}
	}
	var group sync.WaitGroup
	for i := 0; i < 4; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			if again, err := net.Evaluate(all, 1); err != nil || !reflect.DeepEqual(again, found) {
				t.Errorf("beside others: %v", err)
			}
		}()
	}
	group.Wait()
}

func TestChessErrors(t *testing.T) {
	net := mlxrocm.Must(mlxrocm.LoadChessNet(goldenChess+"attention.pb.gz", &mlxrocm.ChessOptions{Threads: 1}))
	start := mlxrocm.Must(net.Evaluate([]mlxrocm.ChessPosition{{}}, 1))
	if len(start[0].Moves) != 20 {
		t.Errorf("%+v", start)
	}
	mate := mlxrocm.Must(net.Evaluate([]mlxrocm.ChessPosition{{Moves: strings.Fields("f2f3 e7e5 g2g4 d8h4")}}, 1))
	if len(mate[0].Moves) != 0 {
		t.Errorf("%+v", mate)
	}
	if none, err := net.Evaluate(nil, 1); none != nil || err != nil {
		t.Error(none, err)
	}
	for _, position := range []mlxrocm.ChessPosition{{FEN: "x"}, {Moves: []string{"e2e5"}}, {Moves: []string{"e2e4\x00"}}} {
		if _, err := net.Evaluate([]mlxrocm.ChessPosition{position}, 1); !errors.Is(err, mlxrocm.InvalidArgument) {
			t.Errorf("%v: %v", position, err)
		}
	}
	if _, err := net.Evaluate(make([]mlxrocm.ChessPosition, 1025), 1); !errors.Is(err, mlxrocm.InvalidArgument) {
		t.Error(err)
	}
	if _, err := net.Evaluate([]mlxrocm.ChessPosition{{}}, 0); !errors.Is(err, mlxrocm.InvalidArgument) {
		t.Error(err)
	}
	net.Close()
	if _, err := net.Evaluate([]mlxrocm.ChessPosition{{}}, 1); err == nil || !strings.Contains(err.Error(), "net is nil or was closed") {
		t.Error(err)
	}
	if _, err := mlxrocm.LoadChessNet("/nowhere", nil); !errors.Is(err, mlxrocm.IO) {
		t.Error(err)
	}
}

func TestChessQueue(t *testing.T) {
	net := mlxrocm.Must(mlxrocm.LoadChessNet(goldenChess+"attention.pb.gz", nil))
	all := positions(t)
	wanted := mlxrocm.Must(net.Evaluate(all, 1))
	queue := mlxrocm.Must(net.Queue())
	defer queue.Close()
	ctx := context.Background()
	if _, err := queue.Next(ctx); err != io.EOF {
		t.Fatal(err)
	}
	submit := func(count int) (uint64, bool) {
		number, accepted, err := queue.Submit(all[:count], 1)
		if err != nil {
			t.Fatal(err)
		}
		return number, accepted
	}
	for i := 0; i < 8; i++ {
		if number, accepted := submit(i + 1); number != uint64(i) || !accepted {
			t.Fatal(i, number, accepted)
		}
	}
	for i := 0; i < 8; i++ {
		batch := mlxrocm.Must(queue.Next(ctx))
		if batch.Number != uint64(i) || !reflect.DeepEqual(batch.Found, wanted[:i+1]) {
			t.Fatalf("%d: %+v", i, batch)
		}
	}
	// A queue that is full takes no more.
	handed := 0
	for {
		if _, accepted := submit(1); !accepted {
			break
		}
		handed++
	}
	if handed != 64 {
		t.Error(handed)
	}
	ended, cancel := context.WithCancel(ctx)
	for ; handed > 0; handed-- {
		if batch := mlxrocm.Must(queue.Next(ended)); !reflect.DeepEqual(batch.Found, wanted[:1]) {
			t.Fatalf("%+v", batch)
		}
	}
	cancel()
	if _, err := queue.Next(ended); err != context.Canceled {
		t.Error(err)
	}
	for _, wrong := range [][]mlxrocm.ChessPosition{nil, make([]mlxrocm.ChessPosition, 1025), {{FEN: "x"}}} {
		if _, _, err := queue.Submit(wrong, 1); !errors.Is(err, mlxrocm.InvalidArgument) {
			t.Errorf("%d: %v", len(wrong), err)
		}
	}
	if _, _, err := queue.Submit(all, 0); !errors.Is(err, mlxrocm.InvalidArgument) {
		t.Error(err)
	}
	// Several goroutines hand in and take: each batch comes out once.
	var mutex sync.Mutex
	var group sync.WaitGroup
	counts, taken := map[uint64]int{}, 0
	for seed := 0; seed < 4; seed++ {
		group.Add(1)
		go func(seed int) {
			defer group.Done()
			for i := 0; i < 20; i++ {
				count := 1 + (7*seed+i)%5
				mutex.Lock()
				number, _, err := queue.Submit(all[:count], 1)
				counts[number] = count
				mutex.Unlock()
				batch, next := queue.Next(ctx)
				if next == io.EOF {
					continue
				}
				mutex.Lock()
				if err != nil || next != nil || !reflect.DeepEqual(batch.Found, wanted[:counts[batch.Number]]) {
					t.Errorf("%v %v %+v", err, next, batch)
				}
				taken++
				mutex.Unlock()
			}
		}(seed)
	}
	group.Wait()
	if taken != 80 {
		t.Error(taken)
	}
	// What a queue holds is dropped with it, and the queue keeps the network.
	submit(8)
	queue.Close()
	if _, err := queue.Next(ctx); err == nil || !strings.Contains(err.Error(), "queue is nil or was closed") {
		t.Error(err)
	}
	net.Close()
	if _, err := net.Queue(); err == nil {
		t.Error("a queue of a closed network")
	}
}
