// SPDX-License-Identifier: MIT
// The list of keys, and the button that shows it; '?' does too.
import {useEffect, useRef} from 'preact/hooks';

const KEYS: readonly [string, string][] = [
  ['Tab', 'next control; legends, menus and the slider are all reachable'],
  ['← →', 'on the slider: one tracked step back or forth'],
  ['Page up, Page down', 'on the slider: a tenth of the run'],
  ['Home, End', 'on the slider: first step; end follows the run'],
  ['Space', 'play or pause, on the play button'],
  ['Drag', 'on a chart: zoom all charts to these steps'],
  ['Double click', 'on a chart: all steps again'],
  ['Click', 'on a chart: slider to this step'],
  ['Shift + click', 'on a legend: this line alone'],
  ['0', 'all steps again'],
  ['Arrow keys', 'on the handle of a compared panel: move it; on its corner: resize it'],
  ['/', 'on the list of runs: to the filter'],
  ['Escape', 'closes what is open'],
  ['?', 'this list'],
];

export function KeysHelp() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const key = (event: KeyboardEvent) => {
      const isTyping = event.target instanceof HTMLElement && event.target.matches('input[type=text], input[type=search], textarea');
      if (event.key !== '?' || isTyping) return;
      if (dialog.current?.open) dialog.current.close();
      else dialog.current?.showModal();
    };
    document.addEventListener('keydown', key);
    return () => document.removeEventListener('keydown', key);
  }, []);
  return (
    <>
      <button type="button" class="round" aria-label="Keys" title="Keys" onClick={() => dialog.current?.showModal()}>?</button>
      <dialog ref={dialog} class="keys" aria-label="Keys">
        <h2>Keys</h2>
        <dl>{KEYS.map(([key, what]) => <div key={key}><dt><kbd>{key}</kbd></dt><dd>{what}</dd></div>)}</dl>
        <button type="button" onClick={() => dialog.current?.close()}>Close</button>
      </dialog>
    </>
  );
}
