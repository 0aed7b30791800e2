// SPDX-License-Identifier: MIT
// Components that follow a watched value, and the sizes and visibility of elements.
import {useEffect, useLayoutEffect, useReducer, useState} from 'preact/hooks';
import type {RefObject} from 'preact';
import type {Watched} from '../base/watched';

/** The value; the component is rendered again when it changes. */
export function useWatched<T>(watched: Watched<T>): T {
  const [, again] = useReducer((n: number) => n + 1, 0);
  useLayoutEffect(() => watched.watch(() => again(undefined)), [watched]);
  return watched.value;
}

/** Width of the element in CSS pixels; 0 before it is known. */
export function useWidth(ref: RefObject<HTMLElement>): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = ref.current;
    if (!element) return undefined;
    setWidth(Math.floor(element.clientWidth));
    const observer = new ResizeObserver(() => setWidth(Math.floor(element.clientWidth)));
    observer.observe(element);
    return () => observer.disconnect();
  }, [ref]);
  return width;
}

/** Whether the element is on screen or close to it, and the page not hidden: else drawing can wait. */
export function useOnScreen(ref: RefObject<HTMLElement>): boolean {
  const [isNear, setIsNear] = useState(false);
  const [isHidden, setIsHidden] = useState(document.hidden);
  useEffect(() => {
    const element = ref.current;
    if (!element) return undefined;
    const observer = new IntersectionObserver(
      (entries) => setIsNear(entries.some((entry) => entry.isIntersecting)), {rootMargin: '300px'});
    observer.observe(element);
    const hidden = () => setIsHidden(document.hidden);
    document.addEventListener('visibilitychange', hidden);
    // On paper everything is on screen.
    const print = () => setIsNear(true);
    window.addEventListener('beforeprint', print);
    return () => {
      observer.disconnect();
      window.removeEventListener('beforeprint', print);
      document.removeEventListener('visibilitychange', hidden);
    };
  }, [ref]);
  return isNear && !isHidden;
}
