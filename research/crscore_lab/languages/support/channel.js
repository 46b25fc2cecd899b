// Values as JSON between the tests and the program, a line a message: plain data whole, anything else
// not at all. Both sides read and write with what they kept of the language at the start.
'use strict';
const fs = require('node:fs');
const {parse, stringify} = JSON;
const tags = new Map([[Map, 'M'], [Set, 'S'], [Date, 'D'], [RegExp, 'R']]);
const errors = {Error, TypeError, RangeError, SyntaxError, ReferenceError, EvalError, URIError};
let rest = Buffer.alloc(0);

function send(message) {
  const data = Buffer.from(stringify(message) + '\n');
  for (let sent = 0; sent < data.length;) sent += fs.writeSync(4, data, sent);
}

function receive() {
  const parts = [rest];
  for (;;) {
    const last = parts[parts.length - 1];
    const end = last.indexOf(10);
    if (end >= 0) {
      const line = Buffer.concat([...parts.slice(0, -1), last.subarray(0, end)]);
      rest = last.subarray(end + 1);
      return parse(line.toString());
    }
    const more = Buffer.alloc(65536);
    const read = fs.readSync(3, more);
    if (read === 0 || parts.length > 1024) throw new Error('the program ended before its tests');
    parts.push(more.subarray(0, read));
  }
}

function pack(value, depth = 0) {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (value === undefined) return ['u'];
  if (typeof value === 'number') {
    return Number.isFinite(value) && !Object.is(value, -0) ? value : ['n', Object.is(value, -0) ? '-0' : String(value)];
  }
  if (typeof value === 'bigint') return ['b', String(value)];
  if (typeof value !== 'object' || depth > 200) throw new TypeError(`a ${typeof value} cannot be passed`);
  const inner = (item) => pack(item, depth + 1);
  if (Array.isArray(value)) return ['a', ...Array.from(value, inner)];
  const kind = Object.getPrototypeOf(value);
  if (kind === Object.prototype || kind === null) {
    return ['o', ...Object.entries(value).map(([key, item]) => [key, inner(item)])];
  }
  if (kind === Map.prototype) return ['M', ...Array.from(value, ([k, v]) => [inner(k), inner(v)])];
  if (kind === Set.prototype) return ['S', ...Array.from(value, inner)];
  if (kind === Date.prototype) return ['D', value.getTime()];
  if (kind === Promise.prototype) throw new TypeError('a promise within a value cannot be passed');
  throw new TypeError('an object of an own class cannot be passed');
}

function unpack(packed) {
  if (!Array.isArray(packed)) {
    if (packed !== null && typeof packed === 'object') throw new TypeError('no value');
    return packed;
  }
  const [tag, ...rest] = packed;
  switch (tag) {
    case 'u': return undefined;
    case 'n': return Number(rest[0]);
    case 'b': return BigInt(String(rest[0]));
    case 'a': return rest.map(unpack);
    case 'M': return new Map(rest.map(([key, item]) => [unpack(key), unpack(item)]));
    case 'S': return new Set(rest.map(unpack));
    case 'D': return new Date(Number(rest[0]));
    case 'o': {
      const object = {};
      for (const [key, item] of rest) {
        Object.defineProperty(object, String(key),
          {value: unpack(item), enumerable: true, configurable: true, writable: true});
      }
      return object;
    }
    default: throw new TypeError('no value');
  }
}

module.exports = {send, receive, pack, unpack, errors};
