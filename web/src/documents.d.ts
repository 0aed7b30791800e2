// SPDX-License-Identifier: MIT
// Pages of ../docs as text (documents.mjs).
declare module 'documents/*' {
  const text: string;
  export default text;
}
