// SPDX-License-Identifier: MIT
// Colours of runs: the same for ever, and told apart by every kind of eyes.
import assert from 'node:assert/strict';
import test from 'node:test';
import {colorBytes} from '../src/base/color';
import {colorOf, groupStyles, RUN_COLORS, runStyles} from '../src/base/run_style';
import {darkPalette, lightPalette} from '../src/widgets/palette';
import {distanceFor, luminance, VISIONS} from './color_vision';

const runs = Array.from({length: 40}, (_, i) => ({id: `run_${i}`, start_time: 1_700_000_000 + 61.7 * i}));

test('a run has its colour whatever else is shown, and after it was moved', () => {
  const all = runStyles(runs);
  for (const some of [runs.slice(0, 1), runs.slice(5, 9), [...runs].reverse(), runs.filter((_, i) => i % 3 === 0)]) {
    const styles = runStyles(some);
    for (const run of some) assert.equal(styles.get(run.id)?.color, all.get(run.id)?.color);
  }
  const [run] = runs as [(typeof runs)[0]];
  assert.equal(colorOf({...run, id: 'elsewhere/renamed'}), colorOf(run));
});

test('the colours of known runs are the same for ever', () => {
  assert.deepEqual(runs.slice(0, 12).map(colorOf), [3, 9, 4, 0, 0, 0, 8, 3, 6, 2, 6, 7]);
  assert.equal(colorOf({id: 'without a beginning', start_time: 0}), 4);
});

test('runs of one colour that are shown together have different dashes, the first to begin none', () => {
  const styles = runStyles(runs.slice(0, 24));
  assert.equal(new Set([...styles.values()].map((style) => JSON.stringify(style))).size, 24);
  const reversed = runStyles(runs.slice(0, 24).reverse());
  for (const [id, style] of styles) assert.deepEqual(reversed.get(id), style);
});

test('all colours are used about equally', () => {
  const counts = new Array<number>(RUN_COLORS).fill(0);
  for (let i = 0; i < 1000; ++i) ++(counts[colorOf({id: '', start_time: 1_700_000_000 + 97.3 * i})] as number);
  assert.ok(counts.every((count) => count > 60 && count < 140), counts.join());
});

test('up to ten groups have ten colours', () => {
  const styles = groupStyles(Array.from({length: 10}, (_, i) => `optimizer ${i}`));
  assert.equal(new Set([...styles.values()].map(({color}) => color)).size, 10);
  assert.ok([...styles.values()].every(({dash}) => dash.length === 0));
});

test('the colours of runs can be told apart with every kind of colour vision, and from the background', () => {
  for (const palette of [lightPalette, darkPalette]) {
    assert.equal(palette.runs.length, RUN_COLORS);
    const bytes = palette.runs.map((color) => colorBytes(color) as readonly [number, number, number]);
    const background = luminance(colorBytes(palette.background) as readonly [number, number, number]);
    bytes.forEach((one, i) => {
      const [light, dark] = [luminance(one), background].sort((a, b) => b - a) as [number, number];
      assert.ok((light + 0.05) / (dark + 0.05) >= 3, `${palette.runs[i]} has a contrast of ${(light + 0.05) / (dark + 0.05)}`);
      for (const vision of VISIONS) {
        // In OKLab 2 is just noticeable side by side; thin lines apart from each other need several times as much.
        bytes.slice(0, i).forEach((other, k) => {
          const distance = distanceFor(vision, one, other);
          assert.ok(distance >= 7, `${palette.runs[i]} and ${palette.runs[k]} differ by ${distance} for ${vision} vision`);
        });
      }
    });
  }
});
