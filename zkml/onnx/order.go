package onnx

import (
	"fmt"
	"slices"
)

// nodeLabel names a node in errors: by its name, or by its position when it has none.
func (im *importer) nodeLabel(i int) string {
	n := im.graph.Node[i]
	if n.Name != "" {
		return fmt.Sprintf("node %s (%s)", Quote(n.Name), printable(n.OpType))
	}
	return fmt.Sprintf("node %d (%s)", i, printable(n.OpType))
}

// printable returns an operator name as it is when it is a plain word, quoted otherwise.
func printable(op string) string {
	if len(op) == 0 || len(op) > 80 {
		return Quote(op)
	}
	for _, r := range op {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_') {
			return Quote(op)
		}
	}
	return op
}

// order returns the nodes in an order in which producers come before consumers, keeping the file's order where it is one. It refuses
// duplicate node names, tensors without a producer, and cycles.
func (im *importer) order() ([]int, error) {
	nodes := im.graph.Node
	names := map[string]bool{}
	producer := map[string]int{}
	for i, n := range nodes {
		if n.Name != "" && names[n.Name] {
			return nil, malformed("two nodes are named %s", Quote(n.Name))
		}
		names[n.Name] = true
		for _, out := range n.Output {
			if out == "" {
				continue
			}
			_, twice := producer[out]
			if _, given := im.ids[out]; given || twice {
				return nil, malformed("%s: tensor %s is defined twice", im.nodeLabel(i), Quote(out))
			}
			producer[out] = i
		}
	}
	waiting := make([]int, len(nodes))     // inputs of a node that are not there yet
	consumers := make([][]int, len(nodes)) // with repetition
	for i, n := range nodes {
		for _, in := range reads(n, 0) {
			if _, given := im.ids[in]; given || in == "" {
				continue
			}
			from, ok := producer[in]
			if !ok {
				return nil, malformed("%s: input %s is not defined anywhere", im.nodeLabel(i), Quote(in))
			}
			waiting[i]++
			consumers[from] = append(consumers[from], i)
		}
	}
	ready := &intHeap{}
	for i := range nodes {
		if waiting[i] == 0 {
			ready.push(i)
		}
	}
	var order []int
	for len(*ready) > 0 {
		i := ready.pop()
		order = append(order, i)
		for _, c := range consumers[i] {
			if waiting[c]--; waiting[c] == 0 {
				ready.push(c)
			}
		}
	}
	if len(order) < len(nodes) {
		for i := range nodes {
			if waiting[i] > 0 {
				return nil, malformed("%s is part of a cycle or depends on one", im.nodeLabel(i))
			}
		}
	}
	return order, nil
}

// checkUsed refuses outputs that nothing computes, and dead nodes and constants: an output of every node, every initializer and every
// input must be read by a node or be an output of the graph.
func (im *importer) checkUsed() error {
	used := map[string]bool{}
	for _, n := range im.graph.Node {
		for _, in := range reads(n, 0) {
			used[in] = true
		}
	}
	made := map[string]bool{}
	for _, n := range im.graph.Node {
		for _, out := range n.Output {
			made[out] = true
		}
	}
	for _, out := range im.graph.Output {
		if _, given := im.ids[out.Name]; !given && !made[out.Name] {
			return malformed("graph output %s is not computed by any node", Quote(out.Name))
		}
		used[out.Name] = true
	}
	for i, n := range im.graph.Node {
		if len(n.Output) > 0 && !slices.ContainsFunc(n.Output, func(out string) bool { return used[out] }) {
			return unsupported("%s: its output %s is never used", im.nodeLabel(i), Quote(n.Output[0]))
		}
	}
	for _, t := range im.graph.Initializer {
		if !used[t.Name] {
			return unsupported("initializer %s is never used", Quote(t.Name))
		}
	}
	for _, info := range im.graph.Input {
		if !used[info.Name] && im.depth == 0 {
			return unsupported("graph input %s is never used", Quote(info.Name))
		}
	}
	return nil
}

// intHeap is a priority queue of node positions, smallest first.
type intHeap []int

func (h *intHeap) push(v int) {
	*h = append(*h, v)
	s := *h
	for i := len(s) - 1; i > 0; {
		up := (i - 1) / 2
		if s[up] <= s[i] {
			break
		}
		s[up], s[i] = s[i], s[up]
		i = up
	}
}

func (h *intHeap) pop() int {
	s := *h
	top := s[0]
	s[0] = s[len(s)-1]
	s = s[:len(s)-1]
	*h = s
	for i := 0; ; {
		least := i
		for c := 2*i + 1; c <= 2*i+2 && c < len(s); c++ {
			if s[c] < s[least] {
				least = c
			}
		}
		if least == i {
			return top
		}
		s[i], s[least] = s[least], s[i]
		i = least
	}
}
