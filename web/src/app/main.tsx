// SPDX-License-Identifier: MIT
// Starts the page: on the report that it holds, or on the server that sent it.
import {render} from 'preact';
import './app.css';
import {RunsStore} from '../store/runs_store';
import {SettingsStore} from '../store/settings';
import {HttpSource} from '../wire/http_source';
import {decodeReport, REPORT_ELEMENT, ReportSource} from '../wire/report_source';
import type {Source} from '../wire/source';
import {Shell} from './shell';
import {Failure} from './states';

function storage(): Storage | null {
  try {
    return window.localStorage;
  } catch {
    return null;
  }
}

/** Shows a source in a place of the page. */
export function start(place: HTMLElement, source: Source): void {
  place.replaceChildren();
  render(<Shell source={source} runs={new RunsStore(source)} settings={new SettingsStore(storage())} />, place);
}

async function main(): Promise<void> {
  const place = document.getElementById('app');
  if (!place) return;
  const report = document.getElementById(REPORT_ELEMENT);
  try {
    start(place, report ? new ReportSource(await decodeReport(report.textContent ?? '')) : new HttpSource());
  } catch (error) {
    place.replaceChildren();
    render(<Failure error={error instanceof Error ? error : new Error(String(error))} what="The report cannot be read" />, place);
  }
}

void main();
