// The verifiers and the prover in a thread of their own, so that the page stays
// alive. Messages go in as {call, id, ...} and come out as the Go side posts them.
'use strict';

importScripts('wasm_exec.js');

self.zkwarpPost = (text, bundle) => {
  const message = JSON.parse(text);
  message.bundle = bundle;
  self.postMessage(message, bundle ? [bundle.buffer] : []);
};

self.onmessage = ({data}) => {
  if (data.call === 'verify') self.zkwarpVerify(data.id, data.files);
  if (data.call === 'roles') self.zkwarpRoles(data.id, data.files);
  if (data.call === 'key') self.zkwarpKey(data.id, data.key);
  if (data.call === 'infer') self.zkwarpInfer(data.id, data.key, data.input, data.answer, data.commitments, data.openings, data.proofs, data.context);
  if (data.call === 'prove') self.zkwarpProve(data.id, JSON.stringify(data.options), data.table);
};

(async () => {
  try {
    const go = new Go();
    const response = await fetch('verify.wasm');
    if (!response.ok) throw new Error(`verify.wasm: ${response.status} ${response.statusText}`);
    const {instance} = await WebAssembly.instantiateStreaming(response, go.importObject);
    await go.run(instance);
    throw new Error('the program ended');
  } catch (error) {
    self.postMessage({kind: 'broken', reason: String(error.message || error)});
  }
})();
