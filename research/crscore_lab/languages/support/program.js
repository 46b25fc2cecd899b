// The program's process: loads it, and answers calls until the tests end.
'use strict';
const fs = require('node:fs');
const vm = require('node:vm');
const {send, receive, pack, unpack} = require('./channel.js');

function describe(error, late) {
  const isObject = error !== null && typeof error === 'object';
  return ['raised', String(isObject ? error.name : ''), String(isObject ? error.message : error), late];
}

async function serve() {
  for (;;) {
    const [kind, name, packed] = receive();
    let late = false;
    try {
      if (kind === 'load') {
        global.require = require;
        global.module = {exports: {}};
        global.exports = global.module.exports;
        vm.runInThisContext(fs.readFileSync('program.code.js', 'utf8'));
        const defined = name.filter(
          (word) => vm.runInThisContext(`typeof ${word} === 'function'`) || typeof global.module.exports[word] === 'function');
        send(['value', defined]);
        continue;
      }
      const own = vm.runInThisContext(`typeof ${name} === 'function'`);
      const values = unpack(packed);
      let result = own ? vm.runInThisContext(name)(...values) : global.module.exports[name](...values);
      if (result instanceof Promise) {
        late = true;
        result = await result;
      }
      send(['value', pack(result), pack(values), late]);
    } catch (error) {
      send(describe(error, late));
    }
  }
}

serve().catch(() => process.exit(1));
