// What both pages use.
'use strict';

const $ = (id) => document.getElementById(id);

// make builds an element: text is only ever set as text.
function make(tag, options = {}, ...children) {
  const e = document.createElement(tag);
  if (options.className) e.className = options.className;
  if (options.scope) e.scope = options.scope;
  for (const c of children) e.append(c);
  return e;
}

const bytesText = (n) => n < 1024 ? `${n} B` : n < 1 << 20 ? `${(n / 1024).toFixed(1)} KiB` : `${(n / (1 << 20)).toFixed(2)} MiB`;
const msText = (t) => t < 1000 ? `${t.toPrecision(3)} ms` : `${(t / 1000).toPrecision(3)} s`;

function table(head, rows, classes = []) {
  const t = make('table');
  if (head) t.append(make('thead', {}, make('tr', {}, ...head.map((h, i) => make('th', {scope: 'col', className: classes[i] === 'number' ? 'number' : ''}, h)))));
  t.append(make('tbody', {}, ...rows.map((row) => make('tr', {}, ...row.map((cell, i) =>
    !head && i === 0 ? make('th', {scope: 'row'}, cell) : make('td', {className: classes[i] || ''}, String(cell)))))));
  return make('div', {className: 'wide'}, t);
}

// dropped calls back with files that are dropped on the area #drop or chosen in #files.
function dropped(chosen) {
  const drop = $('drop');
  $('files').addEventListener('change', (e) => chosen(e.target.files));
  for (const name of ['dragenter', 'dragover']) drop.addEventListener(name, (e) => { e.preventDefault(); drop.classList.add('over'); });
  for (const name of ['dragleave', 'drop']) drop.addEventListener(name, (e) => { e.preventDefault(); drop.classList.remove('over'); });
  drop.addEventListener('drop', (e) => { if (!$('files').disabled) chosen(e.dataTransfer.files); });
}

// securityTable lists the terms of a security budget and their sum.
function securityTable(terms, totals) {
  const t = table(['Step', 'Bits', 'From'], terms.map((l) => [l.name, l.bits.toFixed(2), l.note]), [, 'number']);
  for (const [name, bits] of totals) {
    t.querySelector('tbody').append(make('tr', {className: 'total'}, make('td', {}, name), make('td', {className: 'number'}, bits.toFixed(2)), make('td')));
  }
  return t;
}
