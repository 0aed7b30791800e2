// SPDX-License-Identifier: MIT
// Values from the server that also sent the page.
import {idBatches} from './batches';
import {WireError} from './read';
import type {LabelChange, Listener, Source, StepRange} from './source';
import {API, type Diagnosis, type FrameList, type LampList, type PointsList, readDiagnosis, readFrameList, readGone, readLampList, readPointsList, readRefusal,
  readRunDetails, readRunList, readRunSummary, readServerInfo, type RunDetails, type RunList, type RunSummary, type ServerInfo} from './types';

const ROOT = `api/v${API}`;
/** How long to wait before asking again for events that were refused. */
const RETRY_MS = 3000;

/** A request that was not answered with values; `remedy` says what to do. */
export class RequestError extends Error {
  constructor(message: string, readonly remedy: string, readonly status: number) {
    super(message);
  }
}

type Query = Record<string, string | number | boolean | undefined>;

function address(name: string, query: Query = {}): string {
  const words = Object.entries(query).filter(([, value]) => value !== undefined)
    // Commas stay: they make long lists of ids a third shorter.
    .map(([key, value]) => `${key}=${encodeURIComponent(String(value)).replace(/%2C/g, ',')}`);
  return words.length ? `${ROOT}/${name}?${words.join('&')}` : `${ROOT}/${name}`;
}

async function refusalOf(response: Response): Promise<RequestError> {
  try {
    const {error, remedy} = readRefusal(await response.json());
    return new RequestError(error, remedy, response.status);
  } catch {
    return new RequestError(`the server answered ${response.status}`, 'reload the page; look at the output of flightdeck serve', response.status);
  }
}

async function ask<T>(name: string, query: Query, read: (json: unknown) => T, method: 'GET' | 'POST' = 'GET'): Promise<T> {
  let response: Response;
  try {
    response = await fetch(address(name, query), {method});
  } catch {
    throw new RequestError('the server cannot be reached', 'start flightdeck serve again; the page then goes on by itself', 0);
  }
  if (!response.ok) throw await refusalOf(response);
  try {
    return read(await response.json());
  } catch (error) {
    if (error instanceof WireError) throw error;
    throw new RequestError(`the answer to ${name} is not complete`, 'reload the page', response.status);
  }
}

export class HttpSource implements Source {
  readonly isLive = true;
  readonly remark = '';

  server(): Promise<ServerInfo> {
    return ask('server', {}, readServerInfo);
  }

  runs(): Promise<RunList> {
    return ask('runs', {}, readRunList);
  }

  details(run: string): Promise<RunDetails> {
    return ask('run', {id: run}, readRunDetails);
  }

  lamps(run: string): Promise<LampList> {
    return ask('lamps', {run}, readLampList);
  }

  diagnosis(run: string): Promise<Diagnosis> {
    return ask('diagnosis', {run}, readDiagnosis);
  }

  async points(run: string, ids: number[], range: StepRange, points: number): Promise<PointsList> {
    const lists: PointsList[] = [];
    for (const batch of idBatches(ids)) {
      lists.push(await ask('series', {run, ids: batch.join(','), first: range.first, last: range.last, points}, readPointsList));
    }
    return {change: Math.min(...lists.map((list) => list.change)), series: lists.flatMap((list) => list.series)};
  }

  async frames(run: string, ids: number[], range: StepRange, count: number): Promise<FrameList> {
    const lists: FrameList[] = [];
    for (const batch of idBatches(ids)) {
      lists.push(await ask('frames', {run, ids: batch.join(','), first: range.first, last: range.last, count}, readFrameList));
    }
    return {change: Math.min(...lists.map((list) => list.change)), frames: lists.flatMap((list) => list.frames)};
  }

  csvAddress(run: string, ids: number[]): string | null {
    const batches = idBatches(ids);
    return batches.length === 1 ? address('csv', {run, ids: ids.join(',')}) : null;
  }

  async canEdit(): Promise<boolean> {
    return (await this.server()).edit;
  }

  label(run: string, change: LabelChange): Promise<RunSummary> {
    return ask('labels', {run, ...change}, readRunSummary, 'POST');
  }

  watch(listener: Listener): () => void {
    let events: EventSource | null = null;
    let retry: ReturnType<typeof setTimeout> | undefined;
    const hear = (name: string, tell: (json: unknown) => void) =>
      events?.addEventListener(name, (event) => {
        try {
          tell(JSON.parse((event as MessageEvent<string>).data));
        } catch (error) {
          // One message that cannot be read must not end the others.
          console.warn('flightdeck: event', name, error);
        }
      });
    const open = () => {
      events = new EventSource(`${ROOT}/events`);
      events.onopen = () => listener.connected(true);
      events.onerror = () => {
        listener.connected(false);
        // The browser connects again by itself, but not after a refusal.
        if (events?.readyState === EventSource.CLOSED) retry = setTimeout(open, RETRY_MS);
      };
      hear('run', (json) => listener.run(readRunSummary(json)));
      hear('gone', (json) => listener.gone(readGone(json).id));
      hear('reset', () => listener.reset());
    };
    open();
    return () => {
      clearTimeout(retry);
      events?.close();
    };
  }
}
