package probe

import "testing"

func TestJudgeNothing(t *testing.T) {
	var c chainCache
	v := c.judge(question{roots: &roots{}})
	if len(v.problems) != 1 || v.problems[0].Reason != reasonChainInvalid {
		t.Errorf("problems of an empty chain: %v", v.problems)
	}
}
