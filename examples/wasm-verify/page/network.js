// The page for networks: files are sorted by what they are, and verified once one of each kind is there.
'use strict';

const worker = new Worker('worker.js');
const pending = new Map(); // what answers of the worker go to, by number
let calls = 0;
let turn = Promise.resolve(); // what was asked for is done one thing after the other
let key = null; // what the verifier says of the key
// Files are {name, bytes}. given is the input as it came, and input what is verified; proofs are several for networks in parts.
const slots = {key: null, given: null, input: null, answer: null, commitments: [], openings: [], proofs: []};

const ask = (message) => new Promise((resolve) => {
  pending.set(++calls, resolve);
  worker.postMessage({...message, id: calls});
});

const kinds = [['key', 'Key'], ['given', 'Input'], ['answer', 'Answer'], ['commitments', 'Commitments'], ['openings', 'Openings'], ['proofs', 'Proof']];
const filesOf = (kind) => [slots[kind]].flat().filter(Boolean);

// needed says how many files of a kind a verification takes at least, as far as it is known.
function needed(kind) {
  const needs = key && !key.problem && key.needs;
  switch (kind) {
    case 'given': return !needs || needs.input ? 1 : 0;
    case 'answer': return !needs || needs.answer ? 1 : 0;
    case 'commitments': return needs ? Math.max(0, needs.commitments.length - slots.openings.length) : 0;
    case 'openings': return 0;
    default: return 1;
  }
}
const mostBytes = 1 << 30;

function list() {
  $('slots').replaceChildren(...kinds.filter(([kind]) => needed(kind) || filesOf(kind).length).map(([kind, title]) => {
    const files = filesOf(kind);
    const text = files.map((f) => `${f.name} (${bytesText(f.bytes.length)})`).join(', ') || 'none yet';
    return make('li', {}, make('b', {}, title), make('span', {className: files.length ? '' : 'none'}, text));
  }));
}

async function chosen(files) {
  if (!files.length) return;
  $('result').hidden = true;
  const large = files.find((f) => f.size > mostBytes);
  if (large) {
    malformed(`${large.name} has ${bytesText(large.size)}; this page takes files of up to ${bytesText(mostBytes)}`);
    return;
  }
  const read = await Promise.all(files.map(async (f) => ({name: f.name, bytes: new Uint8Array(await f.arrayBuffer())})));
  const {roles} = await ask({call: 'roles', files: read.map((f) => f.bytes)});
  const of = (...wanted) => read.filter((_, i) => wanted.includes(roles[i]));
  const strays = of(''), openings = of('opening');
  if (strays.length) {
    malformed(`${strays[0].name} is no key, input, answer or proof`);
    return;
  }
  if (openings.length) {
    malformed(`${openings[0].name} is of a WHIR opening, which the other page verifies`);
    return;
  }
  for (const [kind, found] of [['key', of('key')], ['given', of('input', 'picture')], ['answer', of('answer')]]) {
    if (found.length > 1) {
      malformed(`${found[0].name} and ${found[1].name} are both ${kind === 'given' ? 'inputs' : `${kind}s`}`);
      return;
    }
    if (found.length) slots[kind] = found[0];
  }
  if (of('proof').length) slots.proofs = of('proof');
  if (of('commitment').length) slots.commitments = of('commitment');
  if (of('opened').length) slots.openings = of('opened');
  if (of('key').length) {
    key = (await ask({call: 'key', key: slots.key.bytes})).key;
    describe();
  }
  list();
  try {
    await prepare();
  } catch (error) {
    malformed(`${slots.given.name}: ${error.message || error}`);
    return;
  }
  await verify();
}

function describe() {
  if (key.problem) {
    $('key').replaceChildren(make('p', {className: 'quiet'}, key.problem));
    return;
  }
  $('key').replaceChildren(table(null, [
    ['Network', key.name],
    ['Digest', key.digest],
    ['Weights', `${key.parameters.toLocaleString('en')}, ${key.mode}`],
    ['Takes', key.takes || 'nothing public'],
    ['Gives', key.gives || 'nothing public'],
    ...(key.needs.commitments.length ? [['Committed', key.needs.commitments.join(', ')]] : []),
    ['Size', `${key.operations.toLocaleString('en')} operations${key.parts > 1 ? ` in ${key.parts} parts` : ''}`],
    ['Security', `${key.bits.toFixed(2)} bits, all errors together`],
  ], [, 'wrap']));
}

