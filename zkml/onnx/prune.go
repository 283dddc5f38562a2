package onnx

import "slices"

// prune drops nodes and values that no output depends on, such as those of which only the shape was read, and numbers the rest anew.
func (m *Model) prune() error {
	used := make([]bool, len(m.Values))
	for _, id := range m.Outputs {
		used[id] = true
	}
	kept := make([]bool, len(m.Nodes))
	for i := len(m.Nodes) - 1; i >= 0; i-- {
		if kept[i] = used[m.Nodes[i].Output]; !kept[i] {
			continue
		}
		for _, id := range m.Nodes[i].Inputs {
			used[id] = true
		}
	}
	for _, id := range m.Inputs {
		if !used[id] {
			return unsupported("no output depends on graph input %s; make it a constant to leave it out (--const %s=0)", Quote(m.Values[id].Name), Quote(m.Values[id].Name))
		}
		if v := &m.Values[id]; v.Int && v.Hi >= boundLimit {
			return unsupported("graph input %s has integers without bounds", Quote(v.Name))
		}
	}
	number := make([]int, len(m.Values))
	var values []Value
	for id, v := range m.Values {
		if used[id] {
			number[id] = len(values)
			values = append(values, v)
		}
	}
	var nodes []Node
	for i, n := range m.Nodes {
		if kept[i] {
			n.Output = number[n.Output]
			renumber(n.Inputs, number)
			nodes = append(nodes, n)
		}
	}
	renumber(m.Inputs, number)
	renumber(m.Outputs, number)
	m.Dynamic = slices.DeleteFunc(m.Dynamic, func(id int) bool { return !used[id] })
	renumber(m.Dynamic, number)
	m.Values, m.Nodes, m.turned = values, nodes, nil
	return nil
}

func renumber(ids, number []int) {
	for i, id := range ids {
		ids[i] = number[id]
	}
}
