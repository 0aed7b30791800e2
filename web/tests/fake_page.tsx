// SPDX-License-Identifier: MIT
// The page on a source without a server, to look at while working on it: bundle it in place of
// src/app/main.tsx. ?steps=, ?interval=, ?runs= and ?parameters= say of what size.
import {render} from 'preact';
import '../src/app/app.css';
import {Shell} from '../src/app/shell';
import {RunsStore} from '../src/store/runs_store';
import {SettingsStore} from '../src/store/settings';
import {FakeSource} from './fake_source';

const query = new URLSearchParams(location.search);
const number = (name: string, otherwise: number) => Number(query.get(name) ?? otherwise);
const source = new FakeSource({steps: number('steps', 500), runs: number('runs', 3), parameters: number('parameters', 8),
  interval: number('interval', 5)});
const place = document.getElementById('app');
if (place) {
  place.replaceChildren();
  render(<Shell source={source} runs={new RunsStore(source)} settings={new SettingsStore(localStorage)} />, place);
}
