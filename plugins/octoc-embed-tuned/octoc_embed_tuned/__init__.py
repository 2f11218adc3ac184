"""The weights of the encoder `octoc-l6` of octoc-embed-onnx, which reads `model.onnx` beside this file."""
