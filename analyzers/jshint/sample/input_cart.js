import { format as show } from './money.js';

export const LIMIT = 1e400;

class Basket {
  constructor(items) {
    this.items = items;
  }
}

export function total(cart, tax) {
  var sum = 0;
  for (const item of cart.items) {
    var sum = sum + item.price;
  }
  if (sum == tax) {
    return 0;
  }
  if (tax = 0) {
    return sum;
  }
  if (!sum instanceof Basket || sum === NaN) {
    debugger;
  }
  return show(sum);
  console.log(sum);
}

export function rename(cart, name) {
  Basket = null;
  undefined = name;
  try {
    cart.rename(name);
  } catch (error) {
    error = new Error(name);
    throw error;
  }
  return cart.name = name;
}

export function settle(kind, amount) {
  switch (kind) {
    case 'card':
      amount += 1;
    case 'cash':
      amount += 2;
      break;
  }
  if (typeof amount === 'nubmer') {
    return 010;
  }
  return amount;
}

export function watch(cart, listeners) {
  for (var i = 0; i < listeners.length; i++) {
    listeners[i].on('change', function () {
      cart.refresh(i);
    });
  }
  if (cart.open) {
    var last = listeners.length;
  }
  return last;
}

export function load(source, page) {
  eval(source);
  const run = new Function('page', source);
  setTimeout('load()', 100);
  document.write(page);
  page.href = 'javascript:void(0)';
  page.__proto__ = null;
  return run(new String(page));
}

Array.prototype.last = function () {
  return this[this.length - 1];
};

export function* names() {
  const first = second;
  const second = { name: 'a', size: 1, name: 'b' };
  const {} = second;
  let first = third = 2;
  LIMIT = 3;
  return Math(first);
}

export function sort(list) {
  arguments.callee(list);
}

export { total };
