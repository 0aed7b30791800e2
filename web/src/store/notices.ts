// SPDX-License-Identifier: MIT
// Tells of runs that somebody waits for: when one ends, and when a lamp of it lights. Works while the
// page is in the background; asks the browser for leave only when it is asked to.
import {Watched} from '../base/watched';
import type {Source} from '../wire/source';
import type {Lamp, RunSummary} from '../wire/types';
import type {RunsStore} from './runs_store';

/** What a browser has to offer; made up in tests. */
export interface Announcer {
  permission(): 'granted' | 'denied' | 'default' | 'missing';
  ask(): Promise<boolean>;
  tell(title: string, text: string, run: string): void;
}

/** Lamps of a run are looked at this often at most. */
const LAMPS_MS = 10_000;

const GRAVE: ReadonlySet<Lamp['severity']> = new Set(['failure', 'warning']);
const keyOf = ({title, quantity}: Lamp) => `${title}\n${quantity}`;

/** What is known of a run that is waited for. */
interface Waited {
  status: RunSummary['status'] | undefined;
  /** Null until the lamps that are lit already are known: those are no news. */
  lamps: Set<string> | null;
  looked: number;
  isLooking: boolean;
}

export function endingText({status, last_step: last, values}: RunSummary): string {
  const scores = ['valid_accuracy', 'test_accuracy', 'valid_loss', 'test_loss', 'loss'].filter((name) => Object.hasOwn(values, name)).slice(0, 2)
    .map((name) => `${name.replace(/_/g, ' ')} ${Number((values[name] as number).toPrecision(4))}`);
  return [`${status} at step ${last}`, ...scores].join(', ');
}

export class Notices {
  /** Runs that are waited for. */
  readonly waited = new Watched<ReadonlySet<string>>(new Set());
  private readonly known = new Map<string, Waited>();

  constructor(private readonly source: Source, private readonly runs: RunsStore, private readonly announcer: Announcer,
              private readonly now: () => number = () => performance.now()) {
    runs.watched.watch(() => this.look());
  }

  get canAsk(): boolean {
    return this.announcer.permission() === 'granted' || this.announcer.permission() === 'default';
  }

  /** Called from a click: a browser asks its user then only. */
  async toggle(id: string): Promise<void> {
    const next = new Set(this.waited.value);
    if (next.delete(id)) {
      this.known.delete(id);
      this.waited.set(next);
      return;
    }
    const isGranted = this.announcer.permission() === 'granted' || await this.announcer.ask();
    if (!isGranted) return;
    this.known.set(id, {status: this.runs.find(id)?.status, lamps: null, looked: -Infinity, isLooking: false});
    this.waited.set(new Set([...this.waited.value, id]));
    this.look();
  }

  private look(): void {
    for (const [id, waited] of [...this.known]) {
      const summary = this.runs.find(id);
      if (!summary) continue;
      const hasEnded = waited.status === 'running' && summary.status !== 'running';
      waited.status = summary.status;
      if (!hasEnded) {
        void this.lookAtLamps(id, waited);
        continue;
      }
      this.announcer.tell(`${id} has ended`, endingText(summary), id);
      // A run that is resumed is waited for again if it is asked for again.
      const rest = new Set(this.waited.value);
      rest.delete(id);
      this.known.delete(id);
      this.waited.set(rest);
    }
  }

  private async lookAtLamps(id: string, waited: Waited): Promise<void> {
    if (waited.isLooking || this.now() - waited.looked < LAMPS_MS) return;
    waited.isLooking = true;
    waited.looked = this.now();
    try {
      const lit = (await this.source.lamps(id)).lamps.filter(({severity}) => GRAVE.has(severity));
      const before = waited.lamps;
      waited.lamps = new Set(lit.map(keyOf));
      const news = before === null || !this.known.has(id) ? [] : lit.filter((lamp) => !before.has(keyOf(lamp)));
      for (const lamp of news) this.announcer.tell(`${id}: ${lamp.title}`, lamp.step >= 0 ? `since step ${lamp.step}` : lamp.text.slice(0, 140), id);
    } catch {
      // Asked again with the next news of the run; the page itself says that the server is gone.
    } finally {
      waited.isLooking = false;
    }
  }
}
