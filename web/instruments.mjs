// SPDX-License-Identifier: MIT
// An esbuild plugin: `import all from 'instruments'` is the default exports of all files in
// src/instruments, by name. So a panel is one file, listed nowhere. Names that begin with an
// underscore are left out.
import {readdirSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';

const folder = fileURLToPath(new URL('src/instruments', import.meta.url));

export const instruments = {
  name: 'instruments',
  setup(build) {
    build.onResolve({filter: /^instruments$/}, () => ({path: 'all', namespace: 'instruments'}));
    build.onLoad({filter: /.*/, namespace: 'instruments'}, () => {
      const files = readdirSync(folder)
        .filter((name) => /^[a-z0-9][a-z0-9_]*\.tsx?$/.test(name))
        .sort();
      const lines = files.map((name, i) => `import i${i} from ${JSON.stringify(join(folder, name))};`);
      lines.push(`export default [${files.map((_, i) => `i${i}`).join(', ')}];`);
      return {contents: lines.join('\n'), resolveDir: folder, watchDirs: [folder]};
    });
  },
};
