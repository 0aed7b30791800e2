// SPDX-License-Identifier: MIT
// Names without the beginning that all of them share.

export interface ShortNames {
  /** What was taken away; empty if nothing was. */
  prefix: string;
  /** One for each, in the same order; never empty. */
  names: string[];
}

/** Whole words are taken away: up to the last slash, underscore, dash, dot or space of what is common. */
export function shortNames(names: readonly string[]): ShortNames {
  const [first] = names;
  if (first === undefined || names.length < 2) return {prefix: '', names: [...names]};
  let common = first.length;
  for (const name of names) {
    let i = 0;
    while (i < common && name[i] === first[i]) ++i;
    common = i;
  }
  let end = common;
  while (end > 0 && !/[/_\-. ]/.test(first[end - 1] as string)) --end;
  const isAllThere = names.every((name) => name.length > end);
  return isAllThere && end > 0 ? {prefix: first.slice(0, end), names: names.map((name) => name.slice(end))} : {prefix: '', names: [...names]};
}