const magicPNG = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

// prepare makes the input out of what was given. A PNG of the network's size is the input as it is. Any other picture is drawn at that
// size, without transparency, and the input is the PNG of that, which can be saved: other verifiers get the same bytes.
async function prepare() {
  const file = slots.given;
  slots.input = null;
  $('picture').hidden = true;
  $('keep').hidden = true;
  if (!file) return;
  const start = file.bytes.subarray(0, 24);
  const png = magicPNG.every((b, i) => start[i] === b) && start.length === 24;
  const size = key && key.picture;
  if (png) {
    const view = new DataView(start.buffer, start.byteOffset, 24);
    const width = view.getUint32(16), height = view.getUint32(20);
    if (key && (!size || size[1] === height && size[2] === width)) {
      slots.input = file;
      $('drawn').textContent = `${file.name}, ${width} × ${height} pixels, as it is.`;
      await draw(file, width, height).catch(() => {}); // to be looked at: what it holds is for the verifier to say
      return;
    }
  } else if ((await ask({call: 'roles', files: [file.bytes]})).roles[0] === 'input') {
    slots.input = file;
    $('drawn').textContent = `${file.name}, numbers.`;
    return;
  }
  if (!key) {
    $('drawn').textContent = `${file.name}: the key says what size the picture must have.`;
    return;
  }
  if (key.problem) return;
  const bitmap = await draw(file, size && size[2], size && size[1]);
  const canvas = $('picture');
  const blob = await new Promise((resolve) => canvas.toBlob(resolve, 'image/png'));
  if (!blob) throw new Error('the browser cannot write it as PNG');
  slots.input = {name: 'input.png', bytes: new Uint8Array(await blob.arrayBuffer())};
  $('drawn').textContent = `${file.name}, ${bitmap.width} × ${bitmap.height} pixels, drawn as ${canvas.width} × ${canvas.height}. The input is the PNG of that.`;
  if ($('save').href) URL.revokeObjectURL($('save').href);
  $('save').href = URL.createObjectURL(blob);
  $('keep').hidden = false;
}

// draw draws a picture at a size, or its own.
async function draw(file, width, height) {
  const most = 1 << 13;
  if (width > most || height > most) throw new Error(`${width} × ${height} pixels, this page draws up to ${most} × ${most}`);
  const bitmap = await createImageBitmap(new Blob([file.bytes])).catch(() => { throw new Error('the browser cannot read this picture'); });
  const canvas = $('picture');
  canvas.width = width || Math.min(bitmap.width, most);
  canvas.height = height || Math.min(bitmap.height, most);
  const context = canvas.getContext('2d', {alpha: false});
  context.imageSmoothingQuality = 'high';
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  canvas.hidden = false;
  return bitmap;
}

async function verify() {
  $('result').hidden = true;
  if (key && key.problem) {
    malformed(`key: ${key.problem}`);
    return;
  }
  const missing = kinds.filter(([kind]) => filesOf(kind).length < needed(kind)).map(([, title]) => title.toLowerCase());
  if (missing.length) {
    $('state').textContent = `Ready. Missing: ${missing.join(', ')}.`;
    return;
  }
  $('state').textContent = 'Verifying…';
  const {report, reason} = await ask({
    call: 'infer', key: slots.key.bytes, input: bytesOf(needed('given') && (slots.input || slots.given)), answer: bytesOf(needed('answer') && slots.answer),
    ...committed(), proofs: slots.proofs.map((f) => f.bytes), context: $('context').value,
  });
  if (report) show(report);
  else malformed(reason);
}

// committed are the files of what the key has committed, if it has.
function committed() {
  const any = key && key.needs && key.needs.commitments.length;
  return {commitments: any ? slots.commitments : [], openings: any ? slots.openings : []};
}

const bytesOf = (file) => file ? file.bytes : new Uint8Array(0);

const malformed = (reason) => show({verdict: 'malformed', reason});

const verdicts = {
  accepted: ['✓', 'Accepted: the network in the key gives this answer for this input'],
  committed: ['✓', 'Accepted: the network in the key gives this for what is committed'],
  rejected: ['✗', 'Rejected'],
  malformed: ['?', 'These files are not an answer with its proof'],
};

