// SPDX-License-Identifier: MIT
// Shortens names so that what tells them apart stays.

/** At most so many characters: the middle goes, and more of the end stays, where parameters differ. */
export function elide(text: string, characters: number): string {
  if (text.length <= characters) return text;
  if (characters <= 1) return characters === 1 ? '…' : '';
  const kept = characters - 1;
  const head = Math.floor(kept / 3);
  return `${text.slice(0, head)}…${text.slice(text.length - (kept - head))}`;
}
