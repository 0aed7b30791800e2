// SPDX-License-Identifier: MIT
// A value that may come a frame late, so that what was clicked on is seen before much is drawn.
import {useEffect, useState} from 'preact/hooks';

/** The value itself, or where `isHeavy` the one of before until the next frame has been painted. */
export function useLater<Value>(value: Value, isHeavy: boolean): Value {
  const [later, setLater] = useState(value);
  useEffect(() => {
    let timer = 0;
    const frame = requestAnimationFrame(() => {
      // A timer runs after the paint, a frame's callback before it.
      timer = window.setTimeout(() => setLater(() => value));
    });
    return () => {
      cancelAnimationFrame(frame);
      clearTimeout(timer);
    };
  }, [value]);
  return isHeavy ? later : value;
}
