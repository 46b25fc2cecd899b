import { formatMoney } from "./money.js";

export function cartTotal(items, discount = 0) {
  let total = 0;
  for (const item of items) {
    total += item.price * item.quantity;
  }
  return total - total * discount;
}

export function renderTotal(element, items) {
  element.textContent = formatMoney(cartTotal(items));
}
