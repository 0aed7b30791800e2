// SPDX-License-Identifier: MIT
// A place of a view that its address names is scrolled to, focused and marked. Panels above it are still growing while they
// load, so it is held in view until they have come or the reader moves on by himself.
import type {RefObject} from 'preact';
import {useEffect} from 'preact/hooks';

/** How long a page may grow under its reader. */
const SETTLE_MS = 4000;
const OWN_WAYS = ['wheel', 'touchmove', 'pointerdown', 'keydown'] as const;

/** Marks the child whose data-panel or data-place is the name. */
export function useMarked(view: RefObject<HTMLElement>, name: string | undefined): void {
  useEffect(() => {
    const root = view.current;
    if (!root || name === undefined) return undefined;
    let marked: HTMLElement | null = null;
    const show = () => {
      const found = root.querySelector<HTMLElement>(`[data-panel="${CSS.escape(name)}"], [data-place="${CSS.escape(name)}"]`);
      if (!found) return;
      if (found !== marked) {
        marked?.classList.remove('marked');
        marked = found;
        marked.classList.add('marked');
        marked.tabIndex = -1;
        marked.focus({preventScroll: true});
      }
      marked.scrollIntoView({block: 'center'});
    };
    const observer = new ResizeObserver(show);
    const changes = new MutationObserver(show);
    const stop = () => {
      observer.disconnect();
      changes.disconnect();
      clearTimeout(timer);
      OWN_WAYS.forEach((way) => window.removeEventListener(way, stop, true));
    };
    const timer = setTimeout(stop, SETTLE_MS);
    OWN_WAYS.forEach((way) => window.addEventListener(way, stop, true));
    observer.observe(root);
    changes.observe(root, {childList: true, subtree: true});
    show();
    return () => {
      stop();
      marked?.classList.remove('marked');
    };
  }, [name]);
}
