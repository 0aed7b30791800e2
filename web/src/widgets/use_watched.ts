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

function useSize(ref: RefObject<HTMLElement>, read: (element: HTMLElement) => number): number {
  const [size, setSize] = useState(0);
  useLayoutEffect(() => {
    const element = ref.current;
    if (!element) return undefined;
    setSize(Math.floor(read(element)));
    const observer = new ResizeObserver(() => setSize(Math.floor(read(element))));
    observer.observe(element);
    return () => observer.disconnect();
  }, [ref]);
  return size;
}

/** Width of the element in CSS pixels; 0 before it is known. */
export function useWidth(ref: RefObject<HTMLElement>): number {
  return useSize(ref, (element) => element.clientWidth);
}

/** Its height. */
export function useHeight(ref: RefObject<HTMLElement>): number {
  return useSize(ref, (element) => element.clientHeight);
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
