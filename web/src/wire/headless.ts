// SPDX-License-Identifier: MIT
// Quantities that no panel shows, each with the reason: {name: 'why'}.
export const HEADLESS: Readonly<Record<string, string>> = {};
