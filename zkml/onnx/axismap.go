package onnx

import "github.com/zkwarp/zkwarp/zkml/graph"

// AxisMap sends one axis through a public map; integer programs have the same.
type AxisMap = graph.AxisMap
