// SPDX-License-Identifier: MIT
// Made by the bundler of the files in src/instruments; see instruments.mjs.
declare module 'instruments' {
  const all: import('./app/instrument').Instrument[];
  export default all;
}
