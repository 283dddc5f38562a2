'use strict';

const worker = new Worker('worker.js');
let call = 0; // the newest request: answers to older ones are dropped
let files = []; // what was verified last
let proving = null; // the running clock of a proof

function verify(list) {
  files = list;
  $('state').textContent = 'Verifying…';
  worker.postMessage({call: 'verify', id: ++call, files: list});
}

async function chosen(list) {
  if (!list.length) return;
  $('names').textContent = Array.from(list, (f) => `${f.name} (${bytesText(f.size)})`).join(', ');
  const large = Array.from(list).find((f) => f.size > 64 << 20);
  if (large) {
    show({verdict: 'malformed', reason: `${large.name} has ${bytesText(large.size)}; no proof is that large`});
    return;
  }
  verify(await Promise.all(Array.from(list, async (f) => new Uint8Array(await f.arrayBuffer()))));
}

const verdicts = {
  accepted: ['✓', 'Accepted: the committed table has the claimed values'],
  rejected: ['✗', 'Rejected'],
  malformed: ['?', 'These files are not a proof'],
};

function show(report) {
  const [mark, text] = verdicts[report.verdict];
  $('result').hidden = false;
  $('banner').className = report.verdict;
  $('mark').textContent = mark;
  $('verdict').textContent = report.check ? `${text} by the check: ${report.check}` : text;
  const took = report.parameters ? `${bytesText(report.proof_bytes)} of proof, verified in ${msText(report.verify_ms)}` : '';
  $('reason').textContent = [report.reason, took].filter(Boolean).join(' · ');
  $('again').hidden = report.verdict !== 'accepted';
  $('state').textContent = 'Ready.';
  const about = $('about');
  about.replaceChildren();
  if (!report.parameters) return;
  const p = report.parameters;
  about.append(make('h3', {}, 'Commitment'), table(null, [
    ['Scheme', `${p.scheme}: ${p.about}`],
    ['Committed', `${p.tables === 1 ? 'a table' : `${p.tables} tables`} of 2^${p.vars} elements; trees of arity ${p.arity}`],
    ['Digest', report.commitment],
    ['Security', `every line at least ${p.lambda} bits; weakest ${p.bits.toFixed(2)}, all together ${p.bits_sum.toFixed(2)}`],
  ], [, 'wrap']));
  const element = (v) => Array.isArray(v) ? `(${v.join(', ')})` : String(v);
  about.append(make('h3', {}, report.claim_count > report.claims.length ? `Claims (the first ${report.claims.length} of ${report.claim_count})` : 'Claims'), table(
    ['Kind', 'Point', 'Value of each table'],
    report.claims.map((c) => [c.Kind, c.Point.map(element).join(' '), c.Values.map(element).join(' ')]), [, 'long', 'long']));
  about.append(make('h3', {}, 'Schedule'), table(
    ['Round', 'Variables', 'Fold', 'Rate', 'Leaves', 'Radius', 'Samples', 'Queries', 'Work: fold, query'],
    p.rounds.map((r, i) => [i, r.vars, r.fold, `2^-${r.log_inv_rate}`, `2^${r.log_leaves}`, r.regime, r.samples, r.queries, `${r.fold_work}, ${r.query_work} bits`])));
  const security = securityTable(p.security, [['Weakest line', p.bits], ['All errors together', p.bits_sum]]);
  about.append(make('h3', {}, 'Security, by proven bounds'), security);
}

function stopClock() {
  if (proving) clearInterval(proving.clock);
  proving = null;
  $('go').disabled = false;
}

worker.onmessage = ({data}) => {
  switch (data.kind) {
    case 'ready':
      for (const [name, about] of data.schemes) $('scheme').append(new Option(`${name}: ${about}`, name));
      for (let v = 8; v <= data.maxVars; v++) $('vars').append(new Option(`2^${v} random elements`, v, v === 14, v === 14));
      for (const id of ['files', 'scheme', 'vars', 'go']) $(id).disabled = false;
      $('state').textContent = 'Ready.';
      break;
    case 'verified':
      if (data.id === call) show(data.report);
      break;
    case 'progress':
      if (proving) proving.stage = data.stage;
      break;
    case 'proved': {
      stopClock();
      const m = data.made;
      const total = m.commit_ms + m.open_ms;
      $('progress').textContent = `${m.elements.toLocaleString('en')} elements committed and opened in ${msText(total)}.`;
      $('times-body').replaceChildren(...[['commit', m.commit_ms], ['evaluate', m.evaluate_ms], ['open', m.open_ms], ['verify', m.report.verify_ms]].map(
        ([name, ms]) => make('tr', {}, make('th', {scope: 'row'}, name), make('td', {className: 'number'}, msText(ms)))));
      $('times').hidden = false;
      if ($('save').href) URL.revokeObjectURL($('save').href);
      $('save').href = URL.createObjectURL(new Blob([data.bundle], {type: 'application/octet-stream'}));
      files = [data.bundle];
      $('names').textContent = '';
      show(m.report);
      break;
    }
    case 'failed':
      stopClock();
      $('progress').textContent = `Not proved: ${data.reason}`;
      break;
    case 'broken':
      stopClock();
      $('go').disabled = true;
      $('files').disabled = true;
      $('state').textContent = `The verifier does not run here: ${data.reason}`;
      break;
  }
};

worker.onerror = (e) => worker.onmessage({data: {kind: 'broken', reason: e.message}});

dropped(chosen);

// The last word of a bundle and of a proof is one of the proof's last message.
$('tamper').addEventListener('click', () => {
  const list = files.map((f) => f.slice());
  const proof = list.find((f) => ['ZKWWPRF', 'ZKWWALL'].includes(String.fromCharCode(...f.slice(0, 7))));
  proof[proof.length - 4] ^= 1;
  $('names').textContent = 'one byte of the proof changed';
  verify(list);
});

$('prove').addEventListener('submit', async (e) => {
  e.preventDefault();
  const own = $('table').files[0];
  if (own && own.size > 8 << 20) {
    $('progress').textContent = `${own.name} has ${bytesText(own.size)}; this page takes tables of up to 2^18 elements`;
    return;
  }
  const own_bytes = own ? new Uint8Array(await own.arrayBuffer()) : null;
  $('go').disabled = true;
  $('times').hidden = true;
  const start = performance.now();
  proving = {stage: 'starting'};
  proving.clock = setInterval(() => {
    if (proving) $('progress').textContent = `${proving.stage}… ${((performance.now() - start) / 1000).toFixed(1)} s`;
  }, 100);
  worker.postMessage({call: 'prove', id: ++call, table: own_bytes, options: {
    scheme: $('scheme').value, vars: Number($('vars').value), seed: $('seed').value, bits: Number($('bits').value),
  }});
});
