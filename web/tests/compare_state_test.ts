// SPDX-License-Identifier: MIT
// What is seen of a comparison is in its address, and comes back from it.
import assert from 'node:assert/strict';
import test from 'node:test';
import {COMPARE_VIEWS, type CompareState, FIRST_STATE, readState, stateQuery} from '../src/base/compare_state';
import {CompareStore} from '../src/store/compare_store';
import {SettingsStore} from '../src/store/settings';

const FULL: CompareState = {
  view: 'parallel', runs: ['a', 'b/c d', 'ü,&=?#~', ''], filter: 'learning_rate>0.01 -"two words" 100%', x: 'time',
  zoom: {first: 1_700_000_000.25, last: 1_700_000_100.5}, smoothing: 0.37, logX: true, group: 'config:a b', band: 'quartiles', off: ['a', 'x y'],
  across: 'config:learning_rate', up: 'value:hess_max_ev/iterations', logAcross: true, logUp: true, axes: ['config:seed', 'value:loss'],
  brushes: {'config:learning_rate': {first: 1e-5, last: 0.3}, 'value:x~y z': {first: -2, last: 7}},
  layout: {order: ['b', 'a'], pinned: ['my value'], hidden: ['c/d'], sizes: {'my value': {span: 2, height: 240}, b: {span: 3, height: 0}}},
};

test('a state comes back from its address as it was', () => {
  for (const state of [FULL, FIRST_STATE, {...FULL, runs: 'all'}, {...FULL, runs: []}, {...FIRST_STATE, runs: null}] as CompareState[]) {
    assert.deepEqual(readState(stateQuery(state)), state);
  }
  for (const view of COMPARE_VIEWS) assert.equal(readState(stateQuery({...FIRST_STATE, view})).view, view);
});

test('an address that makes no sense means the first state', () => {
  for (const query of ['', 'view=none&x=y&band=z&zoom=1&smoothing=7', 'zoom=b~a&zoom=9~1', 'zoom=9~1', 'size=x&size=%20&brush=1~2', 'smoothing=NaN', '%E0%A4%A']) {
    const state = readState(query);
    assert.deepEqual({...state, layout: FIRST_STATE.layout}, FIRST_STATE, query);
  }
});

class Page {
  hash = '';
  written = 0;
  read = () => this.hash;
  replace = (hash: string) => {
    this.hash = hash;
    ++this.written;
  };
}

/** Nothing is left waiting when a test ends. */
const never = () => undefined;

function kept(): Pick<Storage, 'getItem' | 'setItem'> & {text: string | null} {
  return {text: null, getItem() { return this.text; }, setItem(_, text) { this.text = text; }};
}

test('a link shows what its sender saw, whatever the receiver had', () => {
  const sender = new Page();
  const store = new CompareStore(new SettingsStore(kept()), sender, never);
  store.change({...FULL});
  store.write();
  const receiver = new Page();
  receiver.hash = sender.hash;
  const storage = kept();
  new SettingsStore(storage).change({compared: ['other'], smoothing: 0.9, layout: {...FULL.layout, pinned: ['z']}});
  const settings = new SettingsStore(storage);
  const seen = new CompareStore(settings, receiver, never);
  assert.deepEqual(seen.watched.value, FULL);
  assert.equal(settings.watched.value.smoothing, FULL.smoothing);
  // Looking at a link does not change what is mine.
  assert.deepEqual(new SettingsStore(storage).watched.value.layout.pinned, ['z']);
  assert.deepEqual(new SettingsStore(storage).watched.value.compared, ['other']);
});

test('chosen runs and the layout are there on the next visit, and the address says so', () => {
  const storage = kept();
  new CompareStore(new SettingsStore(storage), new Page(), never).change({runs: ['a'], layout: FULL.layout});
  const page = new Page();
  const store = new CompareStore(new SettingsStore(storage), page, never);
  // Not before the comparison is shown: the page may be another.
  assert.equal(page.hash, '');
  store.follow();
  const {value} = store.watched;
  assert.deepEqual([value.runs, value.layout], [['a'], FULL.layout]);
  assert.ok(page.hash.startsWith('#/?view=curves&run=a&'), page.hash);
});

test('an empty address of the comparison means what was seen before, and one of another page is left alone', () => {
  const page = new Page();
  const store = new CompareStore(new SettingsStore(null), page, never);
  store.change({view: 'scatter'});
  page.hash = '#/run/a/cockpit';
  store.write();
  assert.equal(page.hash, '#/run/a/cockpit');
  page.hash = '#/';
  store.follow();
  assert.equal(store.watched.value.view, 'scatter');
  assert.equal(page.hash, '#/?view=scatter');
  page.hash = '#/?view=settings&run=b';
  store.follow();
  assert.deepEqual([store.watched.value.view, store.watched.value.runs], ['settings', ['b']]);
});

test('many changes in a row are one writing of the address', () => {
  const page = new Page();
  const waiting: (() => void)[] = [];
  const store = new CompareStore(new SettingsStore(null), page, (act) => waiting.push(act));
  const before = page.written;
  for (let i = 0; i < 50; ++i) store.change({smoothing: i / 100});
  assert.deepEqual([waiting.length, page.written], [1, before]);
  waiting.forEach((act) => act());
  assert.equal(page.written, before + 1);
  assert.match(page.hash, /smoothing=0.49/);
});
