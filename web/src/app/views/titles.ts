// SPDX-License-Identifier: MIT
// Quantities by the names their panels have.
import instruments from 'instruments';

/** quantity or quantity/field */
export function titleOf(name: string): string {
  const [quantity = '', field] = name.split('/');
  const words = quantity.replaceAll('_', ' ');
  const title = instruments.find((instrument) => instrument.id === quantity)?.title ?? words.charAt(0).toUpperCase() + words.slice(1);
  return field === undefined ? title : `${title}: ${field.replaceAll('_', ' ')}`;
}
