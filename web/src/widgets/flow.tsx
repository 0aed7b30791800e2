// SPDX-License-Identifier: MIT
// Children in rows that leave no holes: as many in each as fit, all rows about as full as the
// others, and each row as wide as the place. Children that are hidden do not count.
import type {ComponentChildren, JSX, RefObject} from 'preact';
import {useLayoutEffect, useRef, useState} from 'preact/hooks';
import {useWidth} from './use_watched';

/** Pixels between two children; the style sheet has the same number. */
export const FLOW_GAP = 12;

/** How many stand in a row, if `count` of them need `least` pixels each: no row has two fewer than another. */
export function perRow(count: number, width: number, least: number): number {
  const most = Math.max(1, Math.floor((width + FLOW_GAP) / (least + FLOW_GAP)));
  return Math.max(1, Math.ceil(count / Math.ceil(count / most)) || 1);
}

export interface FlowProps {
  class: string;
  /** Pixels that a child needs. */
  least: number;
  /** 'ul' for a list; 'div' unless said. */
  tag?: 'div' | 'ul';
  /** Told how many children are seen. */
  onCount?(count: number): void;
  children: ComponentChildren;
}

export function Flow({class: name, least, tag: Tag = 'div', onCount, children}: FlowProps) {
  const place = useRef<HTMLElement>(null);
  const width = useWidth(place);
  const [count, setCount] = useState(0);
  useLayoutEffect(() => {
    const element = place.current;
    if (!element) return undefined;
    // Panels that find nothing to show, or find something later, come and go by themselves.
    const look = () => {
      const all = [...element.children] as HTMLElement[];
      for (const child of all) observer.observe(child, {attributes: true, attributeFilter: ['hidden']});
      setCount(all.filter((child) => !child.hidden).length);
    };
    const observer = new MutationObserver(look);
    observer.observe(element, {childList: true});
    look();
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => onCount?.(count), [count]);
  const style = {'--columns': perRow(count, width, least)} as JSX.CSSProperties;
  return <Tag ref={place as RefObject<never>} class={`flow ${name}`} style={style}>{children}</Tag>;
}
