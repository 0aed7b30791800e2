// SPDX-License-Identifier: MIT
// Numbers of a column with their points below each other.

const NUMBER = /^[−-]?[\d\u202f]+(\.\d+)?(e[−-]?\d+)?$/;

/** What to append to each, unseen, so that flush right the points stand below each other. Words get nothing. */
export function decimalPads(texts: readonly string[]): string[] {
  const tails = texts.map((text) => (NUMBER.test(text) ? text.replace(/^[^.e]*/, '') : null));
  const longest = Math.max(0, ...tails.map((tail) => tail?.length ?? 0));
  return tails.map((tail) => {
    if (tail === null || tail.length >= longest) return '';
    // A point is narrower than a digit.
    const hasPoint = tail.includes('.') || !tails.some((other) => other?.includes('.'));
    return hasPoint ? '0'.repeat(longest - tail.length) : `.${'0'.repeat(longest - tail.length - 1)}`;
  });
}
