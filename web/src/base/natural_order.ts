// SPDX-License-Identifier: MIT
// The order of names as people expect it: layer_2 before layer_10.

const names = new Intl.Collator('en', {numeric: true, sensitivity: 'base'});

export function naturalOrder(a: string, b: string): number {
  return names.compare(a, b);
}
