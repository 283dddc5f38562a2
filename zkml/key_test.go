package zkml

import "testing"

// TestUnfinishedCheck recovers from a check that panics: the key must not pass
// for checked afterwards.
func TestUnfinishedCheck(t *testing.T) {
	vk := new(VerifyingKey) // has nothing to check
	func() {
		defer func() {
			if recover() == nil {
				t.Error("a key of nothing can be checked")
			}
		}()
		_ = vk.Check()
	}()
	if FailedCheck(vk.Check()) != CheckKeyProof {
		t.Errorf("the second time: %v", vk.Check())
	}
	if _, err := NewVerifyingKey(KeyParts{}); err == nil {
		t.Error("a key without a program")
	}
}
