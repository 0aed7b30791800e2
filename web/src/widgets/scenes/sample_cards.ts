// SPDX-License-Identifier: MIT
// Samples side by side: what each looks like, who it is and what was measured of it.
import {elide} from '../../base/elide';
import {shortNumber} from '../../base/short_number';
import type {SceneDrawing} from '../drawing';
import type {Surface} from '../surface';
import {SMALL, stepLabel} from './axes';

/** A picture has one colour 0xRRGGBB per pixel, row by row; without a height they are plain numbers. */
export interface SampleContent {
  height: number;
  width: number;
  values: Float64Array;
}

export interface SampleCard {
  name: string;
  /** Each a line of its own below the picture. */
  facts: readonly string[];
  content?: SampleContent | undefined;
}

const CARD = 88;
const PICTURE = 64;
const LINE = 13;
const TOP = 24;
/** Characters of a line, and lines of plain numbers. */
const CHARACTERS = 14;
const NUMBER_LINES = 5;

/**
 * Contents from a list as the record has them: count, height, width, then the values of one sample after the
 * other. Empty if the list does not hold what it says.
 */
export function readContents(list: Float64Array): SampleContent[] {
  const [count = 0, height = 0, width = 0] = list;
  const isWhole = [count, height, width].every((each) => Number.isInteger(each) && each >= 0 && each <= 4096);
  const size = Math.max(1, height) * width;
  if (!isWhole || size === 0 || list.length !== 3 + count * size) return [];
  return Array.from({length: count}, (_, i) => ({height, width, values: list.slice(3 + i * size, 3 + (i + 1) * size)}));
}

/** Places and classes are whole; whatever a record holds instead is shortened. */
export function wholeNumber(value: number): string {
  return Number.isSafeInteger(value) ? String(value) : shortNumber(value);
}

function colorOf(value: number): string {
  const known = Number.isFinite(value) ? Math.min(0xffffff, Math.max(0, Math.round(value))) : 0;
  return `#${known.toString(16).padStart(6, '0')}`;
}

function paintContent(surface: Surface, x: number, y: number, {height, width, values}: SampleContent): void {
  if (height > 0) {
    const scale = PICTURE / Math.max(height, width);
    surface.cells(x + (PICTURE - width * scale) / 2, y + (PICTURE - height * scale) / 2, width * scale, height * scale,
      width, values, colorOf);
    return;
  }
  const shown = Array.from(values.slice(0, NUMBER_LINES - (width > NUMBER_LINES ? 1 : 0)), (value) => shortNumber(value));
  const lines = width > NUMBER_LINES ? [...shown, '…'] : shown;
  lines.forEach((line, i) => {
    surface.text(x, y + i * LINE, elide(line, CHARACTERS), {color: surface.palette.text, size: SMALL, baseline: 'top'});
  });
}

/** `name`: what the samples are. */
export function sampleCardsScene(step: number, name: string, cards: readonly SampleCard[]): SceneDrawing {
  const hasContent = cards.some(({content}) => content !== undefined);
  const lines = Math.max(0, ...cards.map(({facts}) => facts.length)) + 1;
  const top = hasContent ? PICTURE + 4 : 0;
  const row = top + lines * LINE + 10;
  const columnsOf = (width: number) => Math.max(1, Math.floor((width - 8) / CARD));
  const told = (card: SampleCard) => [card.name, ...card.facts].join(', ');
  return {
    kind: 'scene',
    height: (width) => TOP + row * Math.ceil(Math.max(1, cards.length) / columnsOf(width)),
    words: `${name} at step ${step}: ${cards.map(told).join('; ')}.`,
    paint(surface) {
      const {palette} = surface;
      const columns = columnsOf(surface.width);
      stepLabel(surface, surface.width - 8, 2, step);
      cards.forEach((card, i) => {
        const x = 8 + (i % columns) * CARD;
        const y = TOP + Math.floor(i / columns) * row;
        if (card.content) paintContent(surface, x, y, card.content);
        [card.name, ...card.facts].forEach((line, k) => {
          surface.text(x, y + top + k * LINE, elide(line, CHARACTERS),
            {color: k === 0 ? palette.text : palette.faint, size: SMALL, baseline: 'top', weight: k === 0 ? 'bold' : 'normal'});
        });
      });
    },
    at(x, y, width) {
      const columns = columnsOf(width);
      const column = Math.floor((x - 8) / CARD);
      const card = column >= 0 && column < columns ? cards[Math.floor((y - TOP) / row) * columns + column] : undefined;
      return card && y >= TOP ? {text: told(card)} : null;
    },
  };
}
