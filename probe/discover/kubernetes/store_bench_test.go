package kubernetes

import (
	"fmt"
	"runtime"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// aNode is a Node as a kubelet writes it, of some 6 KB.
func aNode(i int) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name:   fmt.Sprintf("node-%04d.example.com", i),
		Labels: map[string]string{"kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux", "topology.kubernetes.io/zone": "a"},
	}}
	n.Status.Addresses = []corev1.NodeAddress{
		{Type: corev1.NodeInternalIP, Address: fmt.Sprintf("10.0.%d.%d", i/256, i%256)},
		{Type: corev1.NodeHostName, Address: n.Name},
	}
	for _, kind := range []corev1.NodeConditionType{corev1.NodeReady, corev1.NodeMemoryPressure, corev1.NodeDiskPressure} {
		n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{Type: kind, Reason: "KubeletReady", LastHeartbeatTime: metav1.Now()})
	}
	for k := range 40 {
		n.Status.Images = append(n.Status.Images, corev1.ContainerImage{Names: []string{fmt.Sprintf("registry.example.com/image-%d:v1", k)}})
	}
	return n
}

// decoded returns what the API sends of them, decoded.
func decoded(b *testing.B, sent [][]byte) []*corev1.Node {
	nodes := make([]*corev1.Node, len(sent))
	for i, data := range sent {
		nodes[i] = &corev1.Node{}
		if err := nodes[i].Unmarshal(data); err != nil {
			b.Fatal(err)
		}
	}
	return nodes
}

func sentNodes(b *testing.B) [][]byte {
	sent := make([][]byte, 5000)
	for i := range sent {
		data, err := aNode(i).Marshal()
		if err != nil {
			b.Fatal(err)
		}
		sent[i] = data
	}
	return sent
}

// BenchmarkStoreNodes decodes, strips and keeps 5,000 Nodes, and tells what is left
// of each in memory.
func BenchmarkStoreNodes(b *testing.B) {
	sent := sentNodes(b)
	b.ReportAllocs()
	for b.Loop() {
		before := heap()
		s := newTestSource(b)
		w := s.watcherOf("Node")
		for i := range sent {
			if err := w.store.Add(decoded(b, sent[i:i+1])[0]); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(heap()-before)/float64(len(sent)), "B-kept/node")
		runtime.KeepAlive(s)
	}
}

// BenchmarkStoreHeartbeat is the cost of a Node that only its kubelet finds changed,
// decoded already.
func BenchmarkStoreHeartbeat(b *testing.B) {
	sent := sentNodes(b)
	w := newTestSource(b).watcherOf("Node")
	for _, n := range decoded(b, sent) {
		if err := w.store.Add(n); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		b.StopTimer()
		n := decoded(b, sent[i%len(sent):][:1])[0]
		b.StartTimer()
		if err := w.store.Update(n); err != nil {
			b.Fatal(err)
		}
	}
	if got := w.store.count().changes; got != uint64(len(sent)) {
		b.Errorf("%d changes", got)
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
