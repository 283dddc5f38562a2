// Package onnxpb is the wire format of ONNX files: the messages of onnx.proto, generated. Package onnx gives them meaning.
package onnxpb

// The generated file is made by protoc 35.1 (pip package grpcio-tools 1.85.1 carries it) and protoc-gen-go 1.36.12:
//
//	go install google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.12
//	python -m pip install grpcio-tools==1.85.1

//go:generate python -m grpc_tools.protoc --proto_path=../../.. --go_out=../../.. --go_opt=paths=source_relative zkml/onnx/onnxpb/onnx.proto
