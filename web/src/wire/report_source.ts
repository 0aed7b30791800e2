// SPDX-License-Identifier: MIT
// Values from the page itself: a report holds one run, reduced, as base64 of gzip of JSON.
import type {Listener, Source, StepRange} from './source';
import {API, type Diagnosis, type Frame, type FrameList, type LampList, type Points, type PointsList, readReport, type Report, type RunDetails,
  type RunList, type RunSummary} from './types';

/** The element that holds the report. */
export const REPORT_ELEMENT = 'flightdeck-report';

async function unpack(base64: string): Promise<unknown> {
  const bytes = Uint8Array.from(atob(base64.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return JSON.parse(await new Response(stream).text());
}

export async function decodeReport(base64: string): Promise<Report> {
  if (typeof DecompressionStream === 'undefined') {
    throw new Error('this browser cannot unpack it; open it in Chrome or Edge 100, Firefox 113, Safari 16.4 or newer');
  }
  const json = await unpack(base64).catch(() => {
    throw new Error('the file is damaged; write it again with flightdeck report RUN -o FILE');
  });
  const api = (json as {api?: unknown} | null)?.api;
  if (api !== API) throw new Error(`the report has format ${String(api)}, this page reads ${API}; write the report again`);
  return readReport(json);
}

function within(step: number, range: StepRange): boolean {
  return step >= (range.first ?? -Infinity) && step <= (range.last ?? Infinity);
}

/** Entries whose step is in the range. */
export function slicePoints(points: Points, range: StepRange): Points {
  const {steps} = points;
  let begin = 0;
  let end = steps.length;
  while (begin < end && !within(steps[begin] as number, range)) ++begin;
  while (end > begin && !within(steps[end - 1] as number, range)) --end;
  if (begin === 0 && end === steps.length) return points;
  const cut = (column: Float64Array) => column.slice(begin, Math.min(end, column.length));
  return {...points, count: points.reduced ? points.count : end - begin, steps: cut(steps), values: cut(points.values),
    low: cut(points.low), high: cut(points.high)};
}

function remarkOf(report: Report): string {
  const parts: string[] = [];
  const count = (n: number) => n.toLocaleString('en').replace(/,/g, '\u202f');
  if (report.points_kept < report.points_recorded) {
    parts.push(`${count(report.points_recorded)} numbers were recorded; this report shows them in ${count(report.points_kept)} entries that keep every extreme`);
  }
  if (report.frames_kept < report.frames_recorded) {
    parts.push(`${count(report.frames_kept)} of ${count(report.frames_recorded)} lists and histograms are in this report`);
  }
  const text = parts.join('; ');
  return text ? `${text.charAt(0).toUpperCase()}${text.slice(1)}. The record has all of them.` : '';
}

export class ReportSource implements Source {
  readonly isLive = false;
  readonly remark: string;
  private readonly pointsById: Map<number, Points>;
  private readonly framesById = new Map<number, Frame[]>();

  constructor(readonly report: Report) {
    this.remark = remarkOf(report);
    this.pointsById = new Map(report.points.map((points) => [points.id, points]));
    for (const frame of report.frames) {
      const list = this.framesById.get(frame.id);
      if (list) list.push(frame);
      else this.framesById.set(frame.id, [frame]);
    }
  }

  runs(): Promise<RunList> {
    const {summary} = this.report.run;
    return Promise.resolve({epoch: 'report', change: summary.change, runs: [summary]});
  }

  details(): Promise<RunDetails> {
    return Promise.resolve(this.report.run);
  }

  lamps(): Promise<LampList> {
    return Promise.resolve({lamps: this.report.diagnosis.lamps});
  }

  diagnosis(): Promise<Diagnosis> {
    return Promise.resolve(this.report.diagnosis);
  }

  points(_run: string, ids: number[], range: StepRange): Promise<PointsList> {
    const series = ids.flatMap((id) => this.pointsById.get(id) ?? []).map((points) => slicePoints(points, range));
    return Promise.resolve({change: this.report.run.summary.change, series});
  }

  frames(_run: string, ids: number[], range: StepRange, count: number): Promise<FrameList> {
    const frames = ids.flatMap((id) => {
      const found = (this.framesById.get(id) ?? []).filter((frame) => within(frame.step, range));
      if (found.length <= count) return found;
      return Array.from({length: count}, (_, i) => found[Math.round(((i + 1) * found.length) / count) - 1] as Frame);
    });
    return Promise.resolve({change: this.report.run.summary.change, frames});
  }

  csvAddress(): string | null {
    return null;
  }

  canEdit(): Promise<boolean> {
    return Promise.resolve(false);
  }

  label(): Promise<RunSummary> {
    return Promise.reject(new Error('a report cannot be changed'));
  }

  watch(listener: Listener): () => void {
    listener.connected(true);
    return () => undefined;
  }
}
