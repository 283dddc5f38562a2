package chunks

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// CommitBoundaries has what parts hand on committed instead of public, where it is written and wherever it is read. Values that are outputs of the
// chain too stay as they are: CommitOutput has those committed.
func (c *Cutting) CommitBoundaries() {
	for k := range c.Parts {
		for _, s := range c.Parts[k].Inputs {
			if s.Part >= 0 && !slices.Contains(c.Outputs, s) {
				c.commit(s)
			}
		}
	}
}

// CommitInput has the chain's inputs of a name committed instead of public.
func (c *Cutting) CommitInput(name string) error {
	names := c.InputNames()
	if !slices.Contains(names, name) {
		return fmt.Errorf("no input %q, the chain's are %s", name, listed(names))
	}
	for i := range names {
		if names[i] == name {
			c.commit(Source{Part: -1, Index: i})
		}
	}
	return nil
}

// CommitOutput has the chain's outputs of a name committed instead of public, and what later parts read of them.
func (c *Cutting) CommitOutput(name string) error {
	names := c.OutputNames()
	if !slices.Contains(names, name) {
		return fmt.Errorf("no output %q, the chain's are %s", name, listed(names))
	}
	for i, s := range c.Outputs {
		if names[i] == name {
			c.commit(s)
		}
	}
	return nil
}

// InputNames returns the names of the chain's inputs, which are those of the first parts that read them.
func (c *Cutting) InputNames() (names []string) {
	for k := range c.Parts {
		p := c.Parts[k].Program
		for i, s := range c.Parts[k].Inputs {
			if s.Part >= 0 {
				continue
			}
			for len(names) <= s.Index {
				names = append(names, "")
			}
			if names[s.Index] == "" {
				names[s.Index] = p.Tensor(p.Inputs[i]).Name
			}
		}
	}
	return names
}

// OutputNames returns the names of the chain's outputs.
func (c *Cutting) OutputNames() (names []string) {
	for _, s := range c.Outputs {
		p := c.Parts[s.Part].Program
		names = append(names, p.Tensor(p.Outputs[s.Index]).Name)
	}
	return names
}

// commit has a source and all that reads it committed.
func (c *Cutting) commit(s Source) {
	if s.Part >= 0 {
		insert(&c.Parts[s.Part].Commits.Outputs, s.Index)
	}
	for k := range c.Parts {
		for i, from := range c.Parts[k].Inputs {
			if from == s {
				insert(&c.Parts[k].Commits.Inputs, i)
			}
		}
	}
}

// insert adds a number to an increasing list that does not have it.
func insert(list *[]int, n int) {
	if at, found := slices.BinarySearch(*list, n); !found {
		*list = slices.Insert(*list, at, n)
	}
}

func listed(names []string) string {
	var quoted []string
	for _, name := range names {
		quoted = append(quoted, strconv.Quote(name))
	}
	return strings.Join(quoted, ", ")
}
