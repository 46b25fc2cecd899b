/* jshint ignore:start */
/* eslint-disable */
/* oxlint-disable */
// jshint -W041, -W004
/* jshint unused:false, eqeqeq:false, maxerr:1, -W117, eqnull:true */
/* jslint ignore:start */
/* global exports, total */
/* exported same, find */

function same(a) {
  if (a === a) { // jshint ignore:line
    return true; // eslint-disable-line
  }
  if (a == null) { // oxlint-disable-line no-self-compare
    return typeof a === "strnig"; // eslint-disable-line valid-typeof
  }
  return false;
}

function find(list) {
  // eslint-disable-next-line no-unreachable
  for (var i = 0; i < list.length; i++) {
    var i = list[i]; // jshint -W004
  }
  // oxlint-disable-next-line
  if ((list = [])) {
    debugger; // eslint-disable-line no-debugger
  }
  return list;
  list.push(1); // jshint ignore:line
}

/* jshint ignore:end */

// #lizard forgives
/* GENERATED CODE */
function place(a, b, c, d, e, f, g, h) { // lizard forgives
  return [a, b, c, d, e, f, g, h];
}
