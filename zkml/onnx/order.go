package onnx

import "fmt"

// nodeLabel names a node in errors: by its name, or by its position when it has none.
func (im *importer) nodeLabel(i int) string {
	n := im.graph.Node[i]
	if n.Name != "" {
		return fmt.Sprintf("%snode %s (%s)", im.within, Quote(n.Name), printable(n.OpType))
	}
	return fmt.Sprintf("%snode %d (%s)", im.within, i, printable(n.OpType))
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

// order returns the nodes that the wanted outputs depend on, in an order in which producers come before consumers, keeping the file's
// order where it is one. It refuses duplicate node names, tensors without a producer, and cycles.
func (im *importer) order() ([]int, error) {
	producer, err := im.producers()
	if err != nil {
		return nil, err
	}
	needed, err := im.needed(producer)
	if err != nil {
		return nil, err
	}
	nodes := im.graph.Node
	waiting := make([]int, len(nodes))     // inputs of a node that are not there yet
	consumers := make([][]int, len(nodes)) // with repetition
	count := 0
	ready := &intHeap{}
	for i, n := range nodes {
		if !needed[i] {
			if n.OpType != "Constant" && im.depth == 0 {
				im.m.Dropped = append(im.m.Dropped, im.nodeLabel(i))
			}
			continue
		}
		count++
		for _, in := range reads(n, 0) {
			if _, given := im.ids[in]; !given && in != "" {
				waiting[i]++
				consumers[producer[in]] = append(consumers[producer[in]], i)
			}
		}
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
	if len(order) < count {
		for i := range nodes {
			if waiting[i] > 0 {
				return nil, malformed("%s is part of a cycle or depends on one", im.nodeLabel(i))
			}
		}
	}
	return order, nil
}

// producers returns the node that makes each tensor.
func (im *importer) producers() (map[string]int, error) {
	names := map[string]bool{}
	producer := map[string]int{}
	for i, n := range im.graph.Node {
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
	return producer, nil
}

// needed marks the nodes that the wanted outputs depend on. Everything else in the file changes nothing and is left out.
func (im *importer) needed(producer map[string]int) ([]bool, error) {
	needed := make([]bool, len(im.graph.Node))
	var list []int
	mark := func(name string) bool {
		if _, given := im.ids[name]; given || name == "" {
			return true
		}
		i, ok := producer[name]
		if ok && !needed[i] {
			needed[i] = true
			list = append(list, i)
		}
		return ok
	}
	for _, out := range im.wanted {
		if !mark(out.Name) {
			return nil, malformed("graph output %s is not computed by any node", Quote(out.Name))
		}
	}
	for ; len(list) > 0; list = list[1:] {
		for _, in := range reads(im.graph.Node[list[0]], 0) {
			if !mark(in) {
				return nil, malformed("%s: input %s is not defined anywhere", im.nodeLabel(list[0]), Quote(in))
			}
		}
	}
	return needed, nil
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
