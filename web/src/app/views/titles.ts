// SPDX-License-Identifier: MIT
// Quantities by the names their panels have, or in plain words.
import instruments from 'instruments';

const WORDS: Record<string, string> = {grad: 'gradient', hess: 'Hessian', ev: 'eigenvalue', hist: 'histogram', max: 'largest',
  min: 'smallest', ggn: 'GGN', tic: 'TIC', gsnr: 'GSNR', cabs: 'CABS', valid: 'validation', train: 'training', ortho: 'orthogonal'};

/** quantity or quantity/field */
export function titleOf(name: string): string {
  const [quantity = '', field] = name.split('/');
  const words = quantity.split('_').map((word) => (Object.hasOwn(WORDS, word) ? WORDS[word] : word)).join(' ');
  const title = instruments.find((instrument) => instrument.id === quantity)?.title ?? words.charAt(0).toUpperCase() + words.slice(1);
  return field === undefined ? title : `${title}: ${field.replaceAll('_', ' ')}`;
}
