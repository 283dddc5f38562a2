package prover

import (
	"fmt"
	"strings"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/zkml/chunks"
	"github.com/zkwarp/zkwarp/zkml/prover"
)

// Memory is the plan of a chain on devices, made before anything is loaded: which device proves which part, and which keys stay in its memory.
// Bytes are estimates (prover.ProvingKey.Memory).
type Memory struct {
	Parts    []PartMemory
	Devices  []DeviceMemory
	Warnings []string // of parts that are larger than any device
}

// PartMemory is what one part needs.
type PartMemory struct {
	Device     int         // that proves it
	Key, Proof int64       // bytes: as long as the key is loaded, and while it is proved
	Stays      bool        // in memory between proofs; otherwise it is loaded for each of them
	Form       prover.Form // in which it stays

	forms [prover.Narrow + 1]struct{ key, proof int64 } // Key and Proof for each form
}

// keep says that the key stays in that form, or does not.
func (p *PartMemory) keep(stays bool, form prover.Form) {
	p.Stays, p.Form, p.Key, p.Proof = stays, form, p.forms[form].key, p.forms[form].proof
}

// DeviceMemory is what the parts of one device need together.
type DeviceMemory struct {
	Name  string
	Limit int64 // bytes that it may give, 0 for no limit
	Need  int64 // most bytes at a time
	Parts []int
	// Ahead: there is room to load a key while the part before it is proved.
	Ahead bool

	narrows bool // keys can be narrow there
}

// PlanMemory plans the chain of these keys on devices.
func PlanMemory(devices []*device.Device, keys []*prover.ProvingKey) (*Memory, error) {
	return planMemory(devices, keys, true)
}

// planMemory is PlanMemory with keys that can be narrow, or without.
func planMemory(devices []*device.Device, keys []*prover.ProvingKey, narrow bool) (*Memory, error) {
	m := &Memory{Parts: make([]PartMemory, len(keys)), Devices: make([]DeviceMemory, len(devices))}
	need, limits := make([]int64, len(keys)), make([]int64, len(devices))
	for k, pk := range keys {
		for form := range m.Parts[k].forms {
			key, proof, err := pk.MemoryAs(prover.Form(form))
			if err != nil {
				return nil, fmt.Errorf("chain: part %d: %w", k+1, err)
			}
			m.Parts[k].forms[form].key, m.Parts[k].forms[form].proof = key, proof
		}
		wide := m.Parts[k].forms[prover.Wide]
		need[k] = wide.key + wide.proof
	}
	for d, dev := range devices {
		var err error
		if limits[d], err = dev.Budget(); err != nil {
			return nil, fmt.Errorf("chain: memory of %s: %w", dev.Name(), err)
		}
		m.Devices[d].Name, m.Devices[d].Limit, m.Devices[d].narrows = dev.Name(), limits[d], narrow && dev.Kind() != device.CPU
	}
	a, err := Assign(need, limits)
	if err != nil {
		return nil, fmt.Errorf("chain: %w", err)
	}
	m.Warnings = a.Warnings
	for k, d := range a.Device {
		m.Parts[k].Device = d
		m.Devices[d].Parts = append(m.Devices[d].Parts, k)
	}
	for d := range m.Devices {
		m.stay(&m.Devices[d])
	}
	return m, nil
}

// stay decides which keys of a device stay, and in what form: all, as many of them wide as there is room for beside the largest proof and the load of
// one that becomes narrow, or without room for that; else, where not even narrow ones fit, as many as leave room for two of the others, of which
// one is proved while the next one is loaded; else, where there is no room for two, as many as leave room for one. Those that stay are spread
// over the chain, so that what is loaded has the time of several proofs.
func (m *Memory) stay(d *DeviceMemory) {
	n, form := len(d.Parts), prover.Wide
	if m.allStay(d) {
		return
	}
	if d.narrows {
		form = prover.Narrow
	}
	for _, loaded := range []int{2, 1} {
		for count := n; count >= 0; count-- {
			need, proof := int64(0), int64(0)
			last := make([]int64, loaded) // the keys that come and go, the latest first
			most := int64(0)
			for i, k := range d.Parts {
				p := &m.Parts[k]
				if among(i, count, n) {
					p.keep(true, form)
					need += p.Key
				} else {
					p.keep(false, prover.Wide)
					copy(last[1:], last)
					last[0] = p.Key
					sum := int64(0)
					for _, bytes := range last {
						sum += bytes
					}
					most = max(most, sum)
				}
				proof = max(proof, p.Proof)
			}
			if d.Need, d.Ahead = need+proof+most, loaded > 1; d.Limit <= 0 || d.Need <= d.Limit {
				return
			}
		}
	}
}

// allStay lets all keys stay, if they fit.
func (m *Memory) allStay(d *DeviceMemory) bool {
	n := len(d.Parts)
	for _, ahead := range []bool{true, false} {
		for wide := n; wide >= 0; wide-- {
			need, proof, load := int64(0), int64(0), int64(0)
			for i, k := range d.Parts {
				p := &m.Parts[k]
				if among(i, wide, n) {
					p.keep(true, prover.Wide)
				} else {
					p.keep(true, prover.Narrow)
					load = max(load, p.forms[prover.Wide].key)
				}
				need += p.Key
				proof = max(proof, p.Proof)
			}
			if need += proof; ahead {
				need += load
			}
			if d.Limit <= 0 || need <= d.Limit {
				d.Need, d.Ahead = need, ahead
				return true
			}
			if !d.narrows {
				return false
			}
		}
	}
	return false
}

// among says whether i is one of count numbers below n that are spread evenly.
func among(i, count, n int) bool { return (i+1)*count/n > i*count/n }

// Lines tells the plan: a line for each device, then one for each part.
func (m *Memory) Lines(chain *chunks.Chain) []string {
	const gib = 1 << 30
	var out []string
	for i := range m.Devices {
		d := &m.Devices[i]
		limit := "no limit"
		if d.Limit > 0 {
			limit = fmt.Sprintf("%.2f GiB", float64(d.Limit)/gib)
		}
		stay, narrow := 0, 0
		for _, k := range d.Parts {
			if m.Parts[k].Stays {
				stay++
				narrow += int(m.Parts[k].Form)
			}
		}
		line := fmt.Sprintf("%s: %d parts need up to %.2f GiB of %s; %d keys stay", d.Name, len(d.Parts), float64(d.Need)/gib, limit, stay)
		if narrow > 0 {
			line += fmt.Sprintf(", %d of them narrow", narrow)
		}
		if stay < len(d.Parts) {
			if line += ", the others are loaded"; d.Ahead {
				line += " while the part before them is proved"
			}
		}
		out = append(out, line)
	}
	for k := range m.Parts {
		p := &m.Parts[k]
		words := []string{fmt.Sprintf("%s on %s: %.3f GiB of key, %.3f for the proof", chain.PartName(k), m.Devices[p.Device].Name, float64(p.Key)/gib, float64(p.Proof)/gib)}
		switch {
		case !p.Stays:
			words = append(words, "loaded for each proof")
		case p.Form == prover.Narrow:
			words = append(words, "narrow between proofs")
		}
		out = append(out, strings.Join(words, ", "))
	}
	return out
}
