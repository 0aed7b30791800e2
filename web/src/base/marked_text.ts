// SPDX-License-Identifier: MIT
// Pages of the documents as sections of paragraphs: as much of Markdown as these pages use.

export interface Piece {
  kind: 'text' | 'code' | 'strong';
  text: string;
}

export interface Section {
  /** Its heading. */
  name: string;
  paragraphs: Piece[][];
}

/** `code`, **strong**, and links, of which the words stay: what they lead to is not on this page. */
export function piecesOf(text: string): Piece[] {
  return text.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').split(/(`[^`]+`|\*\*[^*]+\*\*)/).filter((part) => part !== '').map((part): Piece => {
    if (/^`.+`$/.test(part)) return {kind: 'code', text: part.slice(1, -1)};
    if (/^\*\*.+\*\*$/.test(part)) return {kind: 'strong', text: part.slice(2, -2)};
    return {kind: 'text', text: part};
  });
}

/** What stands below each heading of the second level. */
export function sectionsOf(markdown: string): Section[] {
  return markdown.split(/^## /m).slice(1).map((part): Section => {
    const [name = '', ...rest] = part.split('\n');
    const paragraphs = rest.join('\n').split(/\n\s*\n/).map((lines) => lines.replace(/\s+/g, ' ').trim()).filter((lines) => lines !== '');
    return {name: name.trim(), paragraphs: paragraphs.map(piecesOf)};
  });
}