function show(report) {
  const [mark, text] = verdicts[report.verdict === 'accepted' && report.committed ? 'committed' : report.verdict];
  $('result').hidden = false;
  $('banner').className = report.verdict;
  $('mark').textContent = mark;
  const took = report.verify_ms ? `${bytesText(report.proof_bytes)} of proof, verified in ${msText(report.verify_ms)}` : '';
  const bits = report.verdict === 'accepted' ? `${report.bits.toFixed(1)} bits` : '';
  $('reason').textContent = [report.reason, took, bits].filter(Boolean).join(' · ');
  $('again').hidden = report.verdict !== 'accepted';
  $('state').textContent = 'Ready.';
  const about = $('about');
  about.replaceChildren();
  if (report.answer || report.committed) about.append(...statement(report));
  if (report.verdict === 'accepted' && key.terms) {
    about.append(make('h3', {}, 'Security, by proven bounds'), securityTable(
      key.terms.map((t) => ({name: `${t.Part}: ${t.Name}`, bits: t.Bits, note: t.Note})), [['All errors together', key.bits]]));
  }
  $('verdict').textContent = report.check ? `${text} by the check: ${report.check}` : text; // last: it says that the rest is there
}

// statement shows what the proof claims. Nothing of it is true unless the verdict says so.
function statement(report) {
  const a = report.answer || {}, labels = report.labels || [];
  const rows = [];
  if (a.answer !== undefined) rows.push(['Answer', a.label || `class ${a.answer}`]);
  if (a.answers) rows.push(['Answers', a.answers.slice(0, 16).join(' ') + (a.answers.length > 16 ? ' …' : '')]);
  if (report.input) rows.push(['Input', `file with SHA-256 ${report.input}`]);
  if (report.output) rows.push(['Output', `file with SHA-256 ${report.output}`]);
  for (const c of report.committed || []) {
    const opened = c.opened ? `, opened: ${c.opened.slice(0, 8).map((v) => v.toPrecision(5)).join(' ')}${c.opened.length > 8 ? ` … (${c.opened.length} values)` : ''}` : '';
    rows.push(['Committed', `${c.of}: file with SHA-256 ${c.file}${opened}`]);
  }
  for (const o of a.outputs || []) {
    rows.push([o.name, o.values.slice(0, 8).map((v) => v.toPrecision(5)).join(' ') + (o.values.length > 8 ? ` … (${o.values.length} values)` : '')]);
  }
  const out = [make('h3', {}, report.verdict === 'accepted' ? 'Proved' : 'Claimed'), table(null, rows, [, 'wrap'])];
  if (a.values && a.values.length > 1 && a.kind !== 'argmax') {
    const top = a.values.map((v, i) => [v, i]).sort((x, y) => y[0] - x[0]).slice(0, 5);
    out.push(make('h3', {}, `Highest of ${a.values.length} values`), table(['Class', 'Value'], top.map(([v, i]) => [labels[i] || i, v.toPrecision(5)]), [, 'number']));
  }
  return out;
}

worker.onmessage = ({data}) => {
  if (data.kind === 'ready') {
    $('files').disabled = false;
    $('state').textContent = 'Ready.';
  } else if (data.kind === 'broken') {
    $('files').disabled = true;
    $('state').textContent = `The verifier does not run here: ${data.reason}`;
  } else if (pending.has(data.id)) {
    pending.get(data.id)(data);
    pending.delete(data.id);
  }
};
worker.onerror = (e) => worker.onmessage({data: {kind: 'broken', reason: e.message}});

const next = (f) => {
  turn = turn.then(f).catch((error) => malformed(String(error.message || error)));
};
dropped((files) => {
  const copy = Array.from(files); // the list empties with its element
  next(() => chosen(copy));
});
$('context').addEventListener('change', () => next(verify));

// The last word of a proof is one of its last message.
$('tamper').addEventListener('click', () => next(() => {
  const last = slots.proofs.pop();
  const bytes = last.bytes.slice();
  bytes[bytes.length - 4] ^= 1;
  slots.proofs.push({name: `${last.name}, one byte changed`, bytes});
  list();
  return verify();
}));
list();
