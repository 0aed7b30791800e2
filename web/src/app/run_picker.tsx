// SPDX-License-Identifier: MIT
// Which run is looked at: a list to choose from, or of many runs a field to search in.
import type {RunSummary} from '../wire/types';

interface Props {
  runs: readonly RunSummary[];
  /** Empty if all of them are. */
  current: string;
  go(id: string): void;
}

/** More than this nobody looks through. */
const FEW = 40;

/** The run that is meant by what was typed: its name, or else the first that contains it. */
export function foundRun(ids: readonly string[], typed: string): string | undefined {
  const text = typed.trim().toLowerCase();
  return ids.find((id) => id === typed) ?? (text === '' ? undefined : ids.find((id) => id.toLowerCase().includes(text)));
}

function RunSearch({runs, current, go}: Props) {
  const ids = runs.map(({id}) => id);
  return (
    <form class="run-search" role="search" onSubmit={(event) => {
      event.preventDefault();
      const input = event.currentTarget.querySelector('input');
      const id = foundRun(ids, input?.value ?? '');
      if (id === undefined) return;
      input?.blur();
      go(id);
    }}>
      <input type="search" class="runs" list="run-names" aria-label="Run" key={current} defaultValue={current}
        placeholder={`Search ${runs.length} runs`}
        // The browser offers what contains the text: none, so that all are offered.
        onFocus={(event) => { event.currentTarget.value = ''; }}
        onBlur={(event) => { event.currentTarget.value = current; }}
        onInput={(event) => {
          const {value} = event.currentTarget;
          // Chosen from the list; what is typed counts with Enter, or run_7 would be taken for run_77.
          const kind = (event as {inputType?: string}).inputType;
          if ((kind && kind !== 'insertReplacementText') || !ids.includes(value)) return;
          event.currentTarget.blur();
          go(value);
        }} />
      <datalist id="run-names">{ids.map((id) => <option key={id} value={id} />)}</datalist>
    </form>
  );
}

export function RunPicker({runs, current, go}: Props) {
  if (runs.length > FEW) return <RunSearch runs={runs} current={current} go={go} />;
  return (
    <select class="runs" aria-label="Run" value={current} onChange={(event) => go(event.currentTarget.value)}>
      <option value="">All runs ({runs.length})</option>
      {current && !runs.some(({id}) => id === current) && <option value={current}>{current}</option>}
      {runs.map(({id, status}) => <option key={id} value={id}>{id}{status === 'running' ? ' ●' : ''}</option>)}
    </select>
  );
}
