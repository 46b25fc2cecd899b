import { format as show, parse } from './money.js';

const LIMIT = 5123000000000000000000000001;
let ready;

class Item {
  #price = 1;
  constructor(name) {
    this.name = name;
    return { name };
  }
  get label() {
    this.name.trim();
  }
  set label(value) {
    return value;
  }
  size() {
    return 1;
  }
  size() {
    return 2;
  }
}

class Gift extends Item {
  constructor(name) {
    this.wrapped = true;
    super(name);
  }
}

class Voucher extends Gift {
  constructor(...rest) {
    super(...rest);
  }
  get code() {
    return this.code;
  }
}

export function total(cart, tax) {
  for (let i = 10; i > 0; i++) {
    cart.push(i);
  }
  if (tax = 0) {
    return cart;
  }
  if (tax == 1) {
    return LIMIT;
  }
  if (tax === -0 || tax === NaN) {
    debugger;
  }
  if (!tax in cart) {
    return ready;
  } else if (tax > 3 && tax < 2) {
    return 1;
  } else if (!tax in cart) {
    return 2;
  }
  if (tax === tax) {
    return 3;
  }
  while (false) {
    cart.pop();
  }
  return show(cart);
  cart.clear();
}

export function rename(cart, name) {
  show = name;
  Item = null;
  rename = null;
  LIMIT = 4;
  undefined = 3;
  Object = null;
  cart = cart;
  try {
    cart.rename(name);
  } catch (error) {
    error = name;
  }
  try {
    cart.save(name);
  } catch (error) {
    throw error;
  }
  try {
    cart.save(name);
  } catch (error) {
    throw new Error('cannot save');
  } finally {
    return 1;
  }
}

export function settle(kind, amounts) {
  switch (kind) {
    case 'card':
      amounts.push(1);
    case 'cash':
      let rest = amounts.length;
      amounts.push(rest);
      break;
    case 'card':
      break;
  }
  if (typeof kind === 'strnig') {
    throw 'no such kind';
  }
  try {
    amounts.sort();
  } catch (error) {}
  return amounts.map((amount) => {
    amount.round();
  });
}

export async function load(urls, page) {
  const pages = [];
  for (const url of urls) {
    pages.push(await fetch(url));
  }
  const first = new Promise(async (resolve, reject) => {
    reject('gone');
    resolve(await page);
  });
  await Promise.all([await fetch(urls[0]), first]);
  await Promise.race([first]);
  fetch(urls[0], { method: 'GET', body: page });
  page.removeEventListener('load', () => page.close());
  return await 1;
}

export function run(source, page) {
  eval(source);
  const made = new Function('page', source);
  setTimeout('load()', 100);
  page.href = 'javascript:void(0)';
  const count = new Number(3);
  const pattern = /a[]b/;
  const face = /[👍]/;
  const broken = new RegExp('(');
  const options = { name: 'a', size: 1, name: 'b' };
  const numbers = [1, , 3];
  const {} = options;
  const symbol = new Symbol('x');
  const size = [...new Set(numbers)].length;
  const found = numbers.filter((one) => one > 1)[0];
  const lists = numbers.map((one) => [one, one]).flat();
  const grid = new Array(3).fill([]);
  const merged = numbers.reduce((all, one) => ({ ...all, one }), {});
  return Math(made, count, pattern, face, broken, symbol, size, found, lists, grid, merged);
}

export function watch(listeners, page) {
  for (var i = 0; i < listeners.length; i++) {
    listeners[i].on('change', function () {
      page.refresh(i);
    });
  }
  if (page.open) {
    var last = listeners.length;
  }
  var last = page?.count + 1;
  (page?.open).call();
  return last ? last : page.then;
}

export function report(error, done) {
  read(done, (err, data) => {
    done(data);
    return;
  });
  new Error('lost');
  const near = 3.14 * (error * 0);
  return Math.min(0, Math.max(100, near)) + near.toFixed(200);
}

export function* names() {
  const all = { then: 1 };
  return all;
}

Array.prototype.last = function () {
  return this[this.length - 1];
};

function orphan(listeners) {
  let never;
  let sum = 0;
  sum = sum + never;
  outer: for (const one of listeners) {
    sum += one;
  }
}

export const used = (list) => {
  const spare = list.length;
  return list;
};
