// SPDX-License-Identifier: MIT
// Controls of all panels of a run: smoothing, axis of steps, zoom, and the slider over its steps.
import {useEffect} from 'preact/hooks';
import {formatStep} from '../base/format';
import {MAX_SMOOTHING} from '../base/smoothing';
import type {RunStore} from '../store/run_store';
import {useWatched} from '../widgets/use_watched';
import {play} from './play';
import type {RunViewProps} from './view_props';

export function Controls({app, run}: RunViewProps) {
  const settings = useWatched(app.settings.watched);
  const zoom = useWatched(run.zoom);
  useEffect(() => {
    const key = (event: KeyboardEvent) => {
      const isTyping = event.target instanceof HTMLElement && event.target.matches('input, textarea, select');
      if (event.key === '0' && !isTyping) run.zoom.set(null);
    };
    document.addEventListener('keydown', key);
    return () => document.removeEventListener('keydown', key);
  }, [run]);
  return (
    <div class="controls" role="group" aria-label="Controls of all panels">
      <label>Smoothing
        <input type="range" min="0" max={MAX_SMOOTHING} step="0.01" value={settings.smoothing}
          onInput={(event) => app.settings.change({smoothing: Number(event.currentTarget.value)})} />
        <output>{settings.smoothing.toFixed(2)}</output>
      </label>
      <label><input type="checkbox" checked={settings.logX}
        onChange={(event) => app.settings.setLogXEverywhere(event.currentTarget.checked)} /> Log steps</label>
      {zoom && <button type="button" onClick={() => run.zoom.set(null)}>
        Steps {formatStep(zoom.first)}–{formatStep(zoom.last)} ✕</button>}
      <StepSlider run={run} isLive={app.source.isLive} />
    </div>
  );
}

export function StepSlider({run, isLive}: {run: RunStore; isLive: boolean}) {
  const step = useWatched(run.step);
  useWatched(run.version);
  const isPlaying = useWatched(run.isPlaying);
  const summary = useWatched(run.summary);
  const last = Math.max(run.lastStep, 0);
  useEffect(() => () => run.isPlaying.set(false), [run]);

  const set = (next: number) => {
    run.isPlaying.set(false);
    run.step.set(next >= last ? null : Math.max(0, next));
  };
  const key = (event: KeyboardEvent) => {
    const at = step ?? last;
    const by = event.key === 'ArrowRight' || event.key === 'ArrowUp' ? 1 : event.key === 'ArrowLeft' || event.key === 'ArrowDown' ? -1 : 0;
    const steps = by === 0 ? [] : run.knownSteps();
    const far = event.key === 'PageUp' ? 1 : event.key === 'PageDown' ? -1 : 0;
    if (by > 0) set(steps.find((s) => s > at) ?? last);
    else if (by < 0) set(steps.filter((s) => s < at).pop() ?? 0);
    else if (far) set(Math.round(at + (far * last) / 10));
    else return;
    event.preventDefault();
  };
  return (
    <div class="slider">
      <button type="button" class="icon" aria-label={isPlaying ? 'Pause' : 'Play the run'} onClick={() => void play(run)}>{isPlaying ? '❚❚' : '▶'}</button>
      <label><span>Step</span>
        <input type="range" min="0" max={Math.max(1, last)} value={step ?? last} onKeyDown={key}
          aria-valuetext={step === null ? `last step, ${last}` : `step ${step}`}
          onInput={(event) => set(Number(event.currentTarget.value))} />
        <output>{formatStep(step ?? last)}</output>
      </label>
      <button type="button" class={`follow ${step === null ? 'on' : ''}`} aria-pressed={step === null} onClick={() => set(Infinity)}>
        {isLive && summary?.status === 'running' ? 'Follow live' : 'Last step'}</button>
    </div>
  );
}
