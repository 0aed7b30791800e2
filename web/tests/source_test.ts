// SPDX-License-Identifier: MIT
// Sources: the report inside the page, and the server.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {gzipSync} from 'node:zlib';
import {idBatches} from '../src/wire/batches';
import {HttpSource, RequestError} from '../src/wire/http_source';
import {decodeReport, ReportSource, slicePoints} from '../src/wire/report_source';
import {FakeSource} from './fake_source';

const asArrays = (_: string, value: unknown) => (value instanceof Float64Array
  ? Array.from(value, (v) => (Number.isFinite(v) ? v : String(v))) : value);

async function packed(change: (report: Record<string, unknown>) => void = () => undefined): Promise<string> {
  const fake = new FakeSource({steps: 50});
  const run = await fake.details('run_0');
  const numbers = run.series.filter(({kind}) => kind === 'number').map(({id}) => id);
  const frames = run.series.filter(({kind}) => kind !== 'number').map(({id}) => id);
  const {series} = await fake.points('run_0', numbers, {}, 5);
  (series[0] as {values: Float64Array}).values[0] = NaN;
  const report = {api: 1, made: 1, run, points: series, frames: (await fake.frames('run_0', frames, {}, 4)).frames,
    diagnosis: await fake.diagnosis('run_0'), points_recorded: 2000, points_kept: 1000, frames_recorded: 300, frames_kept: 120};
  change(report);
  return gzipSync(JSON.stringify(report, asArrays)).toString('base64');
}

test('a report is decoded with its run, points and frames', async () => {
  const source = new ReportSource(await decodeReport(`\n${await packed()}\n`));
  assert.equal(source.isLive, false);
  assert.equal((await source.runs()).runs[0]?.id, 'run_0');
  const {series} = await source.points('run_0', [2, 1], {});
  assert.deepEqual(series.map(({id}) => id), [2, 1]);
  assert.ok(Number.isNaN(series[1]?.values[0]));
});

test('a report says how much it was reduced', async () => {
  const {remark} = new ReportSource(await decodeReport(await packed()));
  assert.match(remark, /2\u202f000 numbers .* 1\u202f000 entries .* 120 of 300 lists and histograms/);
  const whole = await packed((report) => Object.assign(report, {points_kept: 2000, frames_kept: 300}));
  assert.equal(new ReportSource(await decodeReport(whole)).remark, '');
});

test('a report of another format is refused', async () => {
  await assert.rejects(decodeReport(await packed((report) => { report['api'] = 99; })), /format 99, this page reads 1/);
  await assert.rejects(decodeReport('bm90IGd6aXA='), /the file is damaged; write it again/);
});

test('a report gives the frames of a range, the last among them', async () => {
  const source = new ReportSource(await decodeReport(await packed()));
  const id = (await source.details()).series.find(({kind}) => kind === 'histogram')?.id as number;
  const all = (await source.frames('run_0', [id], {}, 100)).frames.map(({step}) => step);
  assert.equal(all.length, 4);
  assert.deepEqual((await source.frames('run_0', [id], {}, 1)).frames.map(({step}) => step), all.slice(-1));
  assert.deepEqual((await source.frames('run_0', [id], {last: all[1] as number}, 1)).frames.map(({step}) => step), [all[1]]);
});

test('points are cut to a range of steps', async () => {
  const {series} = await new FakeSource({steps: 50, interval: 5}).points('run_0', [1], {}, 100);
  const cut = slicePoints(series[0] as never, {first: 10, last: 22});
  assert.deepEqual([...cut.steps], [10, 15, 20]);
  assert.equal(cut.values.length, 3);
  assert.equal(slicePoints(series[0] as never, {}), series[0]);
});

test('long lists of series are split in order', () => {
  const ids = Array.from({length: 5000}, (_, i) => i + 1);
  const batches = idBatches(ids);
  assert.deepEqual(batches.flat(), ids);
  assert.ok(batches.every((batch) => batch.join(',').length <= 5500));
  assert.equal(batches.length, 5);
  assert.deepEqual(idBatches([]), []);
});

async function withFetch<T>(answer: (address: string) => Response, run: () => Promise<T>): Promise<T> {
  const before = globalThis.fetch;
  globalThis.fetch = ((address: string) => Promise.resolve(answer(address))) as typeof fetch;
  try {
    return await run();
  } finally {
    globalThis.fetch = before;
  }
}

test('the server is asked by run, series, range and number of points', async () => {
  const asked: string[] = [];
  await withFetch((address) => {
    asked.push(address);
    return new Response('{"change": 3, "series": []}');
  }, () => new HttpSource().points('a/b c', [1, 2], {first: 5}, 100));
  assert.deepEqual(asked, ['api/v1/series?run=a%2Fb%20c&ids=1,2&first=5&points=100']);
});

test('a refusal of the server carries what to do', async () => {
  const refused = withFetch(() => new Response('{"error": "no run x", "remedy": "choose another"}', {status: 404}),
    () => new HttpSource().details('x'));
  await assert.rejects(refused, (error) => error instanceof RequestError && error.message === 'no run x' &&
    error.remedy === 'choose another' && error.status === 404);
});

test('an answer that is no JSON, or of other types, is an error with a remedy', async () => {
  await assert.rejects(withFetch(() => new Response('<html>', {status: 502}), () => new HttpSource().runs()), RequestError);
  await assert.rejects(withFetch(() => new Response('{"epoch": 1}'), () => new HttpSource().runs()), /RunList.epoch is number/);
  await assert.rejects(withFetch(() => { throw new TypeError('refused'); }, () => new HttpSource().runs()), /cannot be reached/);
});

test('exact values of a panel have an address unless it is too long', () => {
  const source = new HttpSource();
  assert.equal(source.csvAddress('r', [1, 2]), 'api/v1/csv?run=r&ids=1,2');
  assert.equal(source.csvAddress('r', Array.from({length: 3000}, (_, i) => i)), null);
});

test('a browser that cannot unpack the report is told which ones can', async () => {
  const known = globalThis.DecompressionStream;
  try {
    Object.assign(globalThis, {DecompressionStream: undefined});
    await assert.rejects(decodeReport(await packed()), /open it in .*Firefox 113/);
  } finally {
    Object.assign(globalThis, {DecompressionStream: known});
  }
});
