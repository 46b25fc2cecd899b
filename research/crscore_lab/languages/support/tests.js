// The tests' process: functions of the program become calls of the other process.
'use strict';
const fs = require('node:fs');
const {send, receive, pack, unpack, errors} = require('./channel.js');
const task = JSON.parse(fs.readFileSync('tests.json', 'utf8'));
const assert = require('node:assert');

function update(old, changed) {
  if (Array.isArray(old) && Array.isArray(changed)) old.splice(0, old.length, ...changed);
  else if (old instanceof Map && changed instanceof Map || old instanceof Set && changed instanceof Set) {
    old.clear();
    for (const item of changed) old instanceof Map ? old.set(item[0], item[1]) : old.add(item);
  } else if (old && changed && typeof old === 'object' && typeof changed === 'object') {
    for (const key of Object.keys(old)) delete old[key];
    for (const key of Object.keys(changed)) {
      Object.defineProperty(old, key,
        {value: changed[key], enumerable: true, configurable: true, writable: true});
    }
  }
}

function call(name, values) {
  send(['call', name, pack(values)]);
  const [kind, ...rest] = receive();
  if (kind === 'raised') {
    const error = new (Object.hasOwn(errors, rest[0]) ? errors[rest[0]] : Error)(String(rest[1]));
    if (rest[2] === true) return Promise.reject(error);
    throw error;
  }
  if (kind !== 'value') throw new Error('no answer');
  const result = unpack(rest[0]);
  const changed = unpack(rest[1]);
  values.forEach((old, at) => update(old, changed[at]));
  return rest[2] === true ? Promise.resolve(result) : result;
}

function fail(error) {
  fs.writeSync(2, `${error && error.name}: ${error && error.message}\n`);
  process.exit(1);
}

process.on('uncaughtException', fail);
// The program must not give its tests what they have themselves.
const taken = ['require', 'module', 'exports', 'assert', 'arguments', 'eval'];
function mayBeGiven(name) {
  try {
    new Function(name, '');
  } catch (error) {
    return false;
  }
  return !(name in globalThis) && !taken.includes(name);
}

const wanted = task.names.filter(mayBeGiven);
send(['load', wanted]);
const [kind, ...rest] = receive();
fs.writeSync(2, 'started\n');
if (kind !== 'value') throw new Error(rest.slice(0, 2).join(': '));

// Several functions could be helpers of the tests, by which the program would judge itself.
function tested(own) {
  if (task.entry) return own.filter((name) => name === task.entry);
  if (task.solution) return own.filter((name) => task.solution.includes(name));
  if (own.length > 1) {
    throw new Error(`the program defines ${own.join(' and ')}; give an entry_point or a solution`);
  }
  return own;
}

const own = tested(wanted.filter((name) => Array.isArray(rest[0]) && rest[0].includes(name)));
const functions = own.map((name) => (...values) => call(name, values));

// Helpers of the prompt are the tests' own.
function helpers() {
  try {
    const names = task.shared.join(', ');
    return new Function('require', `${task.prompt}\nreturn {${names}};`)(require);
  } catch (error) {
    return {};
  }
}

const shared = helpers();
console.log = console.info = console.debug = () => {};
console.assert = (condition, message) => {
  if (!condition) fail(new assert.AssertionError({message: String(message ?? 'console.assert')}));
};
new Function('require', 'module', 'exports', ...Object.keys(shared), ...own, task.tests)(
  require, {exports: {}}, {}, ...Object.values(shared), ...functions);
