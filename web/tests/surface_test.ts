// SPDX-License-Identifier: MIT
// Pictures as SVG text, and lines on them.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {linesAsCsv} from '../src/app/export';
import type {LinesDrawing} from '../src/widgets/drawing';
import {paintLines} from '../src/widgets/line_picture';
import {darkPalette, lightPalette} from '../src/widgets/palette';
import {SvgSurface} from '../src/widgets/svg_surface';
import type {Points} from '../src/wire/types';

function points(steps: number[], values: number[], low: number[] = [], high: number[] = []): Points {
  return {id: 1, reduced: low.length > 0, count: steps.length, steps: Float64Array.from(steps), values: Float64Array.from(values),
    low: Float64Array.from(low), high: Float64Array.from(high)};
}

const surface = () => new SvgSurface(200, 100, lightPalette);

test('a path with a NaN has two pieces', () => {
  const s = surface();
  s.path([0, 0, 10, 10, NaN, NaN, 20, 20, 30, 30], {color: '#123456', dash: [2, 3]});
  assert.match(s.svg(), /d="M0 0L10 10M20 20L30 30" fill="none" stroke="#123456" stroke-width="1" stroke-dasharray="2 3"/);
});

test('text from the user cannot become markup', () => {
  const s = surface();
  s.text(1, 2, '</text><script>alert("x")</script>&\u0000', {color: '"red'});
  const svg = s.svg('<title>');
  assert.ok(!svg.includes('<script>') && !svg.includes('\u0000'));
  assert.ok(svg.includes('&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;&amp;'));
  assert.ok(svg.includes('<title>&lt;title&gt;</title>'));
});

test('neighbouring cells of one colour are one rectangle, NaN cells are none', () => {
  const s = surface();
  s.cells(0, 0, 40, 20, 4, [1, 1, 2, NaN, 1, 1, 1, 1], (value) => `c${value}`);
  const rects = s.svg().match(/<rect x="[^/]*fill="c\d"\/>/g) ?? [];
  assert.deepEqual(rects.map((r) => [/width="([^"]*)"/.exec(r)?.[1], /fill="([^"]*)"/.exec(r)?.[1]]),
    [['20', 'c1'], ['10', 'c2'], ['40', 'c1']]);
});

test('what is drawn inside a rectangle is clipped to it, even if drawing it fails', () => {
  const s = surface();
  assert.throws(() => s.clipped(1, 2, 3, 4, () => { throw new Error('no'); }));
  assert.match(s.svg(), /<clipPath id="clip1"><rect x="1" y="2" width="3" height="4"\/><\/clipPath><g clip-path="url\(#clip1\)"><\/g>/);
});

test('a rectangle upwards is one of positive height', () => {
  const s = surface();
  s.rect(10, 50, 5, -20, {color: 'blue', opacity: 0.5});
  assert.match(s.svg(), /<rect x="10" y="30" width="5" height="20" fill="blue" fill-opacity="0.5"\/>/);
});

test('scales of colours take every number', () => {
  for (const palette of [lightPalette, darkPalette]) {
    for (const value of [-5, -1, 0, 0.5, 1, 7, NaN, Infinity]) {
      assert.match(palette.heat(value), /^rgb\(\d+,\d+,\d+\)$/);
      assert.match(palette.diverging(value), /^rgb\(\d+,\d+,\d+\)$/);
    }
    assert.notEqual(palette.heat(0), palette.heat(1));
    assert.equal(palette.lines.length, 8);
  }
});

function contrast(a: string, b: string): number {
  const light = (hex: string) => {
    const [r = 0, g = 0, blue = 0] = [1, 3, 5].map((i) => {
      const c = parseInt(hex.slice(i, i + 2), 16) / 255;
      return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * blue;
  };
  const [x, y] = [light(a), light(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

test('lines have a contrast of three to one on both themes, texts of four and a half', () => {
  for (const palette of [lightPalette, darkPalette]) {
    for (const color of palette.lines) assert.ok(contrast(color, palette.background) >= 3, `${color} on ${palette.background}`);
    for (const color of [palette.text, palette.faint, palette.good, palette.warning, palette.bad]) {
      assert.ok(contrast(color, palette.background) >= 4.5, `${color} on ${palette.background}`);
    }
  }
});

const lines: LinesDrawing = {
  kind: 'lines', y: 'norm', guides: [{value: 1, label: 'one'}],
  lines: [
    {label: 'a', points: points([0, 1, 2, 3], [1, 2, NaN, 4])},
    {label: 'b <c>', points: points([0, 2], [1, 3], [0.5, 2], [1.5, 4]), side: 'right'},
    {label: 'd', points: points([1, 3], [Infinity, 2]), dots: true},
  ],
};

test('exported lines have axes, legend, bands, guides and marks', () => {
  const s = new SvgSurface(480, 300, lightPalette);
  paintLines(s, lines, {smoothing: 0.5, logX: false, logY: false}, {first: 0, last: 3});
  const svg = s.svg();
  for (const part of ['>a<', '>b &lt;c&gt;<', '>norm<', '>one<', '>×<', '>▲<', 'fill-opacity="0.22"', '<circle', 'stroke-opacity="0.3"']) {
    assert.ok(svg.includes(part), part);
  }
  assert.ok(!svg.includes('NaN'));
});

test('exported lines survive logarithmic axes, no values and one value', () => {
  for (const drawing of [lines, {kind: 'lines', lines: []} as LinesDrawing,
    {kind: 'lines', lines: [{label: 'x', points: points([0], [-1])}]} as LinesDrawing]) {
    const s = new SvgSurface(480, 300, darkPalette);
    paintLines(s, drawing, {smoothing: 0, logX: true, logY: true}, {first: 0, last: 0});
    assert.ok(!/NaN|Infinity/.test(s.svg()));
  }
});

test('names that begin like formulas are text in CSV', () => {
  const csv = linesAsCsv({kind: 'lines', lines: [{label: '=cmd|x', points: points([0], [-1])},
    {label: '@a,b', points: points([0], [2])}]});
  assert.equal(csv, 'step,\'=cmd|x,"\'@a,b"\r\n0,-1,2\r\n');
});

test('lines become CSV with one row for each step', () => {
  const csv = linesAsCsv({kind: 'lines', lines: [{label: 'a,"b"', points: points([0, 1], [1, NaN])},
    {label: 'c', points: points([1, 2], [5, 6], [4, 5], [7, 8])}]});
  assert.equal(csv, 'step,"a,""b""",c,c low,c high\r\n0,1,,,\r\n1,NaN,5,4,7\r\n2,,6,5,8\r\n');
});
