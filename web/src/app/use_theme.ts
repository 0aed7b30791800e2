// SPDX-License-Identifier: MIT
// The theme in use: the user's choice, or what the system prefers.
import {useEffect, useLayoutEffect, useState} from 'preact/hooks';
import type {Settings} from '../store/settings';
import {darkPalette, lightPalette} from '../widgets/palette';
import type {Palette} from '../widgets/surface';

export function useTheme(choice: Settings['theme']): Palette {
  const [prefersDark, setPrefersDark] = useState(() => matchMedia('(prefers-color-scheme: dark)').matches);
  useEffect(() => {
    const query = matchMedia('(prefers-color-scheme: dark)');
    const change = () => setPrefersDark(query.matches);
    query.addEventListener('change', change);
    return () => query.removeEventListener('change', change);
  }, []);
  const isDark = choice === 'dark' || (choice === 'auto' && prefersDark);
  useLayoutEffect(() => {
    document.documentElement.dataset['theme'] = isDark ? 'dark' : 'light';
  }, [isDark]);
  return isDark ? darkPalette : lightPalette;
}
